#include "ir/tile_lanes.h"

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace tenon::ir {
namespace {

template <class T>
void expand_rows(const std::byte* from, std::span<const int64_t> strides, const TileShape& at,
                 std::byte* to) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  if (at.rank() == 0) {
    *out = *in;
    return;
  }
  size_t inner = at.rank() - 1;
  int64_t length = at.row_length();
  int64_t step = strides[inner];
  std::vector<int64_t> position(inner, 0);
  for (int64_t row = 0; row < at.rows(); ++row, out += length) {
    if (step == 0) {
      std::fill_n(out, length, *in);
    } else if (step == 1) {
      std::copy_n(in, length, out);
    } else {
      for (int64_t i = 0; i < length; ++i) out[i] = in[i * step];
    }
    for (size_t d = inner; d-- > 0;) {
      in += strides[d];
      if (++position[d] < at.extents()[d]) break;
      in -= position[d] * strides[d];
      position[d] = 0;
    }
  }
}

bool is_narrow_float(ElementType type) { return is_float(type) && bit_width(type) < 32; }

// In f32, rounded once.
void divide(std::span<const LaneView> operands, ElementType type, void* result, size_t count,
            const DeviceFunctions& device) {
  TENON_CHECK(device.divide != nullptr, "the interpreter has no approximate quotient");
  if (type == ElementType::kF32)
    return device.divide(static_cast<const float*>(operands[0].data),
                         static_cast<const float*>(operands[1].data), static_cast<float*>(result), count);
  std::vector<float> a(count), b(count);
  cast_lanes(operands[0], ElementType::kF32, a.data(), count);
  cast_lanes(operands[1], ElementType::kF32, b.data(), count);
  device.divide(a.data(), b.data(), a.data(), count);
  cast_lanes({ElementType::kF32, a.data()}, type, result, count);
}

}  // namespace

TileShape::TileShape(const TileModule& module, std::span<const AxisId> axes)
    : axes_(axes.begin(), axes.end()) {
  for (AxisId axis : axes) {
    extents_.push_back(module.axes[axis].extent);
    if (__builtin_mul_overflow(count_, extents_.back(), &count_)) count_ = INT64_MAX;
  }
}

std::vector<int64_t> TileShape::strides_in(const TileShape& at) const {
  std::vector<int64_t> strides(at.rank(), 0);
  int64_t stride = 1;
  for (size_t i = axes_.size(); i-- > 0;) {
    auto found = std::find(at.axes_.begin(), at.axes_.end(), axes_[i]);
    if (found != at.axes_.end()) strides[found - at.axes_.begin()] = stride;
    stride *= extents_[i];
  }
  return strides;
}

void expand(const std::byte* from, std::span<const int64_t> strides, const TileShape& at, size_t width,
            std::byte* to) {
  switch (width) {
    case 1:
      return expand_rows<uint8_t>(from, strides, at, to);
    case 2:
      return expand_rows<uint16_t>(from, strides, at, to);
    case 4:
      return expand_rows<uint32_t>(from, strides, at, to);
    case 8:
      return expand_rows<uint64_t>(from, strides, at, to);
    default:
      TENON_UNREACHABLE("no element has this width");
  }
}

void evaluate_on_device(Opcode op, bool approx, std::span<const LaneView> operands, ElementType type,
                        void* result, size_t count, const DeviceFunctions& device) {
  if (approx && op == Opcode::kDiv && (type == ElementType::kF32 || is_narrow_float(type)))
    return divide(operands, type, result, count, device);
  bool exact = row(op).rule == TypeRule::kFunction && row(function_of(op)).ulp <= 0.5;
  if (approx && exact && row(function_of(op)).approx_ulp > 0.5) {
    TENON_CHECK(device.functions != nullptr, "the interpreter has no functions of the device");
    return device.functions(function_of(op), true, type, operands, result, count);
  }
  evaluate_lanes(op, approx, operands, type, result, count, device.functions);
}

MonoidRunner::MonoidRunner(const Monoid& monoid, size_t most_lanes, const DeviceFunctions& device)
    : monoid_(monoid), device_(device) {
  for (const Instruction& instruction : monoid.merge) {
    size_t width = byte_size(instruction.type);
    std::vector<std::byte> lanes(instruction.op == Opcode::kArg ? 0 : most_lanes * width);
    if (instruction.op == Opcode::kConst)
      for (size_t i = 0; i < most_lanes; ++i) std::memcpy(lanes.data() + i * width, &instruction.bits, width);
    values_.push_back(std::move(lanes));
  }
}

void MonoidRunner::merge(std::span<std::byte* const> left, std::span<std::byte* const> right,
                         std::span<std::byte* const> result, size_t count) {
  auto data = [&](ValueId id) -> const std::byte* {
    const Instruction& instruction = monoid_.merge[id];
    if (instruction.op != Opcode::kArg) return values_[id.index()].data();
    size_t position = instruction.bits;
    return position < left.size() ? left[position] : right[position - left.size()];
  };
  for (uint32_t i = 0; i < monoid_.merge.size(); ++i) {
    const Instruction& instruction = monoid_.merge[ValueId(i)];
    if (instruction.op == Opcode::kArg || instruction.op == Opcode::kConst) continue;
    LaneView operands[3];
    unsigned operand_count = instruction.operand_count();
    for (unsigned k = 0; k < operand_count; ++k)
      operands[k] = {monoid_.merge.type(instruction.operands[k]), data(instruction.operands[k])};
    evaluate_on_device(instruction.op, instruction.approx, std::span(operands, operand_count),
                       instruction.type, values_[i].data(), count, device_);
  }
  // All are computed before the first is overwritten, but for arguments that pass through.
  for (size_t slot = 0; slot < monoid_.merged.size(); ++slot) {
    const std::byte* from = data(monoid_.merged[slot]);
    if (from != result[slot])
      std::memmove(result[slot], from, count * byte_size(monoid_.identity[slot].type));
  }
}

}  // namespace tenon::ir
