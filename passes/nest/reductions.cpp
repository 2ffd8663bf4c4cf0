// Reductions: lifted states, accumulators, results.
#include <algorithm>

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
  std::vector<AxisId> reduced = reduced_tile_axes(op);
  std::vector<TileValueId> state;
  if (serial.empty()) {
    state = masked_lifts(main, id);
  } else {
    std::vector<TileValueId> initial = identities(main, op);
    state = in_loops(main, serial, initial, [&](Context& inner, std::span<const TileValueId> carried) {
      return merged(inner, op, carried, masked_lifts(inner, id));
    });
  }
  size_t next = 0;
  for (const ir::OpOutput& output : op.outputs) {
    size_t slots = output.monoid->slots();
    std::span<const TileValueId> own(state.data() + next, slots);
    next += slots;
    std::vector<TileValueId> result(own.begin(), own.end());
    if (!reduced.empty()) {
      spread(main, *output.monoid, result, reduced);
      result = main.builder->reduce(*output.monoid, result, reduced);
    }
    finish(main, op, output, result);
  }
}

void Nest::spread(Context& context, const ir::Monoid& monoid, std::vector<TileValueId>& state,
                  const std::vector<AxisId>& reduced) {
  std::set<AxisId> all(reduced.begin(), reduced.end());
  for (TileValueId value : state) {
    const std::vector<AxisId>& axes = module_.values[value].type.axes;
    all.insert(axes.begin(), axes.end());
  }
  for (TileValueId value : state)
    if (module_.values[value].type.axes.size() == all.size()) return;
  TileValueId everywhere = splat(context, {ElementType::kBool, 1}, {all.begin(), all.end()});
  const ir::Constant& identity = monoid.identity[0];
  state[0] = context.builder->elementwise(Opcode::kSelect, identity.type,
                                          {everywhere, state[0], constant(context, identity)});
}

std::vector<AxisId> Nest::reduced_tile_axes(const TensorOp& op) const {
  std::vector<AxisId> axes;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (!tile_axes_[d].valid()) continue;
    const std::vector<AxisId>& dim = schedule_.dims[d].axes;
    if (std::find(op.reduction.begin(), op.reduction.end(), dim.front()) != op.reduction.end())
      axes.push_back(tile_axes_[d]);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
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
  std::vector<AxisId> axes = reduced_tile_axes(op);
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
                                      const std::vector<TileValueId>& right) {
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
