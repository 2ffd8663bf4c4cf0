// The builder behind build-nest. Its parts stand in files of their own: launch.cpp, loops.cpp,
// reductions.cpp, outside.cpp (identities outside the domain), staging.cpp (copies to shared memory,
// contractions), kept_rows.cpp (rows in shared memory) and values.cpp (bodies as tiles).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "ir/tile.h"
#include "ir/tile_builder.h"
#include "passes/analysis/row_reads.h"
#include "passes/schedule.h"
#include "passes/split.h"

namespace tenon::passes {

// A place in the nest where values are computed: for every axis of the group that is bound there its
// position, and what is known to be computed already. A child context sees what its parents hold.
struct Context {
  ir::TileBuilder* builder = nullptr;
  Context* parent = nullptr;
  std::map<ir::AxisId, ir::IndexId> positions;
  // Per loop dimension: its position, absent where it is not bound here.
  std::map<uint32_t, ir::IndexId> dim_positions;
  // The bool tile that is true inside the domain, for dimensions that a tile may overrun.
  std::map<uint32_t, ir::TileValueId> masks;
  std::map<ir::IndexId, ir::TileValueId> index_values;
  std::map<std::pair<ElementType, uint64_t>, ir::TileValueId> constants;
  // Of the bodies of operations.
  std::map<ir::TensorOpId, SideTable<ir::Instruction, ir::TileValueId>> body_values;
  std::map<ir::TensorId, ir::TileValueId> tensors;
  // Reads without predicate.
  std::map<std::pair<ir::TensorId, ir::IndexList>, ir::TileValueId> loads;
};

class Nest {
 public:
  // All but the pointer to `states` outlive it; that is null unless the schedule splits a dimension.
  Nest(ir::TileModule& module, const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule,
       const PartialStates* states);

  void build(std::string name);

 private:
  // ---- launch.cpp ----
  // Tile and grid axes of the dimensions, and the positions that they give; leaves the grid in the launch.
  void place_dims(Context& main);
  // Whether a tile of the dimension that a loop runs over is taken in steps, an axis of its own in registers:
  // a reduction merges them in each iteration, so that a thread carries one step's states instead of a
  // tile's.
  bool has_steps(uint32_t d) const;
  // The position within a tile.
  ir::IndexId place_in_tile(uint32_t d);
  // The number of parts of the split dimension.
  ir::IndexId parts() const;
  void store_states(Context& context, const ir::TensorOp& op, const ir::OpOutput& output,
                    std::span<const ir::TileValueId> state);

  // ---- loops.cpp ----
  ir::IndexId dim_extent(const LoopDim& dim);
  std::string dim_name(const LoopDim& dim) const;
  // Gives the axes of a dimension their positions, from the flattened one.
  void bind(Context& context, uint32_t d, ir::IndexId position);
  // Whether a tile of the dimension may reach beyond its extent.
  bool overruns(uint32_t d);
  std::vector<uint32_t> unbound_dims(const Context& context, const ir::TensorOp& op) const;
  static bool bound(const Context& context, uint32_t d);
  // Runs `body` inside loops over `dims`, carrying `initial`.
  using InLoops = std::function<std::vector<ir::TileValueId>(Context&, std::span<const ir::TileValueId>)>;
  std::vector<ir::TileValueId> in_loops(Context& outer, std::span<const uint32_t> dims,
                                        std::span<const ir::TileValueId> initial, const InLoops& body);
  void build_op(Context& main, ir::TensorOpId id);
  void store_outputs(Context& context, const ir::TensorOp& op);
  std::optional<ir::IndexId> dim_position(const Context& context, uint32_t d) const;
  ir::IndexId position(const Context& context, ir::AxisId axis) const;

  // ---- reductions.cpp ----
  void build_reduction(Context& main, ir::TensorOpId id, const std::vector<uint32_t>& serial);
  // Those among `axes`, one for each dimension, that belong to the reduced ones.
  std::vector<ir::AxisId> reduced_among(const std::vector<ir::AxisId>& axes, const ir::TensorOp& op) const;
  // The states of all results, reduced along `axes`.
  std::vector<ir::TileValueId> reduced(Context& context, const ir::TensorOp& op,
                                       std::vector<ir::TileValueId> states,
                                       const std::vector<ir::AxisId>& axes);
  // Gives the state to be reduced a value over all axes of the others and the reduced ones: terms that do not
  // depend on a reduced axis are as many as it has positions.
  void spread(Context& context, const ir::Monoid& monoid, std::vector<ir::TileValueId>& state,
              std::span<const ir::AxisId> reduced);
  // The reduction's result from its final state; the state itself goes to workspace where a dimension is
  // split.
  void finish(Context& main, const ir::TensorOp& op, const ir::OpOutput& output,
              std::span<const ir::TileValueId> state);
  // The identity of each slot of each result, as tiles over all tile axes of the operation, so that each
  // thread accumulates its own positions.
  std::vector<ir::TileValueId> identities(Context& context, const ir::TensorOp& op);
  ir::TileValueId splat(Context& context, const ir::Constant& constant, std::vector<ir::AxisId> axes);
  std::vector<ir::TileValueId> merged(Context& context, const ir::TensorOp& op,
                                      std::span<const ir::TileValueId> left,
                                      std::span<const ir::TileValueId> right);
  // The lifted states of all results, the identity where the domain or the predicate leaves elements out.
  std::vector<ir::TileValueId> masked_lifts(Context& context, ir::TensorOpId id);

  // ---- outside.cpp ----
  // `value` where the mask, if there is one, is true, and `identity` where it is false: by a select, or by
  // what the load behind the value gives outside its mask.
  ir::TileValueId identity_outside(Context& context, ir::TileValueId value, ir::TileValueId mask,
                                   const ir::Constant& identity);
  bool load_gives_identity(ir::TileValueId value, ir::TileValueId mask, const ir::Constant& identity);
  // A constant that is there before everything else of the launch.
  ir::TileValueId first_constant(const ir::Constant& constant);

  // ---- staging.cpp ----
  void build_contraction(Context& main, const Schedule::Contraction& contraction,
                         const std::vector<uint32_t>& serial);
  const StagedRead& staged_read(ir::TensorOpId op, ir::ValueId value) const;
  // A tile on its way to a new shared buffer: what goes where.
  struct StagedTile {
    const StagedRead* staged;
    ir::BufferId buffer;
    ir::IndexList subscripts;
    ir::TileValueId value;
  };
  // The tile of a body value, in the copy's own thread mapping; elements outside the domain are 0.
  StagedTile copy_tile(Context& context, const StagedRead& staged);
  // A read of a map that runs across the main mapping: copied to shared memory, taken out in the main
  // mapping.
  ir::TileValueId build_staged_read(Context& context, const StagedRead& staged);
  // The fragment of a staged tile at one step of the serial dimension, in the main mapping.
  ir::TileValueId load_staged(ir::TileBuilder& builder, const StagedTile& tile, uint32_t serial,
                              ir::AxisId step);

  // ---- kept_rows.cpp ----
  // The dimension whose rows are kept in shared memory, if there is one.
  std::optional<uint32_t> kept_dim() const;
  // A tile of a row that an earlier loop has kept; invalid where none has.
  ir::TileValueId load_kept(Context& context, const ir::Instruction& read);
  // Brings a tile of a row to shared memory, if later loops want it.
  void keep(Context& context, const ir::Instruction& read, ir::TileValueId value);

  // ---- values.cpp ----
  ir::TileValueId find_tensor(const Context& context, ir::TensorId tensor) const;
  // The outermost context in which all of an expression's axes have positions.
  Context& hoisted(Context& context, std::span<const ir::IndexId> indices);
  ir::TileValueId constant(Context& context, const ir::Constant& constant);
  ir::TileValueId index_value(Context& context, ir::IndexId index);
  ir::TileValueId both(Context& context, ir::TileValueId a, ir::TileValueId b);
  // True inside the domain of the dimensions that hold `axes`; invalid where no tile overruns them.
  ir::TileValueId domain_mask(Context& context, std::span<const ir::AxisId> axes);
  ir::TileValueId dim_mask(Context& context, uint32_t d);
  // A body's index expression at the context's positions, its values replaced by tiles.
  ir::IndexId placed(Context& context, ir::TensorOpId id, ir::IndexId index);
  ir::TileValueId body_value(Context& context, ir::TensorOpId id, ir::ValueId value);
  std::optional<ir::TileValueId> known(const Context& context, ir::TensorOpId id, ir::ValueId value) const;
  ir::TileValueId build_instruction(Context& context, ir::TensorOpId id, ir::ValueId value);
  ir::TileValueId build_read(Context& context, ir::TensorOpId id, ir::ValueId value);
  // The domain axes that a subscript depends on, through body values too.
  void collect_axes(ir::TensorOpId id, ir::IndexId index, std::vector<ir::AxisId>& axes) const;

  const ir::Kernel& kernel_;
  const ir::Group& group_;
  const Schedule& schedule_;
  const PartialStates* states_;
  ir::TileModule& module_;
  std::map<ir::TensorId, ir::TensorOpId> producers_;
  // The tensors that the group stores.
  std::set<ir::TensorId> external_;
  // Per dimension, absent where they have a single position.
  std::vector<ir::AxisId> tile_axes_;
  std::vector<ir::AxisId> step_axes_;
  // The block's part of a split dimension.
  ir::AxisId part_;
  // What is kept in shared memory, and where, once a loop has brought it there.
  std::vector<RowRead> kept_reads_;
  std::map<std::pair<ir::TensorId, ir::IndexList>, ir::BufferId> kept_buffers_;
  // Inside the copy of a staged value, which is then read itself.
  bool in_copy_ = false;
};

}  // namespace tenon::passes
