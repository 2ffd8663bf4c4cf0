// Turns one kernel, with the functions it calls, into a Program.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ast.h"
#include "emulator/lane_ops.h"
#include "emulator/program.h"
#include "support/numeric.h"
#include "support/result.h"

namespace tenon::emulator {

// What the decoder needs to know about the device.
struct DecodeContext {
  const PtxModule* module = nullptr;
  // Device addresses of the module's .global and .const variables.
  const std::map<std::string_view, uint64_t>* addresses = nullptr;
  // Where kernel parameters lie during a launch.
  uint64_t parameter_address = 0;
  std::span<const LaneOp> lane_ops;
};

// Where a memory operand points: lanes that hold addresses (64-bit, or 32-bit ones), plus an offset.
struct AddressRef {
  StateSpace space = StateSpace::kGeneric;
  LaneRef base = kNoOperand;
  bool wide = true;
  uint64_t offset = 0;
};

// The interface between the kernel decoder and the functions of decoders.h: the current instruction, its
// modifiers and operands, and the records made from it. After an error everything does nothing.
class Decoder {
 public:
  explicit Decoder(const DecodeContext& context) : context_(context) {}

  Result<Program> run(const Function& entry);

  // Modifiers: each must be taken.
  std::string_view opcode() const { return instruction_->opcode; }
  bool take(std::string_view modifier);
  // The first of the names that is a modifier; empty if none is.
  std::string_view take_any(std::initializer_list<std::string_view> names);
  std::optional<PtxType> take_type();
  PtxType expect_type();
  std::optional<StateSpace> take_space();
  // .rn .rz .rm .rp .rna.
  std::optional<Rounding> take_rounding();
  void take_all_starting_with(std::string_view prefix);
  void take_everything();

  // Operands. An absent one is an error.
  size_t operand_count() const { return instruction_->operands.size(); }
  const Operand& operand(size_t index);
  // Lanes to read as a `type`; registers must have its width.
  LaneRef source(size_t index, PtxType type) { return source(operand(index), type); }
  LaneRef source(const Operand& operand, PtxType type);
  LaneRef predicate(const Operand& operand);
  LaneRef destination(size_t index, PtxType type) { return destination(operand(index), type); }
  LaneRef destination(const Operand& operand, PtxType type);
  LaneRef destination_predicate(const Operand& operand);
  // The declared width of a register operand; 0 for anything else.
  unsigned register_bits(const Operand& operand) const;
  LaneRef register_ref(const Operand& operand);
  // A compile-time integer.
  uint64_t integer(size_t index);
  AddressRef address(const Operand& operand, std::optional<StateSpace> space);

  LaneRef temporary(unsigned bits);
  LaneRef constant32(uint32_t value);
  LaneRef constant64(uint64_t value);
  LaneRef constant_predicate(bool value);

  // Appends a record. The reference is good until the next one.
  Record& emit(Handler handler);
  Record& emit(std::string_view lane_op, LaneRef d, LaneRef a = kNoOperand, LaneRef b = kNoOperand,
               LaneRef c = kNoOperand);
  bool has_lane_op(std::string_view name) const { return handlers_.contains(name); }
  void set_class(InstructionClass instruction_class);
  uint32_t add_list(std::span<const uint32_t> values);

  // Branches: the record's `extra` becomes the label's position when the function is complete.
  void branch_to(Record& record, std::string_view label, TextPosition position);
  const BranchTargets* branch_targets(std::string_view name) const;
  uint32_t add_branch_list(const BranchTargets& targets, TextPosition position);
  // A call of a function of the module: a record whose `extra` becomes its start.
  void call(std::string_view name, std::span<const Operand> results, std::span<const Operand> arguments,
            TextPosition position);
  // The current function is the kernel itself.
  bool in_entry() const { return frame_->function->is_entry; }

  void fail(std::string_view message) { fail(instruction_->position, message); }
  void fail(TextPosition position, std::string_view message);
  bool ok() const { return !error_; }

 private:
  // A function of the program.
  struct Frame {
    const Function* function = nullptr;
    uint32_t start = 0;
    std::vector<LaneRef> registers;
    // Offsets of variables: local or shared; parameters of the kernel: their device address.
    std::vector<uint64_t> variables;
  };
  struct Patch {
    size_t record;
    bool is_list;
    std::string_view label;
    TextPosition position;
  };

  void collect_functions(const Function& function, std::vector<const Function*>& path);
  void collect_calls(const Function& function, std::vector<const Function*>& path);
  void place_shared_variables();
  void place_shared(const Variable& variable, uint64_t& dense, uint64_t& redzones);
  void place_variables(Frame& frame);
  void mark_shared(const Operand& operand, std::vector<std::string_view>& names) const;
  void decode_function(Frame& frame);
  void decode_instruction(const Instruction& instruction);
  void apply_patches(const std::unordered_map<std::string_view, uint32_t>& labels);
  void finish(const Function& entry);
  LaneRef special_register(std::string_view name);
  std::optional<uint64_t> variable_address(const Operand& operand, StateSpace& space);
  LaneRef address_constant(const Operand& operand, PtxType type);
  LaneRef literal(const Operand& operand, PtxType type);
  const Function* function_by_name(std::string_view name) const;
  const Variable* module_variable(std::string_view name) const;
  LaneRef add_constant(std::span<const std::byte> bytes);

  DecodeContext context_;
  Program program_;
  std::unordered_map<std::string_view, Handler> handlers_;
  std::vector<const Function*> functions_;
  std::vector<Frame> frames_;
  Frame* frame_ = nullptr;
  std::map<std::string_view, uint64_t> shared_offsets_;
  std::map<std::pair<uint64_t, unsigned>, LaneRef> constants_;
  std::vector<std::byte> constant_bytes_;
  std::map<SpecialRegister, LaneRef> specials_;
  LaneRef predicate_chunk_ = kNoOperand;
  unsigned predicates_used_ = 0;
  // Temporaries are reused by every instruction.
  std::vector<LaneRef> temporaries32_;
  std::vector<LaneRef> temporaries64_;
  std::vector<LaneRef> temporary_predicates_;
  size_t used32_ = 0;
  size_t used64_ = 0;
  size_t used_predicates_ = 0;
  std::vector<Patch> patches_;
  // Call records and the function they go to.
  std::vector<std::pair<size_t, const Function*>> calls_;

  const Instruction* instruction_ = nullptr;
  std::vector<bool> taken_;
  LaneRef guard_ = kNoOperand;
  bool first_record_ = true;
  std::optional<Error> error_;
};

}  // namespace tenon::emulator
