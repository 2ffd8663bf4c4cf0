#include "ir/tile_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "ir/tile_printer.h"
#include "support/check.h"

namespace tenon::ir {
namespace {

constexpr std::byte kUnwritten{0xFF};
// Several times the elements that shared memory has.
constexpr size_t kMostUnderWay = size_t{1} << 21;

size_t width_of(const TileModule& module, TileValueId value) {
  return byte_size(module.values[value].type.element);
}

std::vector<TileValueId> reachable_values(const TileModule& module, const TileKernel& kernel) {
  std::vector<TileValueId> values;
  for (TileOpId id : reachable_ops(module, kernel)) {
    const TileOp& op = module.ops[id];
    values.insert(values.end(), op.results.begin(), op.results.end());
    for (RegionId region : op.regions)
      values.insert(values.end(), module.regions[region].arguments.begin(),
                    module.regions[region].arguments.end());
  }
  return values;
}

// The positions of a store or copy: those of its operands, and of the tile axes that its subscripts add.
std::vector<AxisId> access_axes(const TileModule& module, const TileOp& op) {
  std::vector<AxisId> axes;
  auto add = [&](const AxisList& more) { axes.insert(axes.end(), more.begin(), more.end()); };
  for (TileValueId operand : op.operands) add(module.values[operand].type.axes);
  for (IndexId subscript : op.subscripts) {
    module.index.for_each_atom(subscript, [&](IndexId atom) {
      const IndexNode& node = module.index[atom];
      if (node.kind == IndexKind::kAxis && module.axes[AxisId(node.reference)].kind == TileAxis::Kind::kTile)
        axes.push_back(AxisId(node.reference));
      if (node.kind == IndexKind::kValue) add(module.values[TileValueId(node.reference)].type.axes);
    });
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

}  // namespace

int64_t BlockRunner::byte_count(const TileModule& module, const TileKernel& kernel) {
  // Most operations keep their operands once more at the result's positions.
  constexpr int64_t kCopies = 4;
  int64_t bytes = module.shared_bytes;
  for (TileValueId value : reachable_values(module, kernel)) {
    int64_t one = 0;
    TileShape shape(module, module.values[value].type.axes);
    if (__builtin_mul_overflow(shape.count(), int64_t{8} * kCopies, &one) ||
        __builtin_add_overflow(bytes, one, &bytes))
      return INT64_MAX;
  }
  for (const Buffer& buffer : module.buffers) bytes += buffer.byte_count();
  return bytes;
}

BlockRunner::BlockRunner(const TileLaunch& launch)
    : launch_(launch),
      module_(launch.module),
      counters_(launch.module.axes.size(), 0),
      context_{launch.module, launch.symbols, counters_,
               [this](TileValueId value) { return reinterpret_cast<const int64_t*>(data(value)); }},
      values_(launch.module.values.size()) {
  for (TileValueId value : reachable_values(module_, launch.kernel))
    values_[value.index()].resize(static_cast<size_t>(shape_of(value).count()) * width_of(module_, value));
  size_t bytes = static_cast<size_t>(module_.shared_bytes);
  for (const Buffer& buffer : module_.buffers)
    if (buffer.offset < 0) bytes += static_cast<size_t>(buffer.byte_count() + 15) / 16 * 16;
  shared_.resize(bytes);
  size_t next = static_cast<size_t>(module_.shared_bytes);
  for (const Buffer& buffer : module_.buffers) {
    auto size = static_cast<size_t>(buffer.byte_count());
    size_t offset = buffer.offset >= 0 ? static_cast<size_t>(buffer.offset) : next;
    if (buffer.offset < 0) next += (size + 15) / 16 * 16;
    buffers_.push_back({shared_.data() + offset, size, buffer.shape, buffer.strides, &buffer});
  }
  for (TileOpId id : reachable_ops(module_, launch.kernel)) prepare(id);
}

TileShape BlockRunner::shape_of(TileValueId value) const {
  return {module_, module_.values[value].type.axes};
}

BlockRunner::Operand BlockRunner::operand(TileValueId value, const TileShape& at) const {
  TileShape own = shape_of(value);
  Operand operand{value, module_.values[value].type.element, own.strides_in(at), own.axes() == at.axes(), {}};
  if (!operand.whole) operand.expanded.resize(static_cast<size_t>(at.count()) * byte_size(operand.type));
  return operand;
}

const std::byte* BlockRunner::at_shape(Operand& operand, const TileShape& shape) {
  if (operand.whole) return data(operand.value);
  expand(data(operand.value), operand.strides, shape, byte_size(operand.type), operand.expanded.data());
  return operand.expanded.data();
}

void BlockRunner::prepare(TileOpId id) {
  const TileOp& op = module_.ops[id];
  Plan& plan = plans_[id];
  if (!op.results.empty()) plan.shape = shape_of(op.results[0]);
  switch (op.op) {
    case Opcode::kConst: {
      Bytes& value = values_[op.results[0].index()];
      size_t width = width_of(module_, op.results[0]);
      for (size_t i = 0; i < value.size(); i += width) std::memcpy(value.data() + i, &op.bits, width);
      return;
    }
    case Opcode::kIndex:
      plan.index = std::make_unique<TileIndex>(context_, plan.shape, std::vector{op.index});
      return;
    case Opcode::kTileReduce:
      plan.reduction = std::make_unique<TileReduction>(module_, op, launch_.device);
      return;
    case Opcode::kMma:
      return prepare_mma(op, plan);
    case Opcode::kLoop: {
      plan.index =
          std::make_unique<TileIndex>(context_, TileShape(), std::vector{module_.axes[op.axis].count});
      // The initial values, then the yielded ones, at their arguments' positions.
      const Region& region = module_.regions[op.regions[0]];
      for (size_t i = 0; i < op.operands.size(); ++i)
        plan.operands.push_back(operand(op.operands[i], shape_of(region.arguments[i])));
      const TileOp& yield = module_.ops[region.ops.back()];
      for (size_t i = 0; i < yield.operands.size(); ++i)
        plan.operands.push_back(operand(yield.operands[i], shape_of(region.arguments[i])));
      return;
    }
    case Opcode::kYield:
    case Opcode::kBarrier:
    case Opcode::kCopyCommit:
    case Opcode::kCopyWait:
      return;
    default:
      break;
  }
  bool copy = op.op == Opcode::kCopyAsync;
  if (op.op == Opcode::kStore || copy) plan.shape = TileShape(module_, access_axes(module_, op));
  if (copy) plan.target = std::make_unique<TileAccess>(context_, plan.shape, op.target_subscripts);
  if (op.op == Opcode::kLoad || op.op == Opcode::kStore || copy)
    plan.access = std::make_unique<TileAccess>(context_, plan.shape, op.subscripts);
  for (TileValueId value : op.operands) plan.operands.push_back(operand(value, plan.shape));
}

// Axes of both factors that the sum has not are summed over, in ascending order.
void BlockRunner::prepare_mma(const TileOp& op, Plan& plan) {
  for (TileValueId value : op.operands) plan.operands.push_back(operand(value, plan.shape));
  TileShape a = shape_of(op.operands[0]);
  TileShape b = shape_of(op.operands[1]);
  std::vector<AxisId> summed;
  for (AxisId axis : a.axes())
    if (std::find(plan.shape.axes().begin(), plan.shape.axes().end(), axis) == plan.shape.axes().end())
      summed.push_back(axis);
  TileShape along(module_, summed);
  std::vector<int64_t> in_a = a.strides_in(along);
  std::vector<int64_t> in_b = b.strides_in(along);
  for (int64_t term = 0; term < along.count(); ++term) {
    int64_t rest = term;
    std::pair<int64_t, int64_t> offsets{0, 0};
    for (size_t d = along.rank(); d-- > 0;) {
      int64_t position = rest % along.extents()[d];
      rest /= along.extents()[d];
      offsets.first += position * in_a[d];
      offsets.second += position * in_b[d];
    }
    plan.terms.push_back(offsets);
  }
  size_t width = width_of(module_, op.results[0]);
  plan.factors[0].resize(static_cast<size_t>(a.count()) * width);
  plan.factors[1].resize(static_cast<size_t>(b.count()) * width);
  plan.product.resize(static_cast<size_t>(plan.shape.count()) * width);
  for (size_t i = 0; i < 2; ++i) {
    plan.operands[i].whole = false;
    plan.operands[i].expanded.resize(plan.product.size());
  }
}

// ---- a block ----

std::optional<Error> BlockRunner::run(int64_t block) {
  block_ = block;
  error_.reset();
  std::fill(shared_.begin(), shared_.end(), kUnwritten);
  int64_t rest = block;
  for (AxisId axis : launch_.kernel.grid) {
    auto count =
        module_.index.evaluate(module_.axes[axis].count, [&](IndexId atom) -> std::optional<int64_t> {
          return launch_.symbols[module_.index[atom].reference];
        });
    counters_[axis.index()] = rest % *count;
    rest /= *count;
  }
  copies_.assign(1, {});
  under_way_ = 0;
  bool done = run_region(launch_.kernel.body);
  bool arrived = copies_.size() == 1 && copies_.back().empty();
  if (done && !arrived)
    error_ = Error{ErrorKind::kDevice,
                   fmt::format("{}, {}: ends while copies are under way", launch_.kernel.name, block_text())};
  return std::exchange(error_, std::nullopt);
}

bool BlockRunner::run_region(RegionId region) {
  for (TileOpId id : module_.regions[region].ops)
    if (!run_op(id)) return false;
  return true;
}

bool BlockRunner::count(int64_t elements) {
  if (launch_.elements_left.fetch_sub(elements, std::memory_order_relaxed) >= elements) return true;
  error_ = Error{ErrorKind::kRefused, "the interpreter would compute more elements than it may"};
  return false;
}

bool BlockRunner::count_under_way(size_t more) {
  under_way_ += more;
  if (under_way_ <= kMostUnderWay) return true;
  error_ = Error{ErrorKind::kRefused, "more copies are under way than the interpreter keeps"};
  return false;
}

bool BlockRunner::run_op(TileOpId id) {
  const TileOp& op = module_.ops[id];
  Plan& plan = plans_.find(id)->second;
  if (!count(plan.shape.count())) return false;
  switch (op.op) {
    case Opcode::kConst:
    case Opcode::kYield:
    // Operations run one after the other, each in all threads.
    case Opcode::kBarrier:
      return true;
    case Opcode::kIndex:
      return run_index(op, plan), true;
    case Opcode::kLoad:
      return run_load(id, op, plan);
    case Opcode::kStore:
      return run_store(id, op, plan);
    case Opcode::kCopyAsync:
      return run_copy(id, op, plan);
    case Opcode::kCopyCommit:
      copies_.emplace_back();
      return count_under_way(1);
    case Opcode::kCopyWait:
      return run_wait(op.bits), true;
    case Opcode::kTileReduce: {
      std::vector<const std::byte*> operands;
      std::vector<std::byte*> results;
      for (TileValueId value : op.operands) operands.push_back(data(value));
      for (TileValueId value : op.results) results.push_back(data(value));
      return plan.reduction->run(operands, results), true;
    }
    case Opcode::kMma:
      return run_mma(op, plan), true;
    case Opcode::kLoop:
      return run_loop(op, plan);
    default:
      return run_elementwise(op, plan), true;
  }
}

bool BlockRunner::run_loop(const TileOp& op, Plan& plan) {
  const Region& region = module_.regions[op.regions[0]];
  size_t carried = op.operands.size();
  auto arrive = [&](size_t operand, TileValueId at) {
    Bytes& to = values_[at.index()];
    std::memcpy(to.data(), at_shape(plan.operands[operand], shape_of(at)), to.size());
  };
  for (size_t i = 0; i < carried; ++i) arrive(i, region.arguments[i]);
  plan.index->begin();
  plan.index->evaluate_row(0, 1);
  int64_t count = plan.index->at(0)[0];
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    counters_[op.axis.index()] = iteration;
    if (!run_region(op.regions[0])) return false;
    // A yielded value may be an argument, so all are taken before one changes.
    for (size_t i = 0; i < carried; ++i) {
      Bytes& next = values_[op.results[i].index()];
      std::memcpy(next.data(), at_shape(plan.operands[carried + i], shape_of(region.arguments[i])),
                  next.size());
    }
    for (size_t i = 0; i < carried; ++i)
      std::swap(values_[op.results[i].index()], values_[region.arguments[i].index()]);
  }
  for (size_t i = 0; i < carried; ++i)
    std::swap(values_[op.results[i].index()], values_[region.arguments[i].index()]);
  return true;
}

void BlockRunner::run_index(const TileOp& op, Plan& plan) {
  auto* to = reinterpret_cast<int64_t*>(data(op.results[0]));
  plan.index->begin();
  for (int64_t row = 0; row < plan.shape.rows(); ++row) {
    plan.index->evaluate_row(row, static_cast<size_t>(plan.shape.row_length()));
    const LaneInteger& lanes = plan.index->at(0);
    for (int64_t i = 0; i < plan.shape.row_length(); ++i) *to++ = lanes[static_cast<size_t>(i)];
  }
}

const AccessedMemory& BlockRunner::memory_of(const TileOp& op) const {
  return op.tensor.valid() ? launch_.tensors[op.tensor.index()] : buffers_[op.buffer.index()];
}

const std::string& BlockRunner::name_of(const TileOp& op) const {
  return op.tensor.valid() ? module_.tensors[op.tensor].name : module_.buffers[op.buffer].name;
}

bool BlockRunner::run_load(TileOpId id, const TileOp& op, Plan& plan) {
  const AccessedMemory& memory = memory_of(op);
  size_t width = width_of(module_, op.results[0]);
  std::byte* to = data(op.results[0]);
  const std::byte* mask = plan.operands.empty() ? nullptr : at_shape(plan.operands[0], plan.shape);
  Bytes& result = values_[op.results[0].index()];
  if (plan.operands.size() > 1) {
    std::memcpy(to, at_shape(plan.operands[1], plan.shape), result.size());
  } else if (mask != nullptr) {
    // Any value will do, so one that shows where it is used all the same.
    std::fill(result.begin(), result.end(), kUnwritten);
  }
  plan.access->begin();
  int64_t length = plan.shape.row_length();
  for (int64_t row = 0; row < plan.shape.rows(); ++row) {
    auto* row_mask = mask == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(mask + row * length);
    auto outside = plan.access->offsets(row, memory, width, row_mask, offsets_);
    if (outside) return fail_access(id, *plan.access, memory, "load of %" + name_of(op), *outside);
    for (int64_t i = 0; i < length; ++i, to += width)
      if (int64_t offset = offsets_[i]; offset >= 0) std::memcpy(to, memory.data + offset * width, width);
  }
  if (module_.values[op.results[0]].type.element == ElementType::kBool)
    for (std::byte& element : result) element = std::byte{element != std::byte{0}};
  return true;
}

bool BlockRunner::run_store(TileOpId id, const TileOp& op, Plan& plan) {
  const AccessedMemory& memory = memory_of(op);
  size_t width = byte_size(plan.operands[0].type);
  const std::byte* from = at_shape(plan.operands[0], plan.shape);
  const std::byte* mask = plan.operands.size() < 2 ? nullptr : at_shape(plan.operands[1], plan.shape);
  plan.access->begin();
  int64_t length = plan.shape.row_length();
  for (int64_t row = 0; row < plan.shape.rows(); ++row) {
    auto* row_mask = mask == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(mask + row * length);
    auto outside = plan.access->offsets(row, memory, width, row_mask, offsets_);
    if (outside) return fail_access(id, *plan.access, memory, "store of %" + name_of(op), *outside);
    for (int64_t i = 0; i < length; ++i, from += width)
      if (int64_t offset = offsets_[i]; offset >= 0) std::memcpy(memory.data + offset * width, from, width);
  }
  return true;
}

// The source is read at once; the elements arrive with the wait, and until then nobody should look.
bool BlockRunner::run_copy(TileOpId id, const TileOp& op, Plan& plan) {
  const AccessedMemory& from = launch_.tensors[op.tensor.index()];
  const AccessedMemory& to = buffers_[op.buffer.index()];
  size_t width = byte_size(module_.buffers[op.buffer].element);
  const std::byte* mask = plan.operands.empty() ? nullptr : at_shape(plan.operands[0], plan.shape);
  if (!count_under_way(static_cast<size_t>(plan.shape.count()))) return false;
  plan.access->begin();
  plan.target->begin();
  int64_t length = plan.shape.row_length();
  for (int64_t row = 0; row < plan.shape.rows(); ++row) {
    auto* row_mask = mask == nullptr ? nullptr : reinterpret_cast<const uint8_t*>(mask + row * length);
    if (auto outside = plan.access->offsets(row, from, width, row_mask, offsets_))
      return fail_access(id, *plan.access, from, "copy from %" + module_.tensors[op.tensor].name, *outside);
    if (auto outside = plan.target->offsets(row, to, width, nullptr, target_offsets_))
      return fail_access(id, *plan.target, to, "copy to %" + module_.buffers[op.buffer].name, *outside);
    for (size_t i = 0; i < static_cast<size_t>(length); ++i) {
      Arrival arrival{to.data + target_offsets_[i] * static_cast<int64_t>(width), {}, width};
      if (offsets_[i] >= 0)
        std::memcpy(arrival.bytes.data(), from.data + offsets_[i] * static_cast<int64_t>(width), width);
      std::memset(arrival.to, static_cast<int>(kUnwritten), width);
      copies_.back().push_back(arrival);
    }
  }
  return true;
}

// The last group is open: no wait but one for all reaches it.
void BlockRunner::run_wait(uint64_t groups_under_way) {
  while (copies_.size() > groups_under_way + 1) {
    for (const Arrival& arrival : copies_.front())
      std::memcpy(arrival.to, arrival.bytes.data(), arrival.width);
    under_way_ -= copies_.front().size() + 1;
    copies_.pop_front();
  }
}

void BlockRunner::run_mma(const TileOp& op, Plan& plan) {
  ElementType type = module_.values[op.results[0]].type.element;
  auto count = static_cast<size_t>(plan.shape.count());
  size_t width = byte_size(type);
  for (size_t i = 0; i < 2; ++i)
    cast_lanes({plan.operands[i].type, data(op.operands[i])}, type, plan.factors[i].data(),
               plan.factors[i].size() / width);
  std::byte* sum = data(op.results[0]);
  std::memcpy(sum, data(op.operands[2]), count * width);
  for (auto [in_a, in_b] : plan.terms) {
    Operand& a = plan.operands[0];
    Operand& b = plan.operands[1];
    expand(plan.factors[0].data() + in_a * width, a.strides, plan.shape, width, a.expanded.data());
    expand(plan.factors[1].data() + in_b * width, b.strides, plan.shape, width, b.expanded.data());
    LaneView factors[3] = {{type, a.expanded.data()}, {type, b.expanded.data()}, {type, sum}};
    if (is_float(type)) {
      evaluate_on_device(Opcode::kFma, false, factors, type, sum, count, launch_.device);
    } else {
      evaluate_on_device(Opcode::kMul, false, std::span(factors, 2), type, plan.product.data(), count,
                         launch_.device);
      LaneView terms[2] = {{type, plan.product.data()}, {type, sum}};
      evaluate_on_device(Opcode::kAdd, false, terms, type, sum, count, launch_.device);
    }
  }
}

void BlockRunner::run_elementwise(const TileOp& op, Plan& plan) {
  LaneView operands[3];
  TENON_CHECK(plan.operands.size() <= std::size(operands), "a scalar operation has at most three operands");
  for (size_t i = 0; i < plan.operands.size(); ++i)
    operands[i] = {plan.operands[i].type, at_shape(plan.operands[i], plan.shape)};
  ElementType type = module_.values[op.results[0]].type.element;
  evaluate_on_device(op.op, op.approx, std::span(operands, plan.operands.size()), type, data(op.results[0]),
                     static_cast<size_t>(plan.shape.count()), launch_.device);
}

// ---- errors ----

std::string BlockRunner::block_text() const {
  std::string text;
  for (AxisId axis : launch_.kernel.grid)
    text +=
        fmt::format("{}{} = {}", text.empty() ? "" : ", ", module_.axes[axis].name, counters_[axis.index()]);
  return fmt::format("block {}{}", block_, text.empty() ? "" : " (" + text + ")");
}

bool BlockRunner::fail_access(TileOpId id, TileAccess& access, const AccessedMemory& memory,
                              std::string_view what, int64_t position) {
  error_ = Error{ErrorKind::kDevice,
                 fmt::format("{}, {}: {}{}, which has the shape {}, in `{}`", launch_.kernel.name,
                             block_text(), what, access.subscripts_text(position, memory.extents.size()),
                             shape_text(memory.extents), print_op(module_, id))};
  return false;
}

}  // namespace tenon::ir
