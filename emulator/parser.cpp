#include "emulator/parser.h"

#include <fmt/format.h>

#include "emulator/function_parser.h"
#include "emulator/parser_base.h"

namespace tenon::emulator {
namespace {

bool is_linkage(std::string_view text) {
  return text == "visible" || text == "extern" || text == "weak" || text == "common" || text == "internal";
}

class ModuleParser {
 public:
  ModuleParser(PtxModule& module, std::vector<Token> tokens) : module_(module), cursor_(std::move(tokens)) {}

  Result<void> run() {
    while (cursor_.ok() && !cursor_.at_end()) parse_directive();
    if (!cursor_.ok()) return std::unexpected(cursor_.take_error());
    return {};
  }

 private:
  void parse_directive() {
    const Token token = cursor_.take();
    if (token.is(';')) return;
    if (token.kind != TokenKind::kDotted) {
      return cursor_.fail(token.position, fmt::format("expected a directive, not '{}'", token.text));
    }
    if (token.text == "version") return parse_version();
    if (token.text == "target") return parse_target();
    if (token.text == "address_size") return parse_address_size();
    if (token.text == "file" || token.text == "loc") return cursor_.skip_line(token.position.line);
    if (token.text == "section") return skip_section();
    if (token.text == "pragma" || token.text == "alias") return cursor_.skip_past(';');
    parse_declaration(token);
  }

  void parse_version() {
    // "8.0" reads as a decimal number.
    const Token token = cursor_.take();
    unsigned* parts[] = {&module_.version_major, &module_.version_minor};
    size_t part = 0;
    for (const char c : token.text) {
      if (c == '.') {
        ++part;
      } else if (c < '0' || c > '9' || part > 1 || *parts[part] > 1000) {
        return cursor_.fail(token.position, "expected a version such as 8.0");
      } else {
        *parts[part] = *parts[part] * 10 + static_cast<unsigned>(c - '0');
      }
    }
  }

  void parse_target() {
    do {
      const TextPosition position = cursor_.peek().position;
      const std::string_view name = cursor_.expect_identifier("a target");
      if (!name.starts_with("sm_")) continue;
      size_t at = 3;
      unsigned sm = 0;
      for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && sm < 1000; ++at) {
        sm = sm * 10 + static_cast<unsigned>(name[at] - '0');
      }
      module_.target_sm = sm;
      module_.target_suffix = name.substr(at);
      if (sm == 0 || module_.target_suffix.size() > 1) cursor_.fail(position, "unknown target");
    } while (cursor_.accept(','));
  }

  void parse_address_size() {
    const TextPosition position = cursor_.peek().position;
    if (cursor_.expect_integer("an address size") != 64)
      cursor_.fail(position, "only 64-bit addresses are supported");
  }

  void skip_section() {
    if (cursor_.peek().kind == TokenKind::kDotted || cursor_.peek().kind == TokenKind::kIdentifier)
      cursor_.take();
    cursor_.skip_braces();
  }

  void parse_declaration(Token token) {
    bool external = false;
    while (cursor_.ok() && token.kind == TokenKind::kDotted && is_linkage(token.text)) {
      external |= token.text == "extern";
      token = cursor_.take();
    }
    if (token.kind == TokenKind::kDotted && (token.text == "entry" || token.text == "func")) {
      return parse_function(cursor_, module_, token.text == "entry");
    }
    const auto space = token.kind == TokenKind::kDotted ? state_space_by_name(token.text) : std::nullopt;
    if (!space || *space == StateSpace::kParam) {
      return cursor_.fail(token.position, fmt::format("unknown directive '.{}'", token.text));
    }
    do {
      Variable variable = cursor_.parse_variable(*space);
      variable.external = external;
      if (cursor_.accept('=')) parse_initialiser(variable, 0);
      fix_extent(variable);
      module_.variables.push_back(std::move(variable));
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect(';');
  }

  // An array without a size takes it from its initialiser.
  void fix_extent(Variable& variable) {
    if (variable.elements == 0 && !variable.external) variable.elements = variable.initialiser.size();
    if (variable.initialiser.size() > variable.elements)
      cursor_.fail(variable.position, "too many initial values");
  }

  void parse_initialiser(Variable& variable, unsigned depth) {
    if (depth > 8) return cursor_.fail_here("the initialiser is nested too deeply");
    if (!cursor_.accept('{')) return parse_initial_value(variable);
    if (cursor_.accept('}')) return;
    do {
      parse_initialiser(variable, depth + 1);
    } while (cursor_.ok() && cursor_.accept(','));
    cursor_.expect('}');
  }

  void parse_initial_value(Variable& variable) {
    InitialValue value;
    value.position = cursor_.peek().position;
    const bool negative = cursor_.accept('-');
    const Token token = cursor_.take();
    switch (token.kind) {
      case TokenKind::kInteger:
      case TokenKind::kFloat32:
      case TokenKind::kFloat64:
        value.kind = token.kind;
        value.bits = token.bits;
        break;
      case TokenKind::kIdentifier:
        value.kind = TokenKind::kIdentifier;
        parse_symbol_value(value, token);
        break;
      default:
        return cursor_.fail(token.position, fmt::format("expected an initial value, not '{}'", token.text));
    }
    if (negative) negate(value);
    variable.initialiser.push_back(value);
  }

  static void negate(InitialValue& value) {
    if (value.kind == TokenKind::kFloat64) {
      value.bits ^= uint64_t{1} << 63;
    } else if (value.kind == TokenKind::kFloat32) {
      value.bits ^= uint64_t{1} << 31;
    } else {
      value.bits = 0 - value.bits;
    }
  }

  void parse_symbol_value(InitialValue& value, const Token& token) {
    value.symbol = token.text;
    if (token.text == "generic" && cursor_.accept('(')) {
      value.symbol = cursor_.expect_identifier("a symbol");
      cursor_.expect(')');
    }
    if (cursor_.accept('+')) value.bits = cursor_.expect_integer("an offset");
    if (cursor_.accept('-')) value.bits = 0 - cursor_.expect_integer("an offset");
  }

  PtxModule& module_;
  TokenCursor cursor_;
};

}  // namespace

Result<PtxModule> parse_ptx(std::string text) {
  PtxModule module;
  module.text = std::make_shared<const std::string>(std::move(text));
  TENON_TRY_ASSIGN(std::vector<Token> tokens, tokenize(*module.text));
  TENON_TRY(ModuleParser(module, std::move(tokens)).run());
  if (module.target_sm == 0) return std::unexpected(ptx_error({1, 1}, "the module has no .target"));
  return module;
}

}  // namespace tenon::emulator
