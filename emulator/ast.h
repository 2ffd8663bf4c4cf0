// A parsed PTX module. Registers and function-local variables are resolved by the parser (it knows the
// scopes); labels, functions, module variables and special registers stay names until a kernel is decoded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/lexer.h"
#include "emulator/ptx_type.h"

namespace tenon::emulator {

enum class StateSpace : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

struct Register {
  std::string_view name;
  PtxType type;
};

// One element of an initialiser: a number, or the address of a symbol plus `bits`.
struct InitialValue {
  TokenKind kind = TokenKind::kInteger;
  uint64_t bits = 0;
  std::string_view symbol;
  TextPosition position;
};

struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::kGlobal;
  PtxType type = PtxType::kB8;
  uint64_t alignment = 1;
  // Elements of `type` (a vector type counts its lanes); 0 for an array whose size is not given.
  uint64_t elements = 1;
  bool external = false;
  std::vector<InitialValue> initialiser;
  TextPosition position;

  uint64_t bytes() const { return elements * byte_size(type); }
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,  // index into Function::registers
    kVariable,  // index into Function::variables, plus `bits` as an offset
    kSymbol,    // label, function, module variable (plus offset), special register
    kInteger,
    kFloat32,
    kFloat64,
    kAddress,  // [elements[0] + bits]; further elements in a list address
    kVector,   // {elements}
    kGroup,    // (elements), of a call
    kSink,     // _
  };
  Kind kind = Kind::kSink;
  bool negated = false;     // !p
  bool has_second = false;  // p|q: the second is elements[0]
  uint32_t index = 0;
  uint64_t bits = 0;
  std::string_view name;
  std::vector<Operand> elements;
  TextPosition position;
};

struct Instruction {
  bool guarded = false;
  bool guard_negated = false;
  uint32_t guard_register = 0;
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  // The text from the guard to the semicolon, blanks as written.
  std::string_view text;
  TextPosition position;
  // From the last .loc before it; 0 where there is none.
  uint32_t source_line = 0;
};

struct Label {
  std::string_view name;
  // Index of the instruction that follows.
  uint32_t target = 0;
};

struct BranchTargets {
  std::string_view name;
  std::vector<std::string_view> labels;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  // Indices into variables, in order; all of space kParam.
  std::vector<uint32_t> results;
  std::vector<uint32_t> parameters;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  // 0 where the directive is absent.
  uint32_t required_threads[3] = {0, 0, 0};
  uint32_t max_threads[3] = {0, 0, 0};
  TextPosition position;
};

struct PtxModule {
  // Owns what the views refer to; shared so that a module can be moved.
  std::shared_ptr<const std::string> text;
  unsigned version_major = 0;
  unsigned version_minor = 0;
  unsigned target_sm = 0;
  // The target's suffix: "a", "f", or empty.
  std::string_view target_suffix;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

}  // namespace tenon::emulator
