#include "ir/tile_verifier.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ir/tile_printer.h"
#include "ir/tile_verifier_ops.h"

namespace tenon::ir {
namespace {

constexpr int32_t kMaxWarps = 32;
constexpr size_t kMaxViolations = 50;

bool is_power(int64_t n) { return n > 0 && std::has_single_bit(static_cast<uint64_t>(n)); }

class ModuleVerifier {
 public:
  explicit ModuleVerifier(const TileModule& module)
      : module_(module),
        visible_(module.values.size(), false),
        defined_(module.values.size(), false),
        bound_(module.axes.size(), false),
        axis_used_(module.axes.size(), false),
        region_used_(module.regions.size(), false) {}

  std::vector<Violation> verify() {
    where_ = "@" + module_.name;
    if (module_.index.overflowed()) report("the index pool has overflowed");
    symbols();
    tensors();
    axes();
    homes();
    buffers();
    std::unordered_set<std::string_view> names;
    for (const TileKernel& kernel : module_.kernels) {
      if (kernel.name.empty())
        report("a kernel has no name");
      else if (!names.insert(kernel.name).second)
        report(fmt::format("two kernels are called {}", kernel.name));
    }
    for (const TileKernel& kernel : module_.kernels) verify_kernel(kernel);
    return std::move(violations_);
  }

 private:
  // A broken module has a few mistakes or very many; the text of their places takes time.
  void report(std::string message) {
    if (violations_.size() < kMaxViolations)
      violations_.push_back({at_.valid() ? op_place() : where_, std::move(message), span_});
  }

  std::string op_place() const {
    std::string text = print_op(module_, at_);
    return fmt::format("{}: {}", where_, text.substr(0, text.find('\n')));
  }

  void symbols_only(IndexId id, std::string_view what) {
    std::string error = tile_index_error(module_, id, nullptr, nullptr);
    if (!error.empty()) report(fmt::format("{} {}", what, error));
  }

  void symbols() {
    std::unordered_set<std::string_view> seen;
    for (const Symbol& symbol : module_.symbols) {
      if (symbol.name.empty())
        report("a symbol has no name");
      else if (!seen.insert(symbol.name).second)
        report(fmt::format("two symbols are called {}", symbol.name));
    }
  }

  void tensors() {
    for (uint32_t i = 0; i < module_.tensors.size(); ++i) {
      const Tensor& tensor = module_.tensors[TensorId(i)];
      for (IndexId extent : tensor.shape) symbols_only(extent, fmt::format("the shape of %{}", tensor.name));
      if (!is_power(module_.tensor_alignment[TensorId(i)]))
        report(fmt::format("the alignment of %{} is no power of two", tensor.name));
    }
    for (auto [input, output] : module_.same_memory) {
      if (input.index() >= module_.tensors.size() || output.index() >= module_.tensors.size()) {
        report("the same memory has a tensor that there is not");
        continue;
      }
      const Tensor& before = module_.tensors[input];
      const Tensor& after = module_.tensors[output];
      if (before.element != after.element || before.shape != after.shape)
        report(fmt::format("%{} and %{} are the same memory and differ in type", before.name, after.name));
    }
    for (auto [expression, by] : module_.divisible) {
      symbols_only(expression, "what is divisible");
      if (!is_power(by)) report(fmt::format("the divisor {} is no power of two", by));
    }
    for (auto [expression, least] : module_.bounded) symbols_only(expression, "what is bounded");
  }

  void axes() {
    for (const TileAxis& axis : module_.axes) {
      if (axis.kind == TileAxis::Kind::kTile && axis.extent < 1)
        report(fmt::format("axis {} has no positions", axis.name));
      if (axis.kind == TileAxis::Kind::kDomain || axis.kind == TileAxis::Kind::kGrid)
        symbols_only(axis.count, fmt::format("the extent of axis {}", axis.name));
    }
  }

  void homes() {
    std::unordered_set<uint32_t> seen;
    for (const Layout& home : module_.homes) {
      std::string error = layout_error(module_, home, home.warp_count());
      if (!error.empty()) report(fmt::format("a home {}", error));
      for (AxisId axis : home.axes())
        if (!seen.insert(axis.index()).second) report("two homes have an axis in common");
    }
  }

  void buffers() {
    bool placed = false;
    for (const Buffer& buffer : module_.buffers) placed = placed || buffer.offset >= 0;
    for (const Buffer& buffer : module_.buffers) {
      auto complain = [&](std::string_view what) { report(fmt::format("buffer %{} {}", buffer.name, what)); };
      if (buffer.strides.size() != buffer.shape.size() || buffer.shape.empty()) {
        complain("has not a stride for each dimension");
        continue;
      }
      int64_t last = 0;
      bool fits = true;
      for (size_t i = 0; i < buffer.shape.size(); ++i) {
        int64_t part = 0;
        fits = fits && buffer.shape[i] > 0 && buffer.strides[i] >= 0 &&
               !__builtin_mul_overflow(buffer.shape[i] - 1, buffer.strides[i], &part) &&
               !__builtin_add_overflow(last, part, &last) && last < int64_t{1} << 30;
      }
      if (!fits) {
        complain("has an extent or stride that makes no sense");
        continue;
      }
      if (buffer.swizzle_bits != 0 &&
          (buffer.swizzle_from < buffer.swizzle_to + buffer.swizzle_bits || buffer.swizzle_from > 30))
        complain("has a swizzle that does not move bits to lower ones");
      if (!placed) continue;
      if (buffer.offset < 0) {
        complain("has no place, but others have");
      } else if (buffer.offset + buffer.byte_count() > module_.shared_bytes) {
        complain("lies beyond the shared memory");
      } else if (buffer.offset % byte_size(buffer.element) != 0) {
        complain("is not aligned to its elements");
      }
    }
  }

  // ---- kernels ----

  void verify_kernel(const TileKernel& kernel) {
    where_ = "@" + kernel.name;
    if (!is_power(kernel.warps) || kernel.warps > kMaxWarps)
      report(fmt::format("has {} warps, not a power of two up to {}", kernel.warps, kMaxWarps));
    std::vector<AxisId> bound;
    for (AxisId axis : kernel.grid) {
      if (axis.index() >= module_.axes.size() || module_.axes[axis].kind != TileAxis::Kind::kGrid) {
        report("has a grid axis that is none");
        continue;
      }
      take_axis(axis);
      bound_[axis.index()] = true;
      bound.push_back(axis);
    }
    layouts_.reset();
    if (enter(kernel.body)) {
      const Region& region = module_.regions[kernel.body];
      if (!region.arguments.empty()) report("its region has arguments");
      if (!region.ops.empty() && !module_.ops[region.ops.back()].operands.empty())
        report("its region yields values");
      verify_region(kernel, kernel.body);
    }
    for (AxisId axis : bound) bound_[axis.index()] = false;
    where_ = "@" + module_.name;
  }

  void take_axis(AxisId axis) {
    if (axis_used_[axis.index()])
      report(fmt::format("axis {} belongs to something else too", module_.axes[axis].name));
    axis_used_[axis.index()] = true;
  }

  // Whether the region is there, used once, and ends as it should.
  bool enter(RegionId id) {
    if (!id.valid() || id.index() >= module_.regions.size()) return report("has no region"), false;
    if (region_used_[id.index()]) return report("shares its region"), false;
    region_used_[id.index()] = true;
    const Region& region = module_.regions[id];
    for (size_t i = 0; i < region.ops.size(); ++i) {
      TileOpId op = region.ops[i];
      if (!op.valid() || op.index() >= module_.ops.size())
        return report("has an operation that there is not"), false;
      bool last = i + 1 == region.ops.size();
      if ((module_.ops[op].op == Opcode::kYield) != last)
        return report("its region does not end with its one yield"), false;
    }
    if (region.ops.empty()) report("its region does not end with its one yield");
    return !region.ops.empty();
  }

  void define(TileValueId id, TileOpId by, std::vector<TileValueId>& scope) {
    if (id.index() >= module_.values.size()) return;
    if (defined_[id.index()]) report(fmt::format("defines %{} again", id.index()));
    if (module_.values[id].definition != by)
      report(fmt::format("%{} says that something else defines it", id.index()));
    defined_[id.index()] = true;
    visible_[id.index()] = true;
    scope.push_back(id);
    one_stage(module_.values[id].type, id);
  }

  // Layouts are there for all tiles of a kernel or for none.
  void one_stage(const TileType& type, TileValueId id) {
    if (type.axes.empty()) {
      if (type.layout) report(fmt::format("%{} has a layout and no axes", id.index()));
      return;
    }
    if (layouts_.value_or(type.layout.has_value()) != type.layout.has_value())
      report(fmt::format("%{} {} a layout, unlike tiles before it", id.index(),
                         type.layout ? "has" : "has not"));
    layouts_ = type.layout.has_value();
  }

  void verify_region(const TileKernel& kernel, RegionId id) {
    std::vector<TileValueId> scope;
    for (TileValueId argument : module_.regions[id].arguments) define(argument, {}, scope);
    TileOpId outer = at_;
    for (TileOpId op_id : module_.regions[id].ops) {
      at_ = op_id;
      const TileOp& op = module_.ops[op_id];
      std::span<const Span> own_places = places(module_, op);
      span_ = own_places.empty() ? Span() : own_places[0];
      verify_operation(kernel, op);
      for (TileValueId result : op.results) define(result, op_id, scope);
    }
    at_ = outer;
    for (TileValueId value : scope) visible_[value.index()] = false;
    span_ = {};
  }

  void verify_operation(const TileKernel& kernel, const TileOp& op) {
    TileOpContext context{module_, kernel, {}, {}, {}};
    context.visible = [&](TileValueId value) {
      return value.index() < visible_.size() && visible_[value.index()];
    };
    context.bound = [&](AxisId axis) { return bool{bound_[axis.index()]}; };
    size_t before = violations_.size();
    context.report = [&](std::string message) { report(std::move(message)); };
    verify_tile_op(context, op);
    if (op.op != Opcode::kLoop || violations_.size() != before) return;
    take_axis(op.axis);
    if (!enter(op.regions[0])) return;
    bound_[op.axis.index()] = true;
    verify_region(kernel, op.regions[0]);
    bound_[op.axis.index()] = false;
  }

  const TileModule& module_;
  std::vector<Violation> violations_;
  // The module or kernel, and the operation in it if it is about one.
  std::string where_;
  TileOpId at_;
  Span span_;
  // By value: whether it may be used at this place, and whether it has been defined at all.
  std::vector<bool> visible_, defined_;
  // By axis: whether it has a value at this place, and whether something owns it.
  std::vector<bool> bound_, axis_used_;
  std::vector<bool> region_used_;
  // Whether tiles of the kernel at hand have layouts; empty before the first.
  std::optional<bool> layouts_;
};

}  // namespace

std::vector<Violation> verify(const TileModule& module) { return ModuleVerifier(module).verify(); }

}  // namespace tenon::ir
