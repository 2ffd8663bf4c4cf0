#include "ir/tile_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "ir/tile_block.h"
#include "support/check.h"

namespace tenon::ir {
namespace {

class ModuleInterpreter {
 public:
  ModuleInterpreter(const TileModule& module, std::span<const int64_t> symbols,
                    std::span<Array* const> arrays, const TileInterpreterOptions& options)
      : module_(module),
        symbols_(symbols),
        arrays_(arrays.begin(), arrays.end()),
        options_(options),
        elements_left_(options.max_elements) {}

  Result<void> run() {
    TENON_CHECK(symbols_.size() == module_.symbols.size() && arrays_.size() == module_.tensors.size(),
                "not one value for each symbol and one array for each tensor");
    memory_.resize(arrays_.size());
    for (const TileKernel& kernel : module_.kernels)
      for (TileOpId id : reachable_ops(module_, kernel))
        if (TensorId tensor = module_.ops[id].tensor; tensor.valid()) TENON_TRY(bind(tensor));
    for (const TileKernel& kernel : module_.kernels) TENON_TRY(launch(kernel));
    return {};
  }

 private:
  std::optional<int64_t> value_of(IndexId id) const {
    return module_.index.evaluate(id, [&](IndexId atom) -> std::optional<int64_t> {
      const IndexNode& node = module_.index[atom];
      if (node.kind != IndexKind::kSymbol) return std::nullopt;
      return symbols_[node.reference];
    });
  }

  Result<void> bind(TensorId id) {
    AccessedMemory& memory = memory_[id.index()];
    if (memory.data != nullptr) return {};
    const Tensor& tensor = module_.tensors[id];
    std::vector<int64_t> shape;
    for (IndexId extent : tensor.shape) {
      auto value = value_of(extent);
      if (!value)
        return fail(ErrorKind::kRefused, fmt::format("the shape of {} leaves 64 bits", tensor.name));
      shape.push_back(*value);
    }
    Array*& array = arrays_[id.index()];
    if (array == nullptr) {
      TENON_TRY(allocate(tensor, shape));
      array = workspace_.back().get();
    }
    if (array->shape() != shape || byte_size(array->type()) != byte_size(tensor.element))
      return fail(ErrorKind::kRefused, fmt::format("the array of {} has the shape {}, not {}", tensor.name,
                                                   shape_text(array->shape()), shape_text(shape)));
    memory.data = array->bytes().data();
    memory.size = array->bytes().size();
    memory.strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) memory.strides[d - 1] = memory.strides[d] * shape[d];
    memory.extents = std::move(shape);
    return {};
  }

  Result<void> allocate(const Tensor& tensor, const std::vector<int64_t>& shape) {
    if (tensor.role != Tensor::Role::kLocal)
      return fail(ErrorKind::kRefused, fmt::format("{} has no array", tensor.name));
    TENON_TRY_ASSIGN(int64_t bytes, checked_byte_count(tensor.element, shape));
    TENON_TRY(take_bytes(bytes));
    TENON_TRY_ASSIGN(Array array, Array::zeros(tensor.element, shape));
    std::fill(array.bytes().begin(), array.bytes().end(), std::byte{0xFF});
    workspace_.push_back(std::make_unique<Array>(std::move(array)));
    return {};
  }

  Result<void> take_bytes(int64_t bytes) {
    if (bytes > options_.max_bytes - bytes_)
      return fail(ErrorKind::kRefused,
                  fmt::format("the interpreter would need more than {} bytes", options_.max_bytes));
    bytes_ += bytes;
    return {};
  }

  Result<void> launch(const TileKernel& kernel) {
    int64_t blocks = 1;
    for (AxisId axis : kernel.grid) {
      auto count = value_of(module_.axes[axis].count);
      if (!count || (*count > 0 && __builtin_mul_overflow(blocks, *count, &blocks)))
        return fail(ErrorKind::kRefused, fmt::format("the grid of {} leaves 64 bits", kernel.name));
      if (*count <= 0) return {};
    }
    unsigned most =
        options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    auto threads = static_cast<int64_t>(std::min<int64_t>(most, blocks));
    int64_t of_block = BlockRunner::byte_count(module_, kernel);
    if (of_block > options_.max_bytes / threads) threads = 1;
    int64_t before = bytes_;
    TENON_TRY(take_bytes(of_block));
    bytes_ = before;
    return run_blocks(kernel, blocks, threads);
  }

  // Blocks are taken in ascending order, and all before the first that fails are run, so that the error is
  // the same however many threads there are.
  Result<void> run_blocks(const TileKernel& kernel, int64_t blocks, int64_t threads) {
    TileLaunch launch{module_, kernel, symbols_, options_.device, memory_, elements_left_};
    std::atomic<int64_t> next = 0;
    std::atomic<int64_t> failed = INT64_MAX;
    std::mutex mutex;
    Error first;
    auto work = [&] {
      BlockRunner runner(launch);
      for (int64_t block; (block = next.fetch_add(1)) < std::min(blocks, failed.load());) {
        auto error = runner.run(block);
        if (!error) continue;
        std::lock_guard lock(mutex);
        if (block >= failed.load()) continue;
        failed = block;
        first = *std::move(error);
      }
    };
    std::vector<std::thread> helpers;
    for (int64_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failed.load() != INT64_MAX) return std::unexpected(std::move(first));
    return {};
  }

  const TileModule& module_;
  std::span<const int64_t> symbols_;
  std::vector<Array*> arrays_;
  const TileInterpreterOptions& options_;
  std::vector<std::unique_ptr<Array>> workspace_;
  std::vector<AccessedMemory> memory_;
  std::atomic<int64_t> elements_left_;
  int64_t bytes_ = 0;
};

}  // namespace

Result<void> interpret(const TileModule& module, std::span<const int64_t> symbols,
                       std::span<Array* const> tensors, const TileInterpreterOptions& options) {
  return ModuleInterpreter(module, symbols, tensors, options).run();
}

}  // namespace tenon::ir
