#include "ir/body_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/reference_functions.h"
#include "support/check.h"
#include "support/reference_math.h"

namespace tenon::ir {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

template <class F>
void with_width(ElementType type, F f) {
  switch (byte_size(type)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    default:
      return f(uint64_t());
  }
}

template <class T>
void gather(const T* from, const LaneInteger& offsets, T* to, size_t lanes) {
  if (offsets.listed) {
    for (size_t i = 0; i < lanes; ++i) to[i] = from[offsets.values[i]];
  } else if (offsets.step == 1) {
    std::memcpy(to, from + offsets.base, lanes * sizeof(T));
  } else if (offsets.step == 0) {
    std::fill(to, to + lanes, from[offsets.base]);
  } else {
    for (size_t i = 0; i < lanes; ++i) to[i] = from[offsets[i]];
  }
}

[[noreturn]] void out_of_bounds(const Tensor& tensor, size_t dimension, int64_t subscript, int64_t extent) {
  internal_error(fmt::format("read of %{} out of bounds: subscript {} is {}, the extent {}", tensor.name,
                             dimension, subscript, extent),
                 __FILE__, __LINE__);
}

}  // namespace

const double* LaneVector::doubles(size_t lanes) {
  if (type_ == ElementType::kF64) return static_cast<const double*>(data_);
  if (!has_doubles_) {
    doubles_.resize(kStripLanes);
    lanes_to_double(view(), doubles_.data(), lanes);
    has_doubles_ = true;
  }
  return doubles_.data();
}

void* LaneVector::own() {
  storage_.resize(kStripLanes);
  data_ = storage_.data();
  bounds_ = nullptr;
  has_doubles_ = false;
  return storage_.data();
}

double* LaneVector::own_bounds() {
  bound_storage_.resize(kStripLanes);
  bounds_ = bound_storage_.data();
  return bound_storage_.data();
}

void LaneVector::drop_zero_bounds(size_t lanes) {
  if (bounds_ != nullptr && std::all_of(bounds_, bounds_ + lanes, [](double bound) { return bound == 0; }))
    bounds_ = nullptr;
}

void LaneVector::alias(const void* data, const double* bounds) {
  data_ = data;
  bounds_ = bounds;
  has_doubles_ = false;
}

void LaneVector::fill(uint64_t bits) {
  void* data = own();
  with_width(type_, [&](auto width) {
    using T = decltype(width);
    std::fill_n(static_cast<T*>(data), kStripLanes, static_cast<T>(bits));
  });
}

BodyRunner::BodyRunner(const Body& body, const BodyRules& rules, std::span<const ValueId> extra_uses,
                       LaneIndexEvaluator* indices, const Kernel* kernel,
                       const std::vector<TensorValue>* tensors)
    : body_(body), rules_(rules), indices_(indices), kernel_(kernel), tensors_(tensors), steps_(body.size()) {
  for (uint32_t i = 0; i < body.size(); ++i) {
    const Instruction& instruction = body[ValueId(i)];
    values_.emplace_back(instruction.type);
    if (instruction.op == Opcode::kConst) values_.back().fill(instruction.bits);
    if (instruction.op == Opcode::kArg && arguments_.size() <= instruction.bits)
      arguments_.resize(instruction.bits + 1);
    plan_indices(instruction, steps_[i]);
  }
  if (rules.contraction) plan_contraction(extra_uses);
}

void BodyRunner::plan_indices(const Instruction& instruction, Step& step) {
  auto require = [&](IndexId id) {
    std::vector<IndexId> nodes = indices_->require(id);
    step.nodes.insert(step.nodes.end(), nodes.begin(), nodes.end());
    kernel_->index.for_each_atom(id, [&](IndexId atom) {
      const IndexNode& node = kernel_->index[atom];
      if (node.kind != IndexKind::kValue) return;
      ValueId value(node.reference);
      step.mentioned.push_back(value);
      // Its lanes may have been computed before anybody asked for the atom; they are published from now on.
      steps_[value.index()].atom = atom;
    });
  };
  if (instruction.op == Opcode::kIndex) require(instruction.index);
  for (IndexId subscript : instruction.subscripts) require(subscript);
}

void BodyRunner::plan_contraction(std::span<const ValueId> extra_uses) {
  std::vector<int> uses(body_.size(), 0);
  for (ValueId use : extra_uses)
    if (use.valid()) ++uses[use.index()];
  for (const Instruction& instruction : body_)
    for (ValueId operand : instruction.operands)
      if (operand.valid()) ++uses[operand.index()];
  for (uint32_t i = 0; i < body_.size(); ++i) {
    const Instruction& instruction = body_[ValueId(i)];
    if ((instruction.op != Opcode::kAdd && instruction.op != Opcode::kSub) || !is_float(instruction.type))
      continue;
    for (unsigned k = 0; k < 2; ++k) {
      ValueId operand = instruction.operands[k];
      steps_[i].single_product[k] = body_[operand].op == Opcode::kMul && uses[operand.index()] == 1;
    }
  }
}

void BodyRunner::set_argument(unsigned position, const void* data, const double* bounds) {
  if (position < arguments_.size()) arguments_[position] = {data, bounds};
}

void BodyRunner::run(size_t lanes) {
  for (uint32_t i = 0; i < body_.size(); ++i) {
    const Instruction& instruction = body_[ValueId(i)];
    Step& step = steps_[i];
    if (!step.nodes.empty()) indices_->evaluate(step.nodes, lanes);
    LaneVector& result = values_[i];
    switch (instruction.op) {
      case Opcode::kConst:
        break;
      case Opcode::kArg:
        result.alias(arguments_[instruction.bits].data, arguments_[instruction.bits].bounds);
        break;
      case Opcode::kIndex:
        run_index(instruction, step, result, lanes);
        break;
      case Opcode::kRead:
        run_read(instruction, step, result, lanes);
        break;
      default:
        run_scalar(instruction, step, result, lanes);
        break;
    }
    if (step.atom.valid()) publish_atom(step, result, lanes);
  }
}

void BodyRunner::publish_atom(const Step& step, const LaneVector& result, size_t lanes) {
  LaneInteger& atom = indices_->at(step.atom);
  atom.listed = true;
  atom.values.assign(result.as<int64_t>(), result.as<int64_t>() + lanes);
}

void BodyRunner::run_index(const Instruction& instruction, const Step& step, LaneVector& result,
                           size_t lanes) {
  const LaneInteger& index = indices_->at(instruction.index);
  int64_t* out = result.own_as<int64_t>();
  for (size_t i = 0; i < lanes; ++i) out[i] = index[i];
  add_mentioned_bounds(step, result, lanes);
}

// What is computed from an index that is not certain is not certain either.
void BodyRunner::add_mentioned_bounds(const Step& step, LaneVector& result, size_t lanes) {
  for (ValueId value : step.mentioned) {
    const LaneVector& index = values_[value.index()];
    if (index.bounds() == nullptr) continue;
    std::vector<double> known(lanes, 0.0);
    if (result.bounds() != nullptr) known.assign(result.bounds(), result.bounds() + lanes);
    double* bounds = result.own_bounds();
    for (size_t i = 0; i < lanes; ++i) bounds[i] = std::max(known[i], index.bound(i));
  }
}

void BodyRunner::offsets(const Instruction& instruction, const uint8_t* active, size_t lanes) {
  const TensorValue& tensor = (*tensors_)[instruction.tensor.index()];
  const Tensor& declared = kernel_->tensors[instruction.tensor];
  offsets_.set_affine(0, 0);
  bool affine = active == nullptr;
  for (IndexId subscript : instruction.subscripts) affine = affine && !indices_->at(subscript).listed;
  if (!affine) {
    offsets_.listed = true;
    offsets_.values.assign(lanes, 0);
  }
  for (size_t d = 0; d < instruction.subscripts.size(); ++d) {
    const LaneInteger& subscript = indices_->at(instruction.subscripts[d]);
    int64_t extent = tensor.array.extent(d);
    int64_t stride = tensor.strides[d];
    auto check = [&](int64_t at) {
      if (at < 0 || at >= extent) out_of_bounds(declared, d, at, extent);
    };
    if (affine) {
      check(subscript[0]);
      check(subscript[lanes - 1]);
      offsets_.base += subscript.base * stride;
      offsets_.step += subscript.step * stride;
      continue;
    }
    for (size_t i = 0; i < lanes; ++i) {
      if (active != nullptr && active[i] == 0) continue;
      int64_t at = subscript[i];
      check(at);
      offsets_.values[i] += at * stride;
    }
  }
}

void BodyRunner::run_read(const Instruction& instruction, const Step& step, LaneVector& result,
                          size_t lanes) {
  const TensorValue& tensor = (*tensors_)[instruction.tensor.index()];
  TENON_CHECK(tensor.present, "read of a tensor that has no value");
  bool guarded = false;
  if (instruction.operands[0].valid()) {
    const LaneVector& predicate = values_[instruction.operands[0].index()];
    const auto* active = predicate.as<uint8_t>();
    guarded = predicate.bounds() != nullptr ||
              std::any_of(active, active + lanes, [](uint8_t x) { return x == 0; });
  }
  if (guarded) {
    read_guarded(instruction, result, lanes);
  } else {
    offsets(instruction, nullptr, lanes);
    with_width(instruction.type, [&](auto width) {
      using T = decltype(width);
      gather(tensor.array.as<T>().data(), offsets_, result.own_as<T>(), lanes);
    });
    if (!tensor.bounds.empty()) gather(tensor.bounds.data(), offsets_, result.own_bounds(), lanes);
  }
  add_mentioned_bounds(step, result, lanes);
  result.drop_zero_bounds(lanes);
}

void BodyRunner::read_guarded(const Instruction& instruction, LaneVector& result, size_t lanes) {
  const TensorValue& tensor = (*tensors_)[instruction.tensor.index()];
  const LaneVector& predicate = values_[instruction.operands[0].index()];
  const LaneVector& other = values_[instruction.operands[1].index()];
  const auto* active = predicate.as<uint8_t>();
  offsets(instruction, active, lanes);
  with_width(instruction.type, [&](auto width) {
    using T = decltype(width);
    const T* elements = tensor.array.as<T>().data();
    const T* otherwise = other.as<T>();
    T* out = result.own_as<T>();
    for (size_t i = 0; i < lanes; ++i) out[i] = active[i] != 0 ? elements[offsets_.values[i]] : otherwise[i];
  });
  if (tensor.bounds.empty() && other.bounds() == nullptr && predicate.bounds() == nullptr) return;
  double* bounds = result.own_bounds();
  for (size_t i = 0; i < lanes; ++i) {
    double read = active[i] != 0 && !tensor.bounds.empty() ? tensor.bounds[offsets_.values[i]] : 0;
    bounds[i] = predicate.bound(i) != 0 ? kAnything : active[i] != 0 ? read : other.bound(i);
  }
}

// Fused with the addition, the product is not rounded.
const double* BodyRunner::with_product_error(const Instruction& product, const double* bounds,
                                             std::vector<double>& storage, size_t lanes) {
  LaneVector& a = values_[product.operands[0].index()];
  LaneVector& b = values_[product.operands[1].index()];
  const double* x = a.doubles(lanes);
  const double* y = b.doubles(lanes);
  storage.resize(kStripLanes);
  double any = 0;
  for (size_t i = 0; i < lanes; ++i) {
    double known = bounds == nullptr ? 0 : bounds[i];
    double exact = x[i] * y[i];
    double rounded = round_to_type(product.type, exact);
    double error = product.type == ElementType::kF64 ? std::fabs(std::fma(x[i], y[i], -exact))
                                                     : std::fabs(rounded - exact);
    // Fused, a product that overflows meets what is added to it before that.
    if (!std::isfinite(rounded)) error = std::isfinite(x[i]) && std::isfinite(y[i]) ? kAnything : 0;
    // Elsewhere within the bounds the product may round by up to half a unit.
    if (known > 0)
      error = product.type == ElementType::kF64 ? ulp_f64(exact)
              : known < kAnything
                  ? std::max(error, rounded_bound(product.type, rounded, exact - known, exact + known))
                  : kAnything;
    storage[i] = known + error;
    any = std::max(any, storage[i]);
  }
  return any > 0 ? storage.data() : nullptr;
}

void BodyRunner::open_overflows(ValueId term, size_t lanes) {
  const Instruction& product = body_[term];
  if (product.op != Opcode::kMul || !is_float(product.type)) return;
  LaneVector& result = values_[term.index()];
  const double* values = result.doubles(lanes);
  if (std::all_of(values, values + lanes, [](double value) { return std::isfinite(value); })) return;
  const double* x = values_[product.operands[0].index()].doubles(lanes);
  const double* y = values_[product.operands[1].index()].doubles(lanes);
  std::vector<double> bounds(lanes);
  for (size_t i = 0; i < lanes; ++i)
    bounds[i] =
        std::isinf(values[i]) && std::isfinite(x[i]) && std::isfinite(y[i]) ? kAnything : result.bound(i);
  std::copy(bounds.begin(), bounds.end(), result.own_bounds());
  result.drop_zero_bounds(lanes);
}

void BodyRunner::run_scalar(const Instruction& instruction, const Step& step, LaneVector& result,
                            size_t lanes) {
  std::array<LaneView, 3> views;
  std::array<const double*, 3> bounds = {};
  unsigned count = instruction.operand_count();
  bool exact = true;
  for (unsigned k = 0; k < count; ++k) {
    LaneVector& operand = values_[instruction.operands[k].index()];
    views[k] = operand.view();
    bounds[k] = operand.bounds();
    if (step.single_product[k])
      bounds[k] = with_product_error(body_[instruction.operands[k]], bounds[k], product_bounds_[k], lanes);
    exact = exact && bounds[k] == nullptr;
  }
  evaluate_lanes(instruction.op, instruction.approx, std::span(views.data(), count), instruction.type,
                 result.own(), lanes, reference_function_lanes);
  if (exact && keeps_exactness(instruction.op, instruction.approx, views[0].type, rules_.bounds)) return;
  std::array<BoundedLanes, 3> operands;
  for (unsigned k = 0; k < count; ++k)
    operands[k] = {views[k].type, values_[instruction.operands[k].index()].doubles(lanes), bounds[k]};
  BoundedLanes value{instruction.type, result.doubles(lanes), nullptr};
  propagate_bounds(instruction.op, instruction.approx, std::span(operands.data(), count), value,
                   rules_.bounds, result.own_bounds(), lanes);
  result.drop_zero_bounds(lanes);
}

}  // namespace tenon::ir
