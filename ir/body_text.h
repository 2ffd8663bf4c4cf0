// The text of scalar bodies and constants, and back. An instruction is one line:
//
//   %0 = read %x[i, k] : f32
//   %1 = read %x[i + r] where %p else %d : f32
//   %2 = const 0x1.8p+0 : f32
//   %3 = index i * N + k : index
//   %4 = arg 0 : f32
//   %5 = exp %0 : f32 approx
//
// Values are numbered in order; the parser takes any names. Floats are hexadecimal and exact; a NaN that is
// not the one of support/numeric.h shows its bits, as `nan(0x7fc00000)`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "ir/body.h"
#include "ir/index_text.h"
#include "ir/tensor.h"
#include "ir/text_scanner.h"

namespace tenon::ir {

// The value alone, without its type.
std::string constant_text(const Constant& constant);

// The value of a number, word or NaN at the scanner as a constant of `type`. Decimal floats round to nearest
// even once for f32 and f64, and once more for the narrower types.
class ConstantText {
 public:
  // Takes the tokens; the type may stand behind them.
  explicit ConstantText(TextScanner& scanner);
  Constant as(ElementType type, TextScanner& scanner) const;

 private:
  std::string text_;
  Span span_;
};

// Reports what is no element type.
ElementType parse_element_type(TextScanner& scanner);

// What may stand behind the name of a symbol: `: scalar`, and `= 64` for a fixed value.
Symbol parse_symbol(TextScanner& scanner, const Token& name);

struct BodyPrinter {
  const IndexPool& index;
  // Names of symbols and axes.
  AtomText atom;
  // Names of tensors, without `%`.
  std::function<std::string(TensorId)> tensor;
  // Put behind each instruction, such as a comment with its place.
  std::function<std::string(Span)> trailer;

  // Names of all atoms, values too.
  std::string index_text(IndexId id) const;
  // "x[i, k]" behind its `%`.
  std::string access_text(TensorId tensor, std::span<const IndexId> subscripts) const;
  std::string instruction_text(const Body& body, ValueId id) const;
  // One line an instruction.
  void print(std::string& out, const Body& body, std::string_view indent) const;
};

// Reads instructions into a body, until a line that does not start with a value.
class BodyParser {
 public:
  // `atom` resolves symbols and axes, `tensor` a name without `%`; they give invalid ids for what they do not
  // know.
  BodyParser(TextScanner& scanner, IndexPool& index, AtomOfToken atom,
             std::function<TensorId(std::string_view)> tensor)
      : scanner_(scanner), index_(index), atom_(std::move(atom)), tensor_(std::move(tensor)) {}

  Body parse();
  // A value of the body just parsed, or of the part of it that was read.
  ValueId parse_value();

 private:
  void parse_instruction();
  void parse_read(Instruction& instruction);
  void parse_operands(Instruction& instruction);
  IndexId parse_expression();

  TextScanner& scanner_;
  IndexPool& index_;
  AtomOfToken atom_;
  std::function<TensorId(std::string_view)> tensor_;
  Body body_;
  std::unordered_map<std::string_view, ValueId> values_;
};

}  // namespace tenon::ir
