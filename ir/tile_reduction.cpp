#include "ir/tile_reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tenon::ir {
namespace {

// The operand with all axes of the others.
const TileType& widest(const TileModule& module, const TileOp& op) {
  const TileType* type = &module.values[op.operands[0]].type;
  for (TileValueId id : op.operands)
    if (module.values[id].type.axes.size() > type->axes.size()) type = &module.values[id].type;
  return *type;
}

// The offsets in `in` of all positions along `axes`, in order.
std::vector<int64_t> offsets_along(const TileShape& axes, const TileShape& in) {
  std::vector<int64_t> strides = in.strides_in(axes);
  std::vector<int64_t> offsets = {0};
  for (size_t d = 0; d < axes.rank(); ++d) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < axes.extents()[d]; ++i) next.push_back(offset + i * strides[d]);
    offsets = std::move(next);
  }
  return offsets;
}

// `f` with a type as wide as the elements.
template <class F>
void with_width(size_t width, F f) {
  switch (width) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

size_t lanes_of(const TileModule& module, const TileOp& op) {
  const TileType& type = widest(module, op);
  if (type.layout) return static_cast<size_t>(type.layout->warp_count()) * 32;
  return static_cast<size_t>(TileShape(module, module.values[op.results[0]].type.axes).count());
}

}  // namespace

TileReduction::TileReduction(const TileModule& module, const TileOp& op, const DeviceFunctions& device)
    : module_(module),
      op_(op),
      device_(device),
      whole_(module, widest(module, op).axes),
      kept_(module, module.values[op.results[0]].type.axes),
      runner_(*op.monoid, lanes_of(module, op), device) {
  for (TileValueId id : op.operands) {
    operand_types_.push_back(module.values[id].type.element);
    expanded_.emplace_back(static_cast<size_t>(whole_.count()) * byte_size(operand_types_.back()));
  }
  for (const Constant& slot : op.monoid->identity) slot_types_.push_back(slot.type);
  if (const TileType& type = widest(module, op); type.layout) {
    plan_threads(*type.layout);
  } else {
    kept_offsets_ = offsets_along(kept_, whole_);
    reduced_offsets_ = offsets_along(TileShape(module, op.reduced), whole_);
  }
}

void TileReduction::plan_threads(const Layout& layout) {
  by_threads_ = true;
  threads_ = static_cast<size_t>(layout.warp_count()) * 32;
  auto offsets = [&](const Layout& of, const TileShape& shape) {
    std::vector<int64_t> strides = shape.strides_in(TileShape(module_, of.axes()));
    std::vector<std::vector<int64_t>> all;
    for (int32_t reg = 0; reg < of.register_count(); ++reg) {
      std::vector<int64_t> one(threads_, 0);
      Layout::Position in_register = of.position(reg, 0, 0);
      for (size_t thread = 0; thread < threads_; ++thread) {
        Layout::Position in_thread = of.position(0, thread % 32, thread / 32);
        for (size_t i = 0; i < strides.size(); ++i) {
          // The bits of the power-of-two part join by exclusive or; the odd repeats stand above them.
          one[thread] += (in_register[i] ^ in_thread[i]) * strides[i];
        }
      }
      all.push_back(std::move(one));
    }
    return all;
  };
  sources_ = offsets(layout, whole_);
  if (kept_.rank() == 0) {
    targets_ = {std::vector<int64_t>(threads_, 0)};
  } else {
    targets_ = offsets(layout.project(kept_.axes()), kept_);
  }
  std::vector<int32_t> to = layout.projected_registers(kept_.axes());
  groups_.resize(targets_.size());
  for (int32_t reg = 0; reg < layout.register_count(); ++reg) groups_[to[reg]].push_back(reg);
  auto reduced = [&](auto basis) {
    return std::any_of(op_.reduced.begin(), op_.reduced.end(), [&](AxisId axis) { return basis(axis) != 0; });
  };
  for (unsigned bit = 0; bit < kLaneBits; ++bit)
    if (reduced([&](AxisId axis) { return layout.lane_basis(bit, axis); })) lane_bits_.push_back(bit);
  for (unsigned bit = 0; (1 << bit) < layout.warp_count(); ++bit)
    if (reduced([&](AxisId axis) { return layout.warp_basis(bit, axis); })) warp_bits_.push_back(bit);
}

void TileReduction::run(std::span<const std::byte* const> operands, std::span<std::byte* const> results) {
  for (size_t i = 0; i < operands.size(); ++i) {
    TileShape own(module_, module_.values[op_.operands[i]].type.axes);
    expand(operands[i], own.strides_in(whole_), whole_, byte_size(operand_types_[i]), expanded_[i].data());
  }
  by_threads_ ? run_by_threads(results) : run_in_order(results);
}

// Registers of a thread, then lanes from the lowest bit, then warps.
void TileReduction::run_by_threads(std::span<std::byte* const> results) {
  for (size_t target = 0; target < groups_.size(); ++target) {
    std::vector<State> registers;
    for (int32_t reg : groups_[target]) registers.push_back(gathered(sources_[reg]));
    State state = op_.product ? products(registers) : tree(std::move(registers));
    merge_lanes(state);
    if (!warp_bits_.empty()) state = merge_warps(state);
    scatter(state, targets_[target], results);
  }
}

void TileReduction::run_in_order(std::span<std::byte* const> results) {
  State sum;
  for (int64_t reduced : reduced_offsets_) {
    std::vector<int64_t> offsets = kept_offsets_;
    for (int64_t& offset : offsets) offset += reduced;
    State term = gathered(offsets);
    if (op_.product) {
      State next;
      multiply(term, sum.empty() ? nullptr : &sum, next);
      sum = std::move(next);
    } else if (sum.empty()) {
      sum = std::move(term);
    } else {
      merge(sum, term, sum);
    }
  }
  std::vector<int64_t> targets(static_cast<size_t>(kept_.count()));
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<int64_t>(i);
  scatter(sum, targets, results);
}

TileReduction::State TileReduction::gathered(std::span<const int64_t> offsets) const {
  State state;
  for (size_t slot = 0; slot < expanded_.size(); ++slot) {
    size_t width = byte_size(operand_types_[slot]);
    std::vector<std::byte> lanes(offsets.size() * width);
    with_width(width, [&](auto element) {
      using T = decltype(element);
      const T* from = reinterpret_cast<const T*>(expanded_[slot].data());
      T* to = reinterpret_cast<T*>(lanes.data());
      for (size_t i = 0; i < offsets.size(); ++i) to[i] = from[offsets[i]];
    });
    state.push_back(std::move(lanes));
  }
  return state;
}

// Pairs at distance one first; what is left over waits for the next round.
TileReduction::State TileReduction::tree(std::vector<State> level) {
  while (level.size() > 1) {
    std::vector<State> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      merge(level[i], level[i + 1], level[i]);
      next.push_back(std::move(level[i]));
    }
    if (level.size() % 2 == 1) next.push_back(std::move(level.back()));
    level = std::move(next);
  }
  return std::move(level[0]);
}

// Chains of multiply-adds, joined as a thread joins its registers.
TileReduction::State TileReduction::products(const std::vector<State>& factors) {
  size_t chains = product_chains(factors.size());
  std::vector<State> sums(chains);
  for (size_t r = 0; r < factors.size(); ++r) {
    State& sum = sums[r % chains];
    State next;
    multiply(factors[r], sum.empty() ? nullptr : &sum, next);
    sum = std::move(next);
  }
  return tree(std::move(sums));
}

void TileReduction::multiply(const State& factors, State* sum, State& result) {
  ElementType type = slot_types_[0];
  result = {std::vector<std::byte>(factors[0].size())};
  LaneView operands[3] = {{type, factors[0].data()}, {type, factors[1].data()}};
  if (sum != nullptr) operands[2] = {type, (*sum)[0].data()};
  evaluate_on_device(sum != nullptr ? Opcode::kFma : Opcode::kMul, false,
                     std::span(operands, sum != nullptr ? 3 : 2), type, result[0].data(),
                     factors[0].size() / byte_size(type), device_);
}

void TileReduction::merge(State& left, State& right, State& result) {
  auto pointers = [](State& state) {
    std::vector<std::byte*> all;
    for (std::vector<std::byte>& slot : state) all.push_back(slot.data());
    return all;
  };
  runner_.merge(pointers(left), pointers(right), pointers(result),
                left[0].size() / byte_size(slot_types_[0]));
}

template <class Source>
TileReduction::State TileReduction::permuted(const State& state, Source source) const {
  State result;
  for (size_t slot = 0; slot < state.size(); ++slot) {
    size_t width = byte_size(slot_types_[slot]);
    std::vector<std::byte> lanes(state[slot].size());
    with_width(width, [&](auto element) {
      using T = decltype(element);
      const T* from = reinterpret_cast<const T*>(state[slot].data());
      T* to = reinterpret_cast<T*>(lanes.data());
      for (size_t i = 0; i < threads_; ++i) to[i] = from[source(i)];
    });
    result.push_back(std::move(lanes));
  }
  return result;
}

void TileReduction::merge_lanes(State& state) {
  for (unsigned bit : lane_bits_) {
    State other = permuted(state, [&](size_t thread) { return thread ^ (size_t{1} << bit); });
    merge(state, other, state);
  }
}

// Each thread takes the states of the warps that differ in the reduced bits, ascending.
TileReduction::State TileReduction::merge_warps(State& state) {
  size_t mask = 0;
  for (unsigned bit : warp_bits_) mask |= size_t{32} << bit;
  std::vector<State> level;
  for (size_t combination = 0; combination < size_t{1} << warp_bits_.size(); ++combination) {
    size_t warp = 0;
    for (size_t i = 0; i < warp_bits_.size(); ++i)
      if (combination >> i & 1) warp |= size_t{32} << warp_bits_[i];
    level.push_back(permuted(state, [&](size_t thread) { return (thread & ~mask) | warp; }));
  }
  return tree(std::move(level));
}

// Where threads hold copies, the first one's counts.
void TileReduction::scatter(const State& state, std::span<const int64_t> offsets,
                            std::span<std::byte* const> results) const {
  for (size_t slot = 0; slot < state.size(); ++slot) {
    size_t width = byte_size(slot_types_[slot]);
    for (size_t i = offsets.size(); i-- > 0;)
      std::memcpy(results[slot] + offsets[i] * width, state[slot].data() + i * width, width);
  }
}

}  // namespace tenon::ir
