#include "emulator/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/control_flow.h"
#include "emulator/decoders.h"
#include "emulator/memory.h"
#include "emulator/memory_access.h"
#include "support/ptx_limits.h"

namespace tenon::emulator {
namespace {

constexpr uint64_t kMaxLocalBytes = uint64_t{1} << 19;
constexpr uint64_t kSharedStart = 1024;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

// The text of an instruction on one line.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  return result;
}

}  // namespace

Result<Program> Decoder::run(const Function& entry) {
  for (const LaneOp& op : context_.lane_ops) handlers_[op.name] = op.handler;
  program_.name = std::string(entry.name);
  program_.local_bytes = kLocalRedzone;
  std::copy(std::begin(entry.required_threads), std::end(entry.required_threads),
            program_.required_threads.begin());
  std::copy(std::begin(entry.max_threads), std::end(entry.max_threads), program_.max_threads.begin());
  std::vector<const Function*> path;
  collect_functions(entry, path);
  if (error_) return std::unexpected(*std::move(error_));
  place_shared_variables();
  frames_.resize(functions_.size());
  for (size_t i = 0; i < functions_.size() && ok(); ++i) frames_[i].function = functions_[i];
  for (Frame& frame : frames_) {
    if (ok()) place_variables(frame);
  }
  for (Frame& frame : frames_) {
    if (ok()) decode_function(frame);
  }
  if (error_) return std::unexpected(*std::move(error_));
  finish(entry);
  return std::move(program_);
}

// The entry first, then every function that it calls, directly or not.
void Decoder::collect_functions(const Function& function, std::vector<const Function*>& path) {
  if (std::find(path.begin(), path.end(), &function) != path.end()) {
    return fail(function.position, fmt::format("recursive calls of '{}' are not supported", function.name));
  }
  if (std::find(functions_.begin(), functions_.end(), &function) != functions_.end()) return;
  functions_.push_back(&function);
  path.push_back(&function);
  collect_calls(function, path);
  path.pop_back();
}

void Decoder::collect_calls(const Function& function, std::vector<const Function*>& path) {
  if (path.size() > 256) return fail(function.position, "calls are nested too deeply");
  for (const Instruction& instruction : function.instructions) {
    if (instruction.opcode != "call") continue;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::kSymbol) continue;
      // A function met before is walked again where it closes a cycle.
      const Function* callee = function_by_name(operand.name);
      if (callee == nullptr || !ok()) continue;
      if (std::find(path.begin(), path.end(), callee) != path.end() ||
          std::find(functions_.begin(), functions_.end(), callee) == functions_.end()) {
        collect_functions(*callee, path);
      }
    }
  }
}

const Function* Decoder::function_by_name(std::string_view name) const {
  for (const Function& function : context_.module->functions) {
    if (function.name == name && function.has_body) return &function;
  }
  return nullptr;
}

const Variable* Decoder::module_variable(std::string_view name) const {
  for (const Variable& variable : context_.module->variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

void Decoder::mark_shared(const Operand& operand, std::vector<std::string_view>& names) const {
  if (operand.kind == Operand::Kind::kSymbol) names.push_back(operand.name);
  for (const Operand& element : operand.elements) mark_shared(element, names);
}

// The module's shared variables that the program names, and those of its functions; dynamic ones come last.
void Decoder::place_shared_variables() {
  std::vector<std::string_view> names;
  for (const Function* function : functions_) {
    for (const Instruction& instruction : function->instructions) {
      for (const Operand& operand : instruction.operands) mark_shared(operand, names);
    }
  }
  std::sort(names.begin(), names.end());
  uint64_t dense = 0;
  uint64_t redzones = kSharedStart;
  for (const Variable& variable : context_.module->variables) {
    if (variable.space == StateSpace::kShared && variable.elements != 0 &&
        std::binary_search(names.begin(), names.end(), variable.name)) {
      place_shared(variable, dense, redzones);
    }
  }
  for (const Function* function : functions_) {
    for (const Variable& variable : function->variables) {
      if (variable.space == StateSpace::kShared) place_shared(variable, dense, redzones);
    }
  }
  program_.static_shared_bytes = dense;
  uint64_t alignment = 16;
  for (const Variable& variable : context_.module->variables) {
    if (variable.space == StateSpace::kShared && variable.elements == 0) {
      alignment = std::max(alignment, variable.alignment);
    }
  }
  program_.dynamic_shared_offset = round_up(dense + redzones, alignment);
  for (const Variable& variable : context_.module->variables) {
    if (variable.space == StateSpace::kShared && variable.elements == 0) {
      shared_offsets_[variable.name] = program_.dynamic_shared_offset;
    }
  }
}

void Decoder::place_shared(const Variable& variable, uint64_t& dense, uint64_t& redzones) {
  dense = round_up(dense, variable.alignment);
  // A larger alignment than the redzone's holds for the sum too.
  const uint64_t offset = round_up(dense + redzones, variable.alignment);
  redzones = offset - dense;
  shared_offsets_[variable.name] = offset;
  program_.shared.push_back({std::string(variable.name), offset, variable.bytes()});
  dense += variable.bytes();
  redzones += kSharedRedzone;
  if (dense > kWindowBytes / 2) fail(variable.position, "too much shared memory");
}

void Decoder::place_variables(Frame& frame) {
  const Function& function = *frame.function;
  frame.registers.assign(function.registers.size(), kNoOperand);
  frame.variables.assign(function.variables.size(), 0);
  for (size_t i = 0; i < function.variables.size() && ok(); ++i) {
    const Variable& variable = function.variables[i];
    const bool parameter =
        std::find(function.parameters.begin(), function.parameters.end(), i) != function.parameters.end();
    if (function.is_entry && parameter) {
      program_.parameter_bytes = round_up(program_.parameter_bytes, variable.alignment);
      frame.variables[i] = context_.parameter_address + program_.parameter_bytes;
      program_.parameters.push_back({std::string(variable.name), program_.parameter_bytes, variable.bytes()});
      program_.parameter_bytes += variable.bytes();
      const unsigned isa = context_.module->version_major * 10 + context_.module->version_minor;
      if (program_.parameter_bytes > most_parameter_bytes(isa))
        fail(variable.position, fmt::format("parameters take more than the {} bytes of this PTX version",
                                            most_parameter_bytes(isa)));
    } else if (variable.space == StateSpace::kShared) {
      frame.variables[i] = shared_offsets_[variable.name];
    } else if (variable.space == StateSpace::kLocal || variable.space == StateSpace::kParam) {
      program_.local_bytes = round_up(program_.local_bytes, std::max<uint64_t>(variable.alignment, 16));
      frame.variables[i] = program_.local_bytes;
      program_.local.push_back({std::string(variable.name), program_.local_bytes, variable.bytes()});
      program_.local_bytes += variable.bytes() + kLocalRedzone;
      if (program_.local_bytes > kMaxLocalBytes) fail(variable.position, "too much local memory");
    } else {
      fail(variable.position, "a function cannot declare variables of this space");
    }
  }
}

void Decoder::decode_function(Frame& frame) {
  frame_ = &frame;
  frame.start = static_cast<uint32_t>(program_.records.size());
  std::vector<uint32_t> starts;
  for (const Instruction& instruction : frame.function->instructions) {
    starts.push_back(static_cast<uint32_t>(program_.records.size()));
    decode_instruction(instruction);
    if (!ok()) return;
  }
  starts.push_back(static_cast<uint32_t>(program_.records.size()));
  // Falling off the end returns.
  if (program_.instructions.empty()) program_.instructions.emplace_back();
  Record record;
  record.handler = frame.function->is_entry ? execute_exit : execute_return;
  record.instruction = static_cast<uint32_t>(program_.instructions.size() - 1);
  record.counts = false;
  program_.records.push_back(record);
  std::unordered_map<std::string_view, uint32_t> labels;
  for (const Label& label : frame.function->labels) labels[label.name] = starts[label.target];
  apply_patches(labels);
  if (ok()) set_reconvergence(program_, frame.start, static_cast<uint32_t>(program_.records.size()));
}

void Decoder::apply_patches(const std::unordered_map<std::string_view, uint32_t>& labels) {
  for (const Patch& patch : patches_) {
    const auto found = labels.find(patch.label);
    if (found == labels.end()) return fail(patch.position, fmt::format("unknown label '{}'", patch.label));
    if (patch.is_list) {
      program_.lists[patch.record] = found->second;
    } else {
      program_.records[patch.record].extra = found->second;
    }
  }
  patches_.clear();
}

void Decoder::decode_instruction(const Instruction& instruction) {
  instruction_ = &instruction;
  taken_.assign(instruction.modifiers.size(), false);
  used32_ = used64_ = used_predicates_ = 0;
  first_record_ = true;
  const Opcode* opcode = opcode_by_name(instruction.opcode);
  if (opcode == nullptr) return fail(fmt::format("unknown instruction '{}'", one_line(instruction.text)));
  program_.instructions.push_back({one_line(instruction.text), std::string(frame_->function->name),
                                   instruction.position.line, instruction.source_line,
                                   opcode->instruction_class});
  guard_ = kNoOperand;
  if (instruction.guarded) {
    Operand guard;
    guard.kind = Operand::Kind::kRegister;
    guard.index = instruction.guard_register;
    guard_ = register_ref(guard) | (instruction.guard_negated ? kNegated : 0);
  }
  opcode->decode(*this);
  for (size_t i = 0; i < taken_.size() && ok(); ++i) {
    if (!taken_[i]) {
      fail(fmt::format("unknown instruction '{}': '.{}' is not supported here", one_line(instruction.text),
                       instruction.modifiers[i]));
    }
  }
  if (ok() && first_record_) emit(execute_nothing);
}

void Decoder::finish(const Function& entry) {
  for (const auto& [record, function] : calls_) {
    for (const Frame& frame : frames_) {
      if (frame.function == function) program_.records[record].extra = frame.start;
    }
  }
  program_.constants.resize(std::max<size_t>(constant_bytes_.size(), 64));
  if (!constant_bytes_.empty()) {
    std::memcpy(program_.constants.data(), constant_bytes_.data(), constant_bytes_.size());
  }
  program_.register_bytes = std::max<uint64_t>(program_.register_bytes, 64);
  for (const auto& [source, target] : specials_) program_.specials.push_back({source, target});
}

bool Decoder::take(std::string_view modifier) {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i] && instruction_->modifiers[i] == modifier) {
      taken_[i] = true;
      return true;
    }
  }
  return false;
}

std::string_view Decoder::take_any(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (take(name)) return name;
  }
  return {};
}

std::optional<PtxType> Decoder::take_type() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    if (const auto type = ptx_type_by_name(instruction_->modifiers[i])) {
      taken_[i] = true;
      return type;
    }
  }
  return std::nullopt;
}

PtxType Decoder::expect_type() {
  if (const auto type = take_type()) return *type;
  fail(fmt::format("'{}' names no type", one_line(instruction_->text)));
  return PtxType::kB32;
}

std::optional<StateSpace> Decoder::take_space() {
  constexpr std::pair<std::string_view, StateSpace> kSpaces[] = {
      {"global", StateSpace::kGlobal},      {"shared", StateSpace::kShared},
      {"shared::cta", StateSpace::kShared}, {"shared::cluster", StateSpace::kShared},
      {"local", StateSpace::kLocal},        {"const", StateSpace::kConst},
      {"param", StateSpace::kParam},        {"param::entry", StateSpace::kParam},
      {"param::func", StateSpace::kParam},
  };
  for (const auto& [name, space] : kSpaces) {
    if (take(name)) return space;
  }
  return std::nullopt;
}

std::optional<Rounding> Decoder::take_rounding() {
  if (take("rn")) return Rounding::kNearestEven;
  if (take("rz")) return Rounding::kTowardZero;
  if (take("rm")) return Rounding::kDown;
  if (take("rp")) return Rounding::kUp;
  if (take("rna")) return Rounding::kNearestAway;
  return std::nullopt;
}

void Decoder::take_all_starting_with(std::string_view prefix) {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (instruction_->modifiers[i].starts_with(prefix)) taken_[i] = true;
  }
}

void Decoder::take_everything() { taken_.assign(taken_.size(), true); }

Record& Decoder::emit(Handler handler) {
  Record record;
  record.handler = handler;
  record.guard = guard_;
  record.instruction = static_cast<uint32_t>(program_.instructions.size() - 1);
  record.counts = first_record_;
  first_record_ = false;
  program_.records.push_back(record);
  return program_.records.back();
}

Record& Decoder::emit(std::string_view lane_op, LaneRef d, LaneRef a, LaneRef b, LaneRef c) {
  const auto found = handlers_.find(lane_op);
  if (found == handlers_.end()) {
    fail(
        fmt::format("unknown instruction '{}' ({} is not supported)", one_line(instruction_->text), lane_op));
  }
  Record& record = emit(found == handlers_.end() ? execute_nothing : found->second);
  record.d = d;
  record.a = a;
  record.b = b;
  record.c = c;
  return record;
}

void Decoder::set_class(InstructionClass instruction_class) {
  program_.instructions.back().instruction_class = instruction_class;
}

uint32_t Decoder::add_list(std::span<const uint32_t> values) {
  const auto start = static_cast<uint32_t>(program_.lists.size());
  program_.lists.insert(program_.lists.end(), values.begin(), values.end());
  return start;
}

void Decoder::branch_to(Record& record, std::string_view label, TextPosition position) {
  patches_.push_back({static_cast<size_t>(&record - program_.records.data()), false, label, position});
}

const BranchTargets* Decoder::branch_targets(std::string_view name) const {
  for (const BranchTargets& targets : frame_->function->branch_targets) {
    if (targets.name == name) return &targets;
  }
  return nullptr;
}

uint32_t Decoder::add_branch_list(const BranchTargets& targets, TextPosition position) {
  const std::vector<uint32_t> unknown(targets.labels.size(), 0);
  const uint32_t start = add_list(unknown);
  for (size_t i = 0; i < targets.labels.size(); ++i)
    patches_.push_back({start + i, true, targets.labels[i], position});
  return start;
}

void Decoder::call(std::string_view name, std::span<const Operand> results,
                   std::span<const Operand> arguments, TextPosition position) {
  const Function* function = function_by_name(name);
  if (function == nullptr || function->is_entry) {
    return fail(position, fmt::format("the module does not define a function '{}'", name));
  }
  const Frame* callee = nullptr;
  for (const Frame& frame : frames_) {
    if (frame.function == function) callee = &frame;
  }
  if (callee == nullptr || results.size() != function->results.size() ||
      arguments.size() != function->parameters.size()) {
    return fail(position, fmt::format("the call does not fit the parameters of '{}'", name));
  }
  const auto copy = [&](const Operand& operand, uint32_t formal, bool to_formal) {
    if (operand.kind != Operand::Kind::kVariable) {
      return fail(operand.position, "arguments must be variables of space .param");
    }
    const uint64_t actual = frame_->variables[operand.index];
    const uint64_t bytes = function->variables[formal].bytes();
    if (bytes != frame_->function->variables[operand.index].bytes()) {
      return fail(operand.position, "the argument has another size than the parameter");
    }
    Record& record = emit(execute_copy_local);
    record.immediate = bytes;
    record.extra = static_cast<uint32_t>(to_formal ? actual : callee->variables[formal]);
    record.flags = static_cast<uint32_t>(to_formal ? callee->variables[formal] : actual);
  };
  for (size_t i = 0; i < arguments.size(); ++i) copy(arguments[i], function->parameters[i], true);
  emit(execute_call);
  calls_.emplace_back(program_.records.size() - 1, function);
  for (size_t i = 0; i < results.size(); ++i) copy(results[i], function->results[i], false);
}

void Decoder::fail(TextPosition position, std::string_view message) {
  if (!error_) error_ = ptx_error(position, message);
}

}  // namespace tenon::emulator
