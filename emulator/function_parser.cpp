#include "emulator/function_parser.h"

#include <fmt/format.h>

#include <unordered_map>

namespace tenon::emulator {
namespace {

constexpr size_t kMaxScopeDepth = 256;
constexpr unsigned kMaxOperandDepth = 8;

// What a name stands for inside a function.
struct Binding {
  Operand::Kind kind;
  uint32_t index;
};

// Registers declared as %r<100>: made when first used.
struct RegisterFamily {
  std::string_view prefix;
  PtxType type;
  uint64_t count;
};

struct Scope {
  std::unordered_map<std::string_view, Binding> names;
  std::vector<RegisterFamily> families;
};

class FunctionParser {
 public:
  FunctionParser(TokenCursor& cursor, PtxModule& module, bool is_entry) : cursor_(cursor), module_(module) {
    function_.is_entry = is_entry;
    scopes_.emplace_back();
  }

  void run() {
    parse_signature();
    parse_performance_directives();
    if (cursor_.ok() && !cursor_.accept(';')) {
      function_.has_body = true;
      parse_body();
    }
    if (cursor_.ok()) module_.functions.push_back(std::move(function_));
  }

 private:
  void parse_signature() {
    if (!function_.is_entry && cursor_.peek().is('(')) parse_parameters(function_.results);
    function_.position = cursor_.peek().position;
    function_.name = cursor_.expect_identifier("a function name");
    if (cursor_.peek().is('(')) parse_parameters(function_.parameters);
  }

  void parse_parameters(std::vector<uint32_t>& list) {
    cursor_.expect('(');
    if (cursor_.accept(')')) return;
    do {
      if (!cursor_.accept_dotted("param")) return cursor_.fail_here("expected a parameter of space .param");
      list.push_back(declare_variable(cursor_.parse_variable(StateSpace::kParam)));
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect(')');
  }

  void parse_performance_directives() {
    while (cursor_.ok() && cursor_.peek().kind == TokenKind::kDotted) {
      const Token token = cursor_.take();
      if (token.text == "maxntid") {
        parse_extents(function_.max_threads);
      } else if (token.text == "reqntid") {
        parse_extents(function_.required_threads);
      } else if (token.text == "minnctapersm" || token.text == "maxnreg" || token.text == "maxclusterrank") {
        cursor_.expect_integer("a number");
      } else if (token.text == "pragma") {
        cursor_.skip_past(';');
      } else if (token.text != "noreturn") {
        cursor_.fail(token.position, fmt::format("unknown directive '.{}'", token.text));
      }
    }
  }

  void parse_extents(uint32_t (&extents)[3]) {
    for (uint32_t& extent : extents) extent = 1;
    for (size_t i = 0; i < 3; ++i) {
      const TextPosition position = cursor_.peek().position;
      const uint64_t value = cursor_.expect_integer("a thread count");
      if (value == 0 || value > 1024) return cursor_.fail(position, "a thread count is between 1 and 1024");
      extents[i] = static_cast<uint32_t>(value);
      if (!cursor_.accept(',')) return;
    }
  }

  void parse_body() {
    cursor_.expect('{');
    scopes_.emplace_back();
    while (cursor_.ok() && scopes_.size() > 1) {
      if (cursor_.at_end()) return cursor_.fail_here("the function has no closing '}'");
      parse_statement();
    }
  }

  void parse_statement() {
    const Token& token = cursor_.peek();
    if (token.is('{')) {
      if (scopes_.size() >= kMaxScopeDepth) return cursor_.fail_here("blocks are nested too deeply");
      cursor_.take();
      scopes_.emplace_back();
    } else if (token.is('}')) {
      cursor_.take();
      scopes_.pop_back();
    } else if (token.is(';')) {
      cursor_.take();
    } else if (token.kind == TokenKind::kDotted) {
      parse_directive();
    } else if (token.kind == TokenKind::kIdentifier && cursor_.peek(1).is(':')) {
      parse_label();
    } else {
      parse_instruction();
    }
  }

  void parse_directive() {
    const Token token = cursor_.take();
    if (token.text == "loc") {
      cursor_.expect_integer("a file number");
      source_line_ = static_cast<uint32_t>(cursor_.expect_integer("a line"));
      return cursor_.skip_line(token.position.line);
    }
    if (token.text == "file") return cursor_.skip_line(token.position.line);
    if (token.text == "pragma") return cursor_.skip_past(';');
    if (token.text == "reg") return parse_registers();
    const auto space = state_space_by_name(token.text);
    if (!space) return cursor_.fail(token.position, fmt::format("unknown directive '.{}'", token.text));
    do {
      Variable variable = cursor_.parse_variable(*space);
      if (cursor_.ok() && variable.elements == 0) cursor_.fail(variable.position, "the array has no size");
      declare_variable(std::move(variable));
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect(';');
  }

  void parse_registers() {
    const Token token = cursor_.take();
    const auto type = token.kind == TokenKind::kDotted ? ptx_type_by_name(token.text) : std::nullopt;
    if (!type) return cursor_.fail(token.position, "expected a register type");
    if (bit_width(*type) > 64) return cursor_.fail(token.position, "128-bit registers are not supported");
    do {
      const std::string_view name = cursor_.expect_identifier("a register name");
      if (cursor_.accept('<')) {
        scopes_.back().families.push_back({name, *type, cursor_.expect_integer("a register count")});
        cursor_.expect('>');
      } else {
        add_register(scopes_.back(), name, *type);
      }
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect(';');
  }

  uint32_t add_register(Scope& scope, std::string_view name, PtxType type) {
    const auto index = static_cast<uint32_t>(function_.registers.size());
    function_.registers.push_back({name, type});
    scope.names[name] = {Operand::Kind::kRegister, index};
    return index;
  }

  uint32_t declare_variable(Variable variable) {
    const auto index = static_cast<uint32_t>(function_.variables.size());
    scopes_.back().names[variable.name] = {Operand::Kind::kVariable, index};
    function_.variables.push_back(std::move(variable));
    return index;
  }

  void parse_label() {
    const Token name = cursor_.take();
    cursor_.expect(':');
    if (cursor_.accept_dotted("branchtargets")) {
      BranchTargets targets{name.text, {}};
      do {
        targets.labels.push_back(cursor_.expect_identifier("a label"));
      } while (cursor_.ok() && cursor_.accept(','));
      cursor_.expect(';');
      function_.branch_targets.push_back(std::move(targets));
    } else if (cursor_.accept_dotted("callprototype")) {
      cursor_.skip_past(';');
    } else {
      function_.labels.push_back({name.text, static_cast<uint32_t>(function_.instructions.size())});
    }
  }

  void parse_instruction() {
    Instruction instruction;
    instruction.position = cursor_.peek().position;
    instruction.source_line = source_line_;
    const char* begin = cursor_.peek().text.data();
    if (cursor_.accept('@')) parse_guard(instruction);
    instruction.position = cursor_.peek().position;
    instruction.opcode = cursor_.expect_identifier("an instruction");
    while (cursor_.peek().kind == TokenKind::kDotted) instruction.modifiers.push_back(cursor_.take().text);
    if (!cursor_.peek().is(';')) {
      do {
        instruction.operands.push_back(parse_operand(0));
      } while (cursor_.ok() && cursor_.accept(','));
    }
    const char* end = cursor_.peek().text.data();
    cursor_.expect(';');
    if (!cursor_.ok()) return;
    instruction.text = std::string_view(begin, static_cast<size_t>(end - begin));
    function_.instructions.push_back(std::move(instruction));
  }

  void parse_guard(Instruction& instruction) {
    instruction.guarded = true;
    instruction.guard_negated = cursor_.accept('!');
    const TextPosition position = cursor_.peek().position;
    const Operand guard = name_operand(cursor_.expect_identifier("a predicate"), position);
    if (!cursor_.ok()) return;
    if (guard.kind != Operand::Kind::kRegister || function_.registers[guard.index].type != PtxType::kPred) {
      return cursor_.fail(position, "the guard is not a predicate register");
    }
    instruction.guard_register = guard.index;
  }

  Operand parse_operand(unsigned depth) {
    Operand operand;
    operand.position = cursor_.peek().position;
    if (depth > kMaxOperandDepth) {
      cursor_.fail_here("the operand is nested too deeply");
      return operand;
    }
    if (cursor_.accept('{')) return parse_list(Operand::Kind::kVector, '}', depth);
    if (cursor_.accept('(')) return parse_list(Operand::Kind::kGroup, ')', depth);
    if (cursor_.accept('[')) return parse_address(depth);
    const bool negated = cursor_.accept('!');
    const bool minus = cursor_.accept('-');
    const Token token = cursor_.take();
    switch (token.kind) {
      case TokenKind::kInteger:
        operand.kind = Operand::Kind::kInteger;
        operand.bits = minus ? 0 - token.bits : token.bits;
        return operand;
      case TokenKind::kFloat32:
        operand.kind = Operand::Kind::kFloat32;
        operand.bits = token.bits ^ (minus ? uint64_t{1} << 31 : 0);
        return operand;
      case TokenKind::kFloat64:
        operand.kind = Operand::Kind::kFloat64;
        operand.bits = token.bits ^ (minus ? uint64_t{1} << 63 : 0);
        return operand;
      case TokenKind::kIdentifier:
        if (minus) break;
        operand = name_operand(token.text, token.position);
        operand.negated = negated;
        parse_name_suffix(operand, depth);
        return operand;
      default:
        break;
    }
    cursor_.fail(token.position, fmt::format("expected an operand, not '{}'", token.text));
    return operand;
  }

  void parse_name_suffix(Operand& operand, unsigned depth) {
    // %tid.x: name and component are adjacent in the text, so one view covers both.
    if (operand.kind == Operand::Kind::kSymbol && cursor_.peek().kind == TokenKind::kDotted) {
      const Token part = cursor_.take();
      operand.name =
          std::string_view(operand.name.data(),
                           static_cast<size_t>(part.text.data() + part.text.size() - operand.name.data()));
    }
    if (cursor_.accept('+')) {
      operand.bits = signed_offset(false);
    } else if (cursor_.accept('-')) {
      operand.bits = signed_offset(true);
    } else if (cursor_.accept('|')) {
      operand.has_second = true;
      operand.elements.push_back(parse_operand(depth + 1));
    }
  }

  uint64_t signed_offset(bool minus) {
    minus ^= cursor_.accept('-');
    const uint64_t value = cursor_.expect_integer("an offset");
    return minus ? 0 - value : value;
  }

  Operand parse_list(Operand::Kind kind, char close, unsigned depth) {
    Operand operand;
    operand.kind = kind;
    operand.position = cursor_.peek().position;
    if (cursor_.accept(close)) return operand;
    do {
      operand.elements.push_back(parse_operand(depth + 1));
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect(close);
    return operand;
  }

  Operand parse_address(unsigned depth) {
    Operand operand = parse_list(Operand::Kind::kAddress, ']', depth);
    if (!cursor_.ok()) return operand;
    if (operand.elements.empty()) {
      cursor_.fail(operand.position, "the address is empty");
    } else {
      std::swap(operand.bits, operand.elements[0].bits);
      // A plain number is the address itself.
      if (operand.elements[0].kind == Operand::Kind::kInteger)
        std::swap(operand.bits, operand.elements[0].bits);
    }
    return operand;
  }

  Operand name_operand(std::string_view name, TextPosition position) {
    Operand operand;
    operand.position = position;
    operand.name = name;
    if (name == "_") return operand;
    operand.kind = Operand::Kind::kSymbol;
    for (size_t depth = scopes_.size(); depth-- > 0;) {
      Scope& scope = scopes_[depth];
      if (const auto found = scope.names.find(name); found != scope.names.end()) {
        operand.kind = found->second.kind;
        operand.index = found->second.index;
        return operand;
      }
      if (const RegisterFamily* family = family_of(scope, name)) {
        operand.kind = Operand::Kind::kRegister;
        operand.index = add_register(scope, name, family->type);
        return operand;
      }
    }
    return operand;
  }

  static const RegisterFamily* family_of(const Scope& scope, std::string_view name) {
    for (const RegisterFamily& family : scope.families) {
      if (!name.starts_with(family.prefix) || name.size() == family.prefix.size()) continue;
      uint64_t number = 0;
      bool digits = name.size() - family.prefix.size() <= 9;
      for (const char c : name.substr(family.prefix.size())) {
        digits &= c >= '0' && c <= '9';
        number = number * 10 + static_cast<uint64_t>(c - '0');
      }
      if (digits && number < family.count) return &family;
    }
    return nullptr;
  }

  TokenCursor& cursor_;
  PtxModule& module_;
  Function function_;
  std::vector<Scope> scopes_;
  uint32_t source_line_ = 0;
};

}  // namespace

void parse_function(TokenCursor& cursor, PtxModule& module, bool is_entry) {
  FunctionParser(cursor, module, is_entry).run();
}

}  // namespace tenon::emulator
