// Tile IR: what one thread block does. Values are tiles: an element for every position on a set of named tile
// axes, spread over the block's threads by a layout; a tile without axes is one value that all threads hold.
// Operations of the Body stage apply elementwise, an operand with fewer axes broadcast along the others.
// Control is structured: loops and conditionals hold regions. Meaning is sequential until `lower-async`.
//
// A tile module is one variant of one step: one launch or more, built from the frozen tensor kernel, whose
// symbols it shares by id. It owns all else, so variants are lowered by several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/body.h"
#include "ir/index.h"
#include "ir/layout.h"
#include "ir/monoid.h"
#include "ir/tensor.h"
#include "support/ids.h"

namespace tenon::ir {

struct TileOp;
struct TileValue;
struct Region;
struct Buffer;
using TileOpId = Id<TileOp>;
// Tile values are what IndexKind::kValue atoms of a tile module name; they must be of type index.
using TileValueId = Id<TileValue>;
using RegionId = Id<Region>;
using BufferId = Id<Buffer>;
// Places in the source; operations that were made of the same share one.
using Places = std::vector<Span>;
using PlacesId = Id<Places>;

struct TileAxis {
  enum class Kind : uint8_t {
    kDomain,  // an axis of the tensor kernel; none is left after build-nest
    kGrid,    // a coordinate of the block in the grid
    kLoop,    // the counter of a loop
    kTile,    // a position in a tile
  };
  std::string name;
  Kind kind = Kind::kTile;
  // kTile: the number of positions.
  int64_t extent = 0;
  // kGrid, kLoop: the number of values, from 0; mentions symbols (and for kLoop grid axes and outer loops).
  IndexId count;
};

struct TileType {
  ElementType element = ElementType::kF32;
  // Ascending; all of kind kTile.
  AxisList axes;
  // Over exactly these axes; absent before assign-layouts, and for a tile without axes.
  SharedLayout layout;
};

struct TileValue {
  TileType type;
  // The operation whose result it is; invalid for a region's argument.
  TileOpId definition;
};

// A buffer in shared memory.
struct Buffer {
  std::string name;
  ElementType element = ElementType::kF32;
  // Positions per dimension, the last contiguous.
  std::vector<int64_t> shape;
  // Elements from one step of each dimension to the next; padding shows here.
  std::vector<int64_t> strides;
  // The swizzle: bits of the element offset that are added by exclusive or to lower ones:
  // offset ^= ((offset >> from) & (2^bits - 1)) << to. No swizzle where bits is 0.
  uint8_t swizzle_bits = 0;
  uint8_t swizzle_from = 0;
  uint8_t swizzle_to = 0;
  // Bytes from the start of the block's shared memory; set by allocate-shared.
  int64_t offset = -1;

  int64_t element_count() const;
  int64_t byte_count() const { return element_count() * byte_size(element); }
};

struct TileOp {
  Opcode op = Opcode::kConst;
  bool approx = false;
  // kStore to a buffer, set by plan-async: what is stored comes from a load that has no other use, and may
  // arrive as late as the first read behind it.
  bool async = false;
  // kTileReduce of a sum of floats: there are two operands, and the terms are their products, joined by
  // multiply-adds within a thread.
  bool product = false;
  // kLoop: its iterations are written out; its count is then a constant.
  bool unroll = false;
  // Set by vectorize. kLoad, kStore, kCopyAsync: elements moved by one instruction, consecutive registers and
  // addresses. Comparisons: consecutive registers that are known to compare alike.
  int32_t vector = 1;
  // kLoop: the slices that its asynchronous stores hold in shared memory at once; 0 where plan-async decides.
  int32_t stages = 0;
  // kConst. kCopyWait: the groups of copies that may still be under way.
  uint64_t bits = 0;
  // kIndex: the expression, over symbols, axes of any kind and index values.
  IndexId index;
  // kLoad, kStore: exactly one of tensor and buffer. kCopyAsync: both.
  TensorId tensor;
  BufferId buffer;
  // kLoop: its counter.
  AxisId axis;
  SmallVector<TileValueId, 4> operands;
  SmallVector<TileValueId, 2> results;
  SmallVector<RegionId, 2> regions;
  // One a dimension of the tensor or, for an access to shared memory alone, of the buffer.
  IndexList subscripts;
  // kCopyAsync: one a dimension of the buffer, over the tile axes that `subscripts` mention.
  IndexList target_subscripts;
  // kTileReduce.
  SharedMonoid monoid;
  AxisList reduced;
  // Where it comes from in the source; invalid where nothing is known.
  PlacesId places;
};

struct Region {
  // kLoop: the carried values.
  std::vector<TileValueId> arguments;
  // The last is kYield.
  std::vector<TileOpId> ops;
};

// One launch.
struct TileKernel {
  std::string name;
  // Threads of a block: warps * 32.
  int32_t warps = 1;
  // The grid is one-dimensional: the product of the counts; the first axis varies fastest.
  std::vector<AxisId> grid;
  RegionId body;
  // Offsets and coordinates fit 32 bits; the variant's guard says so.
  bool narrow_index = false;
};

struct TileModule {
  std::string name;
  IndexPool index;
  Store<Symbol> symbols;
  // The kernel's tensors under their ids, then this variant's workspace.
  Store<Tensor> tensors;
  // The kernel's axes under their ids (kDomain), then this module's.
  Store<TileAxis, Axis> axes;
  Store<TileValue> values;
  Store<TileOp> ops;
  Store<Region> regions;
  Store<Buffer> buffers;
  Store<Places> places;
  // Of values that have one in the text of a module; most have none.
  SideTable<TileValue, std::string> value_names;
  std::vector<TileKernel> kernels;
  // Homes: layouts over disjoint sets of tile axes; a value has the projection of one of them unless an
  // operation needs another. Set by build-nest from the schedule.
  std::vector<Layout> homes;
  // What the variant's guard promises, for analyses: expressions over symbols and a power of two that divides
  // each, expressions and the least value of each, and the byte alignment of tensors' first elements.
  std::vector<std::pair<IndexId, int64_t>> divisible;
  std::vector<std::pair<IndexId, int64_t>> bounded;
  SideTable<Tensor, int64_t> tensor_alignment;
  // Input and result tensors of inout parameters, which are the same memory.
  std::vector<std::pair<TensorId, TensorId>> same_memory;
  // Shared memory of a block for buffers in bytes, the largest of the launches; set by allocate-shared.
  int64_t shared_bytes = 0;
};

// The chains of multiply-adds in which a thread joins so many products of a kTileReduce: one for every
// sixteen, at most four. Term r goes to chain r modulo their number.
size_t product_chains(size_t terms);

// As for a kernel.
bool by_value(const TileModule& module, TensorId tensor);

// The operations of a kernel, those in its regions too.
std::vector<TileOpId> reachable_ops(const TileModule& module, const TileKernel& kernel);

// Where an operation comes from; empty where nothing is known.
std::span<const Span> places(const TileModule& module, const TileOp& op);
// Where a launch comes from.
std::span<const Span> first_places(const TileModule& module, const TileKernel& kernel);

// Bytes from the start of shared memory to the end of the last buffer that a launch uses.
int64_t buffer_bytes(const TileModule& module, const TileKernel& kernel);

// The type of the tile that a load, store or asynchronous copy moves: over the axes of its value and of its
// subscripts, in the layout of the home that holds them, if a home does.
TileType accessed_type(const TileModule& module, const TileOp& op);

// A tile module with the kernel's symbols, tensors and axes, and no launches.
TileModule make_tile_module(const Kernel& kernel, std::string name);

}  // namespace tenon::ir
