// Emits one launch of a tile module as an LLVM function. A tile is a vector of LLVM values, one a register of
// its layout; operations are emitted one after the other, all registers of each, so that independent loads
// stand together.
//
// Split over files by what is emitted: index.cpp (index expressions), memory.cpp (loads, stores, addresses),
// elementwise.cpp and casts.cpp (scalar operations), reduce.cpp (across threads), control.cpp (loops, entry).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/line_info.h"
#include "ir/tile.h"

namespace tenon::codegen {

using Registers = std::vector<llvm::Value*>;

class Emitter {
 public:
  Emitter(ir::TileModule& module, const ir::TileKernel& kernel, llvm::Module& llvm_module,
          const Options& options, LineInfo* line_info);

  // Emits the function into the LLVM module.
  Entry run();

 private:
  // ---- control.cpp ----
  void emit_region(ir::RegionId region);
  void emit_op(ir::TileOpId id);
  void emit_loop(const ir::TileOp& op);
  void emit_unrolled(const ir::TileOp& op);
  // Bytes that a thread loads from memory in one iteration.
  int64_t bytes_in_flight(ir::RegionId region) const;
  // Four vectors of 16 bytes: with blocks of 256 threads, two of them on a multiprocessor, 32 KB.
  static constexpr int64_t kEnoughInFlight = 64;
  // A loop that runs once or not at all.
  void emit_conditional(const ir::TileOp& op);
  // What a loop carries into its first iteration; what its region yields.
  std::vector<Registers> initial(const ir::TileOp& loop);
  std::vector<Registers> next(const ir::TileOp& loop);
  void emit_mma(const ir::TileOp& op);
  // The entry with its parameters, around the code of the draft, which has none.
  void finish_function(llvm::Function* draft);
  void emit_grid();
  // The operands of the region's kYield.
  std::span<const ir::TileValueId> yielded(ir::RegionId region) const;

  // ---- slices.cpp ----
  // The length of the run of operations at the front of `ops` that emit_slices takes, 0 where it takes none;
  // and how many were looked at, among which no other run starts then.
  struct Run {
    size_t length = 0;
    size_t scanned = 0;
  };
  Run sliced_run(std::span<const ir::TileOpId> ops) const;
  // The registers of an operation, or 0 where it has to be emitted as a whole.
  int32_t sliced_registers(const ir::TileOp& op) const;
  // Emits operations a slice of their registers after the other, so that what is read from memory for one
  // slice is no longer held when the next is read.
  void emit_slices(std::span<const ir::TileOpId> ops);
  // Of so many registers those that are emitted now, from the first to before the second.
  std::pair<int32_t, int32_t> emitted_now(int32_t registers) const;

  // ---- launch_bounds.cpp ----
  // Blocks of which a multiprocessor has to hold at least so many; 0 where ptxas may choose.
  int32_t wanted_blocks() const;
  // What is in a region: products of fragments, loops, those among them with enough on its way in each
  // thread, and reads of memory whose elements have addresses of their own.
  struct Demand {
    bool products = false;
    bool repeats = false;
    bool streams = false;
    bool scattered = false;
  };
  Demand demand_of(ir::RegionId region) const;

  // ---- values ----
  int32_t register_count(ir::TileValueId value) const;
  // A value's register where it meets register `reg` of a tile of type `at`.
  llvm::Value* value_at(ir::TileValueId value, const ir::TileType& at, int32_t reg);
  llvm::Value* register_of(ir::TileValueId value, int32_t reg);
  void set(ir::TileValueId value, Registers registers);
  llvm::Type* type_of(ElementType element);
  // As a value is kept in memory: a bool is a byte.
  llvm::Type* memory_type(ElementType element);
  llvm::Constant* constant(ElementType element, uint64_t bits);
  // The index expression of a value that is one, invalid otherwise.
  ir::IndexId index_of(ir::TileValueId value) const;

  // ---- index.cpp ----
  // An expression in one thread: the parts shared by all registers come from caches, tile axes take the
  // thread's position plus the register's offset in `layout`; `layout` may be null where no tile axis is
  // mentioned.
  llvm::Value* emit_index(ir::IndexId index, const ir::Layout* layout, int32_t reg);
  // Whether the expression is not 0.
  llvm::Value* emit_condition(ir::IndexId condition, const ir::Layout* layout, int32_t reg);
  llvm::Value* emit_index_atom(ir::IndexId atom, const ir::Layout* layout, int32_t reg);
  llvm::Value* emit_division(const ir::IndexNode& node, const ir::Layout* layout, int32_t reg,
                             llvm::Type* type);
  llvm::Value* host_value(ir::IndexId index);
  llvm::Value* thread_position(ir::AxisId axis, const ir::Layout& layout);
  // 32 bits where the launch is narrow and the expression reads no data; else 64.
  llvm::Type* index_type(ir::IndexId index);
  llvm::Value* to_type(llvm::Value* value, llvm::Type* type);
  bool is_host(ir::IndexId index) const;
  bool mentions_tile_axis(ir::IndexId index) const;
  bool mentions_value(ir::IndexId index) const;
  bool nonnegative(ir::IndexId index) const;
  bool is_extent(ir::IndexId index) const;
  struct Split {
    // Terms without tile axes; terms linear in one tile axis; the rest.
    std::vector<ir::Monomial> uniform;
    std::vector<std::pair<ir::AxisId, ir::Monomial>> linear;
    std::vector<ir::Monomial> other;
  };
  Split split(ir::IndexId index) const;
  // A sum of terms without tile axes; the thread's part of the linear terms, null where there are none.
  llvm::Value* emit_uniform(const std::vector<ir::Monomial>& terms, llvm::Type* type);
  llvm::Value* emit_linear(const Split& split, const ir::Layout* layout, llvm::Type* type);
  // What a register adds: constant steps as one constant, others as multiples of values.
  struct RegisterPart {
    int64_t constant = 0;
    std::vector<std::pair<llvm::Value*, int64_t>> multiples;
  };
  RegisterPart register_part(const Split& split, const ir::Layout* layout, int32_t reg);
  llvm::Value* find_part(const std::tuple<ir::IndexId, const ir::Layout*, int32_t>& key) const;

  // ---- memory.cpp ----
  void emit_load(const ir::TileOp& op);
  void emit_store(const ir::TileOp& op);
  // In elements of its tensor.
  ir::IndexId offset_of(const ir::TileOp& op) const;
  llvm::Value* global_address(const ir::TileOp& op, const ir::Layout* layout, int32_t reg);
  // Finds the parts of addresses that are the same for accesses which differ otherwise.
  void find_shared_parts(ir::RegionId region);
  ir::IndexId linear_part(const Split& split);
  llvm::Value* address(const ir::TileOp& op, const ir::Layout* layout, int32_t reg);
  // True in the one thread of those with copies that acts for all; null where there are no copies.
  llvm::Value* first_copy(const ir::Layout* layout);
  Registers load_vector(const ir::TileOp& op, llvm::Value* pointer, int32_t width);
  Registers load_shared(llvm::Value* pointer, ElementType element, int32_t width);
  llvm::LoadInst* create_load(llvm::Value* pointer, ElementType element, int32_t width);
  Registers load_elements(llvm::LoadInst* load, ElementType element, int32_t width);
  void emit_copy(const ir::TileOp& op);
  void copy_bytes(llvm::Value* to, llvm::Value* from, int64_t bytes, llvm::Value* mask);
  // ir::accessed_type, with a layout if there are axes.
  ir::TileType accessed_type(const ir::TileOp& op) const;
  void store_vector(llvm::Value* pointer, ElementType element, const Registers& registers);
  // Runs `then` where the condition holds. `in_scope` forgets behind it what `then` computed; with the other
  // it may compute nothing that is kept.
  void branch_around(llvm::Value* condition, const std::function<void()>& then);
  void in_scope(llvm::Value* condition, const std::function<void()>& then);

  // ---- shared_address.cpp ----
  llvm::Value* shared_pointer(int64_t offset);
  // Takes those terms out that are constants in this iteration of an unrolled loop, and gives their sum.
  int64_t take_known_terms(std::vector<ir::Monomial>& terms) const;
  llvm::Value* shared_address(const ir::TileOp& op, const ir::Layout* layout, int32_t reg);

  // ---- elementwise.cpp, casts.cpp ----
  void emit_elementwise(const ir::TileOp& op);
  llvm::Value* emit_scalar(ir::Opcode opcode, ElementType type, ElementType operand_type,
                           const std::vector<llvm::Value*>& operands, bool approx);
  llvm::Value* emit_float(ir::Opcode opcode, ElementType type, const std::vector<llvm::Value*>& operands,
                          bool approx);
  llvm::Value* emit_function(ir::Opcode opcode, ElementType type, const std::vector<llvm::Value*>& operands,
                             bool approx);
  llvm::Value* emit_integer(ir::Opcode opcode, ElementType type, const std::vector<llvm::Value*>& operands);
  llvm::Value* emit_compare(ir::Opcode opcode, ElementType operand_type, llvm::Value* a, llvm::Value* b);
  // A comparison of two index expressions, in the narrow type where both fit.
  Registers emit_index_compare(const ir::TileOp& op);
  // Whether the expression is at least 0 in one register of all threads, by what the guard promises.
  bool is_nonnegative(ir::IndexId expression, const ir::Layout* layout, int32_t reg);
  llvm::Value* emit_integer_division(ElementType type, llvm::Value* a, llvm::Value* b, bool remainder);
  llvm::Value* emit_shift(ir::Opcode opcode, ElementType type, llvm::Value* value, ElementType count_type,
                          llvm::Value* count);
  llvm::Value* emit_cast(llvm::Value* value, ElementType from, ElementType to);
  llvm::Value* float_to_integer(llvm::Value* value, ElementType from, ElementType to);
  llvm::Value* clamp(llvm::Value* value, int64_t least, int64_t most);
  llvm::Value* float_to_float(llvm::Value* value, ElementType from, ElementType to);
  llvm::Value* round_to_odd(llvm::Value* value);
  llvm::Value* integer_to_odd(llvm::Value* value, ElementType from);
  llvm::Value* f8_to_float(llvm::Value* value, ElementType from, ElementType to);
  llvm::Value* float_to_f8(llvm::Value* value, ElementType from, ElementType to);
  // Inlines a body without reads or indices; gives the wanted values.
  Registers emit_body(const ir::Body& body, const Registers& arguments, std::span<const ir::ValueId> wanted);

  // ---- reduce.cpp ----
  void emit_reduce(const ir::TileOp& op);
  Registers merge(const ir::Monoid& monoid, const Registers& left, const Registers& right);
  llvm::Value* shuffle(llvm::Value* value, int32_t mask);
  Registers reduce_registers(const ir::Monoid& monoid, std::vector<Registers> level);
  Registers reduce_products(const ir::Monoid& monoid, const std::vector<Registers>& factors);
  const ir::TileType& reduce_type(const ir::TileOp& op) const;
  void merge_warps(const ir::Monoid& monoid, std::vector<Registers>& state,
                   const std::vector<unsigned>& warp_bits, int32_t warps, bool whole_warp);

  llvm::Value* thread_id();
  void barrier();
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Value*> operands);

  // Hidden parameters, made where they are first needed and joined to the function at the end.
  llvm::Value* argument(const EntryArgument& what, llvm::Type* type);

  // What has been computed and may be used again; inner scopes see outer ones.
  struct Scope {
    // (expression, layout, register); register -1 is what all registers share, kThreadOffset and below the
    // offsets into the first and further buffers.
    std::map<std::tuple<ir::IndexId, const ir::Layout*, int32_t>, llvm::Value*> parts;
    std::map<std::tuple<ir::TensorId, ir::IndexId, const ir::Layout*>, llvm::Value*> pointers;
  };
  static constexpr int32_t kThreadOffset = -2;
  // Layouts are compared by content; equal ones share one address.
  const ir::Layout* canonical(const ir::Layout& layout);

  ir::TileModule& module_;
  const ir::TileKernel& kernel_;
  llvm::Module& llvm_module_;
  llvm::LLVMContext& context_;
  const Options& options_;
  // Null where nobody wants it.
  LineInfo* line_info_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  SideTable<ir::TileValue, Registers> values_;
  std::vector<std::unique_ptr<ir::Layout>> layouts_;
  std::map<std::pair<const ir::Layout*, ir::AxisList>, std::vector<int32_t>> projections_;
  // The value of every grid and loop axis that is bound.
  std::map<ir::AxisId, llvm::Value*> axis_values_;
  std::map<std::pair<const ir::Layout*, ir::AxisId>, llvm::Value*> positions_;
  std::vector<std::pair<EntryArgument, std::unique_ptr<llvm::Argument>>> arguments_;
  std::set<ir::TensorId> written_;
  // Which slice is emitted, of how many registers, out of tiles of `registers`; all where that is 0.
  struct Slice {
    int32_t registers = 0;
    int32_t size = 0;
    int32_t index = 0;
  };
  Slice slice_;
  // For each thread's part of an offset the uniform parts that it is added to.
  std::map<ir::IndexId, std::set<ir::IndexId>> shared_parts_;
  llvm::Value* tid_ = nullptr;
  // Scratch of reductions, behind the module's buffers.
  int64_t scratch_ = 0;
  Entry entry_;
};

// The name of an entry: that of the launch, with what PTX does not allow in names replaced.
std::string entry_name(const std::string& launch);

}  // namespace tenon::codegen
