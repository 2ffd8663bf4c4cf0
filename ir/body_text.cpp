#include "ir/body_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "support/numeric.h"

namespace tenon::ir {
namespace {

constexpr size_t kMaxInstructions = size_t{1} << 20;
constexpr size_t kMaxSubscripts = 64;

int64_t sign_extended(const Constant& constant) {
  unsigned unused = 64 - bit_width(constant.type);
  return static_cast<int64_t>(constant.bits << unused) >> unused;
}

uint64_t width_mask(ElementType type) {
  return bit_width(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bit_width(type)) - 1;
}

bool whole(const char* end, std::errc error, std::string_view text) {
  return error == std::errc() && end == text.data() + text.size();
}

std::string float_text(const Constant& constant) {
  double value = float_value(constant.type, constant.bits);
  if (!std::isnan(value)) {
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return fmt::format("{:a}", value);
  }
  if (constant.bits == float_bits(constant.type, std::numeric_limits<double>::quiet_NaN())) return "nan";
  return fmt::format("nan({:#x})", constant.bits);
}

// The bits between the parentheses of `nan(0x...)`.
bool parse_nan_bits(std::string_view text, ElementType type, uint64_t& bits) {
  if (!text.starts_with("nan(0x") || !text.ends_with(")")) return false;
  std::string_view digits = text.substr(6, text.size() - 7);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  return whole(end, error, digits) && (bits & ~width_mask(type)) == 0 && std::isnan(float_value(type, bits));
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  auto format = hex ? std::chars_format::hex : std::chars_format::general;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  return whole(end, error, text);
}

bool parse_float(std::string_view text, ElementType type, uint64_t& bits) {
  if (parse_nan_bits(text, type, bits)) return true;
  bool negative = text.starts_with("-");
  if (negative) text.remove_prefix(1);
  double value = 0;
  if (text == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (text == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (type == ElementType::kF32 && !text.starts_with("0x")) {
    float single = 0;
    if (!parse_number(text, single)) return false;
    value = single;
  } else if (!parse_number(text, value)) {
    return false;
  }
  if (negative) value = -value;
  // A cast to f8 saturates; a constant may be the infinity that f8e5m2 has.
  bits =
      type == ElementType::kF8E5M2 && std::isinf(value) ? encode<Float8E5M2>(value) : float_bits(type, value);
  return true;
}

bool parse_integer(std::string_view text, ElementType type, uint64_t& bits) {
  if (is_unsigned(type)) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
    return whole(end, error, text) && (bits & ~width_mask(type)) == 0;
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bits = static_cast<uint64_t>(value) & width_mask(type);
  return whole(end, error, text) && sign_extended({type, bits}) == value;
}

}  // namespace

std::string constant_text(const Constant& constant) {
  switch (kind(constant.type)) {
    case ElementKind::kFloat:
      return float_text(constant);
    case ElementKind::kSigned:
      return fmt::format("{}", sign_extended(constant));
    case ElementKind::kUnsigned:
      return fmt::format("{}", constant.bits);
    case ElementKind::kBool:
      return constant.bits != 0 ? "true" : "false";
  }
  return {};
}

ConstantText::ConstantText(TextScanner& scanner) : span_(scanner.peek().span) {
  if (scanner.accept("-")) text_ = "-";
  if (!scanner.at(Token::Kind::kNumber) && !scanner.at(Token::Kind::kWord)) {
    scanner.fail_expected("a constant");
    return;
  }
  text_ += scanner.take().text;
  if (text_ == "nan" && scanner.accept("(")) {
    text_ += "(" + std::string(scanner.expect(Token::Kind::kNumber, "the bits of a NaN").text) + ")";
    scanner.expect(")");
  }
  span_ = scanner.span_from(span_);
}

Constant ConstantText::as(ElementType type, TextScanner& scanner) const {
  Constant constant{type, 0};
  bool good = false;
  if (is_float(type)) {
    good = parse_float(text_, type, constant.bits);
  } else if (type == ElementType::kBool) {
    good = text_ == "true" || text_ == "false";
    constant.bits = text_ == "true";
  } else {
    good = parse_integer(text_, type, constant.bits);
  }
  if (!good)
    scanner.fail(DiagnosticId::kIrBadConstant, span_, text_.substr(0, 60),
                 fmt::format("a constant of {}", name(type)));
  return constant;
}

Symbol parse_symbol(TextScanner& scanner, const Token& name) {
  Symbol symbol;
  symbol.name = name.text;
  symbol.span = name.span;
  if (scanner.accept(":")) {
    scanner.expect("scalar");
    symbol.kind = Symbol::Kind::kScalar;
  }
  if (scanner.accept("=")) symbol.fixed = scanner.expect_integer("the value of a symbol");
  return symbol;
}

ElementType parse_element_type(TextScanner& scanner) {
  auto type = scanner.at(Token::Kind::kWord) ? element_type_by_name(scanner.peek().text) : std::nullopt;
  if (type) {
    scanner.take();
  } else {
    scanner.fail_expected("an element type");
  }
  return type.value_or(ElementType::kF32);
}

std::string BodyPrinter::index_text(IndexId id) const {
  return ir::index_text(index, id, [&](const IndexNode& node) {
    return node.kind == IndexKind::kValue ? fmt::format("%{}", node.reference) : atom(node);
  });
}

std::string BodyPrinter::access_text(TensorId id, std::span<const IndexId> subscripts) const {
  std::string text = tensor(id) + "[";
  for (size_t i = 0; i < subscripts.size(); ++i) text += (i > 0 ? ", " : "") + index_text(subscripts[i]);
  return text + "]";
}

std::string BodyPrinter::instruction_text(const Body& body, ValueId id) const {
  const Instruction& instruction = body[id];
  std::string text = fmt::format("%{} = {}", id.index(), row(instruction.op).mnemonic);
  unsigned operands = instruction.operand_count();
  if (instruction.op == Opcode::kRead) {
    text += " %" + access_text(instruction.tensor, instruction.subscripts);
    if (operands > 0) text += fmt::format(" where %{}", instruction.operands[0].index());
    if (operands > 1) text += fmt::format(" else %{}", instruction.operands[1].index());
  } else if (instruction.op == Opcode::kConst) {
    text += " " + constant_text({instruction.type, instruction.bits});
  } else if (instruction.op == Opcode::kArg) {
    text += fmt::format(" {}", instruction.bits);
  } else if (instruction.op == Opcode::kIndex) {
    text += " " + index_text(instruction.index);
  } else {
    for (unsigned i = 0; i < operands; ++i)
      text += fmt::format("{}%{}", i > 0 ? ", " : " ", instruction.operands[i].index());
  }
  text += fmt::format(" : {}", name(instruction.type));
  if (instruction.approx) text += " approx";
  return text;
}

void BodyPrinter::print(std::string& out, const Body& body, std::string_view indent) const {
  for (uint32_t i = 0; i < body.size(); ++i) {
    out += indent;
    out += instruction_text(body, ValueId(i));
    if (trailer) out += trailer(body[ValueId(i)].span);
    out += '\n';
  }
}

Body BodyParser::parse() {
  body_ = Body();
  values_.clear();
  while (scanner_.at(Token::Kind::kValue)) parse_instruction();
  return body_;
}

ValueId BodyParser::parse_value() {
  Token name = scanner_.expect(Token::Kind::kValue, "a value");
  auto found = values_.find(name.text);
  if (found != values_.end()) return found->second;
  scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "value", name.text.substr(0, 60));
  return {};
}

IndexId BodyParser::parse_expression() {
  return parse_index(scanner_, index_, [&](const Token& token) {
    if (token.kind != Token::Kind::kValue) return atom_(token);
    auto found = values_.find(token.text);
    return found == values_.end() ? IndexId() : index_.value(found->second);
  });
}

void BodyParser::parse_instruction() {
  Token name = scanner_.take();
  scanner_.expect("=");
  Instruction instruction;
  instruction.span = name.span;
  Token mnemonic = scanner_.expect(Token::Kind::kWord, "an operation");
  auto opcode = opcode_by_mnemonic(mnemonic.text);
  if (!opcode || row(*opcode).stage != Stage::kBody)
    scanner_.fail(DiagnosticId::kIrUnknownName, mnemonic.span, "scalar operation",
                  mnemonic.text.substr(0, 60));
  if (scanner_.failed()) return;
  instruction.op = *opcode;
  std::optional<ConstantText> constant;
  switch (*opcode) {
    case Opcode::kConst:
      constant.emplace(scanner_);
      break;
    case Opcode::kArg:
      instruction.bits = static_cast<uint64_t>(scanner_.expect_integer("the position of an argument"));
      break;
    case Opcode::kIndex:
      instruction.index = parse_expression();
      break;
    case Opcode::kRead:
      parse_read(instruction);
      break;
    default:
      parse_operands(instruction);
      break;
  }
  scanner_.expect(":");
  instruction.type = parse_element_type(scanner_);
  if (constant) instruction.bits = constant->as(instruction.type, scanner_).bits;
  instruction.approx = scanner_.accept("approx");
  instruction.span = scanner_.span_from(name.span);
  if (body_.size() >= kMaxInstructions)
    scanner_.fail(DiagnosticId::kIrTooMany, name.span, kMaxInstructions, "instructions in a body");
  if (scanner_.failed()) return;
  ValueId id = body_.add(std::move(instruction));
  if (!values_.emplace(name.text, id).second)
    scanner_.fail(DiagnosticId::kIrRedefinition, name.span, "%" + std::string(name.text.substr(0, 60)));
}

void BodyParser::parse_read(Instruction& instruction) {
  Token name = scanner_.expect(Token::Kind::kValue, "a tensor");
  instruction.tensor = tensor_(name.text);
  if (!instruction.tensor.valid())
    scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "tensor", name.text.substr(0, 60));
  scanner_.expect("[");
  while (!scanner_.at("]") && !scanner_.at_end()) {
    instruction.subscripts.push_back(parse_expression());
    if (instruction.subscripts.size() > kMaxSubscripts)
      scanner_.fail(DiagnosticId::kIrTooMany, name.span, kMaxSubscripts, "subscripts");
    if (!scanner_.accept(",")) break;
  }
  scanner_.expect("]");
  if (!scanner_.accept("where")) return;
  instruction.operands[0] = parse_value();
  scanner_.expect("else");
  instruction.operands[1] = parse_value();
}

void BodyParser::parse_operands(Instruction& instruction) {
  unsigned count = 0;
  while (scanner_.at(Token::Kind::kValue)) {
    if (count == instruction.operands.size()) {
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, count, "operands");
      return;
    }
    instruction.operands[count++] = parse_value();
    if (!scanner_.accept(",")) break;
  }
}

}  // namespace tenon::ir
