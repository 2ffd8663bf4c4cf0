// Reductions: lifted states, accumulators, results.
#include <algorithm>
#include <span>

#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::Opcode;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileValueId;
using ir::ValueId;

void Nest::build_reduction(Context& main, TensorOpId id, const std::vector<uint32_t>& serial) {
  const TensorOp& op = kernel_.ops[id];
  for (const Schedule::Contraction& contraction : schedule_.contractions) {
    if (contraction.op != id) continue;
    build_contraction(main, contraction, serial);
    return;
  }
  std::vector<TileValueId> states;
  if (serial.empty()) {
    states = masked_lifts(main, id);
  } else {
    std::vector<AxisId> steps = reduced_among(step_axes_, op);
    states = in_loops(main, serial, identities(main, op),
                      [&](Context& inner, std::span<const TileValueId> carried) {
                        return merged(inner, op, carried, reduced(inner, op, masked_lifts(inner, id), steps));
                      });
  }
  states = reduced(main, op, std::move(states), reduced_among(tile_axes_, op));
  size_t next = 0;
  for (const ir::OpOutput& output : op.outputs) {
    size_t slots = output.monoid->slots();
    finish(main, op, output, std::span(states).subspan(next, slots));
    next += slots;
  }
}

std::vector<TileValueId> Nest::reduced(Context& context, const TensorOp& op, std::vector<TileValueId> states,
                                       const std::vector<AxisId>& axes) {
  if (axes.empty()) return states;
  std::vector<TileValueId> results;
  for (const ir::OpOutput& output : op.outputs) {
    auto first = states.begin() + static_cast<ptrdiff_t>(results.size());
    std::vector<TileValueId> own(first, first + static_cast<ptrdiff_t>(output.monoid->slots()));
    spread(context, *output.monoid, own, axes);
    own = context.builder->reduce(output.monoid, own, axes);
    results.insert(results.end(), own.begin(), own.end());
  }
  return results;
}

void Nest::spread(Context& context, const ir::Monoid& monoid, std::vector<TileValueId>& state,
                  std::span<const AxisId> reduced) {
  std::set<AxisId> all(reduced.begin(), reduced.end());
  for (TileValueId value : state) {
    const ir::AxisList& axes = module_.values[value].type.axes;
    all.insert(axes.begin(), axes.end());
  }
  for (TileValueId value : state)
    if (module_.values[value].type.axes.size() == all.size()) return;
  TileValueId everywhere = splat(context, {ElementType::kBool, 1}, {all.begin(), all.end()});
  const ir::Constant& identity = monoid.identity[0];
  state[0] = context.builder->elementwise(Opcode::kSelect, identity.type,
                                          {everywhere, state[0], constant(context, identity)});
}

std::vector<AxisId> Nest::reduced_among(const std::vector<AxisId>& axes, const TensorOp& op) const {
  std::vector<AxisId> reduced;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (!axes[d].valid()) continue;
    const ir::AxisList& dim = schedule_.dims[d].axes;
    if (std::find(op.reduction.begin(), op.reduction.end(), dim.front()) != op.reduction.end())
      reduced.push_back(axes[d]);
  }
  std::sort(reduced.begin(), reduced.end());
  return reduced;
}

void Nest::finish(Context& main, const TensorOp& op, const ir::OpOutput& output,
                  std::span<const TileValueId> state) {
  if (states_ != nullptr) {
    store_states(main, op, output, state);
    return;
  }
  ValueId wanted[] = {output.monoid->projected};
  main.tensors[output.tensor] = main.builder->inline_body(output.monoid->project, state, wanted)[0];
}

std::vector<TileValueId> Nest::identities(Context& context, const TensorOp& op) {
  std::vector<AxisId> axes = reduced_among(tile_axes_, op);
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (!tile_axes_[d].valid()) continue;
    if (std::find(op.parallel.begin(), op.parallel.end(), schedule_.dims[d].axes.front()) !=
        op.parallel.end())
      axes.push_back(tile_axes_[d]);
  }
  std::sort(axes.begin(), axes.end());
  std::vector<TileValueId> values;
  for (const ir::OpOutput& output : op.outputs)
    for (const ir::Constant& identity : output.monoid->identity)
      values.push_back(splat(context, identity, axes));
  return values;
}

TileValueId Nest::splat(Context& context, const ir::Constant& constant, std::vector<AxisId> axes) {
  ir::TileOp op;
  op.op = Opcode::kConst;
  op.bits = constant.bits;
  return context.builder->result(context.builder->append(std::move(op)), constant.type, std::move(axes));
}

std::vector<TileValueId> Nest::merged(Context& context, const TensorOp& op, std::span<const TileValueId> left,
                                      std::span<const TileValueId> right) {
  std::vector<TileValueId> result;
  size_t next = 0;
  for (const ir::OpOutput& output : op.outputs) {
    size_t slots = output.monoid->slots();
    std::vector<TileValueId> arguments(left.begin() + next, left.begin() + next + slots);
    arguments.insert(arguments.end(), right.begin() + next, right.begin() + next + slots);
    auto values = context.builder->inline_body(output.monoid->merge, arguments, output.monoid->merged);
    result.insert(result.end(), values.begin(), values.end());
    next += slots;
  }
  return result;
}

std::vector<TileValueId> Nest::masked_lifts(Context& context, TensorOpId id) {
  const TensorOp& op = kernel_.ops[id];
  TileValueId mask = domain_mask(context, op.reduction);
  if (op.predicate.valid()) mask = both(context, mask, body_value(context, id, op.predicate));
  std::vector<TileValueId> lifts;
  for (const ir::OpOutput& output : op.outputs) {
    for (size_t slot = 0; slot < output.values.size(); ++slot) {
      TileValueId value = body_value(context, id, output.values[slot]);
      lifts.push_back(identity_outside(context, value, mask, output.monoid->identity[slot]));
    }
  }
  return lifts;
}

}  // namespace tenon::passes
