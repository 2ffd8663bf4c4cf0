#include "ir/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "ir/accumulator.h"
#include "ir/body_runner.h"
#include "ir/domain_walk.h"
#include "support/check.h"

namespace tenon::ir {
namespace {

// From this many terms on, a strip runs along the reduction of one point; with fewer, along the points.
constexpr int64_t kLongReduction = 128;
// Points worth another thread.
constexpr int64_t kThreadPoints = 1 << 15;

struct Context {
  const Kernel& kernel;
  std::span<const int64_t> symbols;
  std::vector<TensorValue>& tensors;
  BodyRules rules;
};

int64_t value_of(const Context& context, IndexId id) {
  auto value = context.kernel.index.evaluate(id, [&](IndexId atom) -> std::optional<int64_t> {
    const IndexNode& node = context.kernel.index[atom];
    if (node.kind != IndexKind::kSymbol) return std::nullopt;
    return context.symbols[node.reference];
  });
  TENON_CHECK(value.has_value(), "a size that mentions more than symbols, or leaves 64 bits");
  return *value;
}

std::vector<int64_t> extents_of(const Context& context, std::span<const AxisId> axes) {
  std::vector<int64_t> extents;
  for (AxisId axis : axes) extents.push_back(value_of(context, context.kernel.axes[axis].extent));
  return extents;
}

// The values used from outside of a body's instructions.
std::vector<ValueId> used_outside(const TensorOp& op) {
  std::vector<ValueId> uses = {op.predicate};
  for (const OpOutput& output : op.outputs)
    uses.insert(uses.end(), output.values.begin(), output.values.end());
  return uses;
}

// What permissions let the device do to the operands of a contraction's products, in proportion to the
// product.
double allowance_of(const Kernel& kernel, const TensorOp& op, const OpOutput& output) {
  const Instruction& term = op.body[output.values[0]];
  if (term.op != Opcode::kMul || term.type != ElementType::kF32) return 0;
  // Both operands rounded to 11 bits.
  double allowance = kernel.allows(kTf32) ? 0x1.01p-10 : 0;
  if (!kernel.allows(kNarrow)) return allowance;
  ElementType types[2];
  for (unsigned k = 0; k < 2; ++k) {
    const Instruction& factor = op.body[term.operands[k]];
    types[k] = factor.op == Opcode::kCast ? op.body.type(factor.operands[0]) : factor.type;
  }
  // The f32 operand rounded to the other one's type, and computed approximately before.
  if (types[0] != ElementType::kF32 && types[1] != ElementType::kF32) return allowance;
  for (ElementType type : types) {
    if (type == ElementType::kBF16) allowance = std::max(allowance, 0x1.1p-8);
    if (type == ElementType::kF16) allowance = std::max(allowance, 0x1.1p-11);
  }
  return allowance;
}

// Runs a range of the parallel points of one operation. Each thread has one.
class OpRunner {
 public:
  OpRunner(const Context& context, const TensorOp& op)
      : context_(context),
        op_(op),
        indices_(context.kernel.index, context.symbols),
        body_(op.body, context.rules, used_outside(op), &indices_, &context.kernel, &context.tensors),
        points_(context.kernel, op.parallel, extents_of(context, op.parallel), indices_),
        terms_(context.kernel, op.reduction, extents_of(context, op.reduction), indices_) {
    if (op.op != Opcode::kReduce) return;
    for (const OpOutput& output : op.outputs)
      accumulators_.push_back(
          make_accumulator(*output.monoid, context.rules, allowance_of(context.kernel, op, output)));
  }

  void run(int64_t begin, int64_t end) {
    if (op_.op == Opcode::kMap) {
      run_map(begin, end);
    } else if (terms_.points() >= kLongReduction) {
      for (int64_t point = begin; point < end; ++point) reduce_point(point);
    } else {
      run_reduction_along_points(begin, end);
    }
  }

 private:
  void run_map(int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      size_t lanes = points_.strip(at, end - at);
      points_.set_lanes(at, lanes);
      body_.run(lanes);
      for (const OpOutput& output : op_.outputs)
        store(output.tensor, body_.value(output.values[0]), at, lanes);
      at += static_cast<int64_t>(lanes);
    }
  }

  void reduce_point(int64_t point) {
    points_.set_uniform(point);
    for (auto& accumulator : accumulators_) accumulator->reset(1);
    for (int64_t at = 0; at < terms_.points();) {
      size_t lanes = terms_.strip(at, terms_.points() - at);
      terms_.set_lanes(at, lanes);
      body_.run(lanes);
      for (size_t i = 0; i < accumulators_.size(); ++i)
        accumulators_[i]->add_across(terms_of(op_.outputs[i], lanes));
      at += static_cast<int64_t>(lanes);
    }
    finish(point, 1);
  }

  void run_reduction_along_points(int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      size_t lanes = points_.strip(at, end - at);
      points_.set_lanes(at, lanes);
      for (auto& accumulator : accumulators_) accumulator->reset(lanes);
      for (int64_t term = 0; term < terms_.points(); ++term) {
        terms_.set_uniform(term);
        body_.run(lanes);
        for (size_t i = 0; i < accumulators_.size(); ++i)
          accumulators_[i]->add(terms_of(op_.outputs[i], lanes));
      }
      finish(at, lanes);
      at += static_cast<int64_t>(lanes);
    }
  }

  Terms terms_of(const OpOutput& output, size_t lanes) {
    slots_.clear();
    if (output.monoid->kind == MonoidKind::kSum) body_.open_overflows(output.values[0], lanes);
    for (ValueId value : output.values) slots_.push_back(&body_.value(value));
    Terms terms{slots_, nullptr, nullptr, lanes};
    if (op_.predicate.valid()) {
      const LaneVector& predicate = body_.value(op_.predicate);
      terms.active = predicate.as<uint8_t>();
      terms.active_bounds = predicate.bounds();
    }
    return terms;
  }

  void finish(int64_t point, size_t lanes) {
    for (size_t i = 0; i < accumulators_.size(); ++i)
      store(op_.outputs[i].tensor, accumulators_[i]->finish(), point, lanes);
  }

  void store(TensorId id, const LaneVector& lanes, int64_t at, size_t count) {
    TensorValue& tensor = context_.tensors[id.index()];
    size_t width = byte_size(lanes.type());
    std::memcpy(tensor.array.bytes().data() + static_cast<size_t>(at) * width, lanes.data(), count * width);
    if (lanes.bounds() != nullptr) std::copy_n(lanes.bounds(), count, tensor.bounds.begin() + at);
  }

  const Context& context_;
  const TensorOp& op_;
  LaneIndexEvaluator indices_;
  BodyRunner body_;
  AxisBox points_, terms_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;
  std::vector<LaneVector*> slots_;
};

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, std::span<const int64_t> symbols, const InterpreterOptions& options)
      : kernel_(kernel),
        options_(options),
        tensors_(kernel.tensors.size()),
        context_{kernel, symbols, tensors_, {}} {
    context_.rules.bounds.flush = kernel.allows(kFlush);
    context_.rules.contraction = options.contraction_is_open;
    if (kernel.groups.empty()) {
      for (uint32_t i = 0; i < kernel.ops.size(); ++i) order_.push_back(TensorOpId(i));
    } else {
      for (const Group& group : kernel.groups)
        order_.insert(order_.end(), group.ops.begin(), group.ops.end());
    }
    find_last_uses();
  }

  Result<std::vector<BoundedArray>> run(std::span<const Array* const> inputs) {
    TENON_TRY(load(inputs));
    for (size_t step = 0; step < order_.size(); ++step) {
      const TensorOp& op = kernel_.ops[order_[step]];
      if (op.outputs.empty()) continue;
      TENON_TRY(run_op(op));
      release(step);
    }
    return results();
  }

 private:
  // After its last use a local's memory is given back.
  void find_last_uses() {
    last_use_.assign(tensors_.size(), 0);
    for (size_t step = 0; step < order_.size(); ++step) {
      const TensorOp& op = kernel_.ops[order_[step]];
      for (const Instruction& instruction : op.body)
        if (instruction.op == Opcode::kRead) last_use_[instruction.tensor.index()] = step;
      for (const OpOutput& output : op.outputs) last_use_[output.tensor.index()] = step;
    }
    dying_.resize(order_.size());
    for (uint32_t i = 0; i < tensors_.size(); ++i)
      if (kernel_.tensors[TensorId(i)].role == Tensor::Role::kLocal && !order_.empty())
        dying_[last_use_[i]].push_back(TensorId(i));
  }

  void release(size_t step) {
    for (TensorId id : dying_[step]) {
      TensorValue& tensor = tensors_[id.index()];
      alive_bytes_ -= byte_count(tensor);
      tensor = TensorValue();
    }
  }

  static int64_t byte_count(const TensorValue& tensor) {
    return static_cast<int64_t>(tensor.array.bytes().size() + tensor.bounds.size() * sizeof(double));
  }

  static void set_strides(TensorValue& tensor) {
    tensor.strides.assign(tensor.array.rank(), 1);
    for (size_t d = tensor.array.rank(); d-- > 1;)
      tensor.strides[d - 1] = tensor.strides[d] * tensor.array.extent(d);
  }

  Result<bool> load(std::span<const Array* const> inputs) {
    TENON_CHECK(inputs.size() == kernel_.parameters.size(), "not one array for each parameter");
    for (size_t i = 0; i < inputs.size(); ++i) {
      TensorId id = kernel_.parameters[i].input;
      if (!id.valid()) continue;
      TENON_CHECK(inputs[i] != nullptr, "an input has no array");
      TensorValue& tensor = tensors_[id.index()];
      tensor.array = *inputs[i];
      if (tensor.array.type() != kernel_.tensors[id].element)
        tensor.array.reinterpret(kernel_.tensors[id].element);
      tensor.present = true;
      set_strides(tensor);
      TENON_TRY(count_bytes(byte_count(tensor)));
      if (tensor.array.type() == ElementType::kBool) normalize_bools(tensor.array);
    }
    return true;
  }

  // A byte other than 0 is true.
  static void normalize_bools(Array& array) {
    for (uint8_t& element : array.as<uint8_t>()) element = element != 0;
  }

  Result<bool> count_bytes(int64_t bytes) {
    alive_bytes_ += bytes;
    if (alive_bytes_ > options_.max_bytes)
      return fail(
          ErrorKind::kRefused,
          fmt::format("the interpreter would need more than {} bytes for tensors", options_.max_bytes));
    return true;
  }

  Result<bool> allocate(TensorId id) {
    const Tensor& declared = kernel_.tensors[id];
    std::vector<int64_t> shape;
    for (IndexId extent : declared.shape) shape.push_back(value_of(context_, extent));
    TENON_TRY_ASSIGN(int64_t bytes, checked_byte_count(declared.element, shape));
    TENON_TRY_ASSIGN(int64_t count, checked_element_count(shape));
    if (count > options_.max_bytes) return count_bytes(options_.max_bytes);
    TENON_TRY(count_bytes(bytes + count * static_cast<int64_t>(sizeof(double))));
    TensorValue& tensor = tensors_[id.index()];
    TENON_TRY_ASSIGN(tensor.array, Array::zeros(declared.element, std::move(shape)));
    tensor.bounds.assign(static_cast<size_t>(count), 0.0);
    set_strides(tensor);
    return true;
  }

  // Points of the domain, or more than any limit.
  int64_t work_of(const TensorOp& op) const {
    int64_t points = 1;
    for (const auto* axes : {&op.parallel, &op.reduction})
      for (int64_t extent : extents_of(context_, *axes))
        if (__builtin_mul_overflow(points, std::max<int64_t>(extent, 1), &points)) return INT64_MAX;
    return points;
  }

  Result<bool> run_op(const TensorOp& op) {
    int64_t work = work_of(op);
    if (work > options_.max_points - points_)
      return fail(
          ErrorKind::kRefused,
          fmt::format("the interpreter would compute more than {} elements and terms", options_.max_points));
    points_ += work;
    for (const OpOutput& output : op.outputs) TENON_TRY(allocate(output.tensor));
    int64_t points = 1;
    for (int64_t extent : extents_of(context_, op.parallel)) points *= extent;
    if (points > 0) run_on_threads(op, points, work);
    for (const OpOutput& output : op.outputs) {
      TensorValue& tensor = tensors_[output.tensor.index()];
      tensor.present = true;
      if (std::all_of(tensor.bounds.begin(), tensor.bounds.end(), [](double bound) { return bound == 0; })) {
        alive_bytes_ -= static_cast<int64_t>(tensor.bounds.size() * sizeof(double));
        tensor.bounds = {};
      }
    }
    return true;
  }

  // Points are independent, so that their distribution over threads shows nowhere.
  void run_on_threads(const TensorOp& op, int64_t points, int64_t work) {
    unsigned most =
        options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    int64_t threads = std::min({static_cast<int64_t>(most), work / kThreadPoints + 1, points});
    if (threads <= 1) {
      OpRunner(context_, op).run(0, points);
      return;
    }
    int64_t chunk = std::max<int64_t>(1, points / (threads * 8));
    std::atomic<int64_t> next = 0;
    auto work_through = [&] {
      OpRunner runner(context_, op);
      for (int64_t begin; (begin = next.fetch_add(chunk)) < points;)
        runner.run(begin, std::min(points, begin + chunk));
    };
    std::vector<std::thread> helpers;
    for (int64_t i = 1; i < threads; ++i) helpers.emplace_back(work_through);
    work_through();
    for (std::thread& helper : helpers) helper.join();
  }

  std::vector<BoundedArray> results() {
    std::vector<BoundedArray> results(kernel_.parameters.size());
    for (size_t i = 0; i < results.size(); ++i) {
      TensorId id = kernel_.parameters[i].output;
      if (!id.valid()) continue;
      TENON_CHECK(tensors_[id.index()].present, "a result has no value");
      results[i] = {std::move(tensors_[id.index()].array), std::move(tensors_[id.index()].bounds)};
    }
    return results;
  }

  const Kernel& kernel_;
  const InterpreterOptions& options_;
  std::vector<TensorValue> tensors_;
  Context context_;
  std::vector<TensorOpId> order_;
  std::vector<size_t> last_use_;
  std::vector<std::vector<TensorId>> dying_;
  int64_t alive_bytes_ = 0;
  int64_t points_ = 0;
};

}  // namespace

Result<std::vector<BoundedArray>> interpret(const Kernel& kernel, std::span<const int64_t> symbols,
                                            std::span<const Array* const> inputs,
                                            const InterpreterOptions& options) {
  return Interpreter(kernel, symbols, options).run(inputs);
}

}  // namespace tenon::ir
