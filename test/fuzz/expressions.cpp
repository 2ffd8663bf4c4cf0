// Values of each type.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "generator.h"
#include "support/functions.h"

namespace tenon::fuzz {
namespace {

using enum ElementType;

constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};
constexpr int kMostReductions = 2;

}  // namespace

ElementType Generator::seen(ElementType type, const Scope& scope) const {
  return scope.widens && !is_f8(type) ? widened(type) : type;
}

ElementType Generator::some_type(const Scope& scope) {
  const ElementType type =
      random_.chance(85) ? random_.pick(palette_) : random_.pick(std::array{kF32, kI32, kU8, kI64});
  return is_f8(type) && scope.widens ? kF32 : seen(type, scope);
}

ElementType Generator::some_number(const Scope& scope) {
  const ElementType type = some_type(scope);
  return type == kBool || is_f8(type) ? kF32 : type;
}

std::string Generator::literal(ElementType type) {
  constexpr std::string_view kFloats[] = {"0.5",  "2", "3", "0.1",  "(1 / 3)", "-1.5",  "1e-3", "100",
                                          "0.25", "1", "0", "-0.0", "-1",      "10.75", "-2",   "7"};
  constexpr std::string_view kShort[] = {"0.5", "2", "0", "1", "-1.5", "-4", "0.25"};
  constexpr std::string_view kWhole[] = {"0", "1", "2", "3", "5", "7", "13", "100"};
  constexpr std::string_view kNegative[] = {"-1", "-2", "-3", "-100"};
  if (type == kBool) return random_.chance(50) ? "true" : "false";
  if (is_f8(type)) return std::string(random_.pick(kShort));
  if (is_float(type)) {
    if (random_.chance(4)) return std::string(random_.pick(std::array{"inf", "-inf", "nan"}));
    return std::string(random_.pick(kFloats));
  }
  if (type != kIndex && random_.chance(8)) {
    const unsigned bits = bit_width(type) - (is_signed(type) ? 1 : 0);
    const uint64_t most = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    if (is_signed(type) && random_.chance(50)) return fmt::format("(-{} - 1)", most);
    return std::to_string(most);
  }
  if (is_signed(type) && random_.chance(25)) return std::string(random_.pick(kNegative));
  return std::string(random_.pick(kWhole));
}

Node Generator::value(ElementType type, const Scope& scope, int depth) {
  if (type == kBool) return condition(scope, depth);
  if (depth <= 0 || random_.chance(15)) return leaf(type, scope);
  if (random_.chance(12))
    return {"($0 ? $1 : $2)",
            {condition(scope, depth - 1), value(type, scope, depth - 1),
             random_.chance(25) ? Node{literal(type)} : value(type, scope, depth - 1)}};
  if (random_.chance(8)) {
    const std::string_view word = random_.chance(50) ? "min" : "max";
    return {fmt::format("{}($0, $1)", word), {value(type, scope, depth - 1), value(type, scope, depth - 1)}};
  }
  if (random_.chance(12)) return cast(type, scope, depth);
  if (random_.chance(6)) return call(type, scope, depth);
  if (random_.chance(6)) return guarded_choice(type, scope, depth);
  if (random_.chance(25) && scope.reductions < kMostReductions && !in_function_)
    return any_reduction(type, scope, depth);
  if (is_f8(type)) return leaf(type, scope);
  if (type == kIndex) return index_value(scope, depth);
  return is_float(type) ? float_value(type, scope, depth) : integer_value(type, scope, depth);
}

Node Generator::float_value(ElementType type, const Scope& scope, int depth) {
  auto operand = [&] { return value(type, scope, depth - 1); };
  constexpr std::string_view kOperators[] = {"+", "+", "-", "*", "*", "/"};
  switch (random_.below(10)) {
    case 0:
    case 1:
    case 2: {
      // A function that the type has.
      const auto function = static_cast<FunctionId>(random_.below(function_count()));
      const FunctionRow& row = tenon::row(function);
      if (row.result == FunctionResult::kBool || row.operands == FunctionOperands::kInteger) break;
      if (type == kF64 && !row.f64) break;
      Node node{std::string(row.name) + "("};
      for (unsigned i = 0; i < row.arity; ++i) {
        node.text += fmt::format("{}${}", i ? ", " : "", i);
        node.parts.push_back(operand());
      }
      node.text += ")";
      return node;
    }
    case 3:
      return {"(-$0)", {operand()}};
    case 4:
      return {fmt::format("({} {} $0)", literal(type), random_.pick(kOperators)), {operand()}};
    case 5:
      return {fmt::format("($0 {} {})", random_.pick(kOperators), literal(type)), {operand()}};
    case 6:
      return {fmt::format("($0 * $1 {} $2)", random_.chance(50) ? '+' : '-'),
              {operand(), operand(), operand()}};
    default:
      break;
  }
  return {fmt::format("($0 {} $1)", random_.pick(kOperators)), {operand(), operand()}};
}

Node Generator::integer_value(ElementType type, const Scope& scope, int depth) {
  auto operand = [&] { return value(type, scope, depth - 1); };
  constexpr std::string_view kOperators[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
  switch (random_.below(10)) {
    case 0:
      return {fmt::format("({}$0)", random_.chance(50) ? "-" : "~"), {operand()}};
    case 1:
      return {fmt::format("{}($0)", random_.pick(std::array{"abs", "popcount", "clz"})), {operand()}};
    case 2:
      return {fmt::format("($0 {} {})", random_.chance(50) ? "<<" : ">>", random_.below(bit_width(type) + 2)),
              {operand()}};
    case 3:
      return {fmt::format("($0 {} $1)", random_.chance(50) ? "<<" : ">>"), {operand(), operand()}};
    case 4:
    case 5:
      return {fmt::format("($0 {} {})", random_.pick(kOperators), literal(type)), {operand()}};
    case 6:
      return {fmt::format("({} {} $0)", literal(type), random_.pick(kOperators)), {operand()}};
    default:
      return {fmt::format("($0 {} $1)", random_.pick(kOperators)), {operand(), operand()}};
  }
}

Node Generator::index_value(const Scope& scope, int depth) {
  constexpr std::string_view kOperators[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
  if (random_.chance(40)) return {fmt::format("index({})", position(scope, depth))};
  return {fmt::format("($0 {} $1)", random_.pick(kOperators)),
          {value(kIndex, scope, depth - 1), leaf(kIndex, scope)}};
}

Node Generator::condition(const Scope& scope, int depth) {
  if (depth > 0) {
    switch (random_.below(9)) {
      case 0:
        return {fmt::format("($0 {} $1)", random_.pick(std::array{"&&", "||", "&", "|", "^", "==", "!="})),
                {condition(scope, depth - 1), condition(scope, depth - 1)}};
      case 1:
        return {"(!$0)", {condition(scope, depth - 1)}};
      case 2:
        if (scope.reductions < kMostReductions && !in_function_)
          return reduction(random_.chance(50) ? "any" : "all", kBool, scope, depth);
        break;
      case 3: {
        const ElementType type = some_number(scope);
        if (is_float(type))
          return {fmt::format("{}($0)", random_.chance(50) ? "isnan" : "isinf"),
                  {value(type, scope, depth - 1)}};
        break;
      }
      case 4:
        return {"bool($0)", {value(some_number(scope), scope, depth - 1)}};
      case 5:
        return leaf(kBool, scope);
      default:
        break;
    }
  }
  if (!scope.indices.empty() && random_.chance(40)) {
    const std::string a = indices_[random_.pick(scope.indices)].name;
    if (random_.chance(30))
      return {fmt::format("({} % {} == {})", a, 2 + random_.below(3), random_.below(3))};
    return {fmt::format("({} {} {})", a, random_.pick(kComparisons), position(scope, 1))};
  }
  const ElementType type = some_type(scope) == kBool ? seen(kF32, scope) : some_number(scope);
  const std::string_view comparison = random_.pick(kComparisons);
  if (random_.chance(40))
    return {fmt::format("($0 {} {})", comparison, literal(type)), {value(type, scope, depth - 1)}};
  return {fmt::format("($0 {} $1)", comparison),
          {value(type, scope, depth - 1), value(type, scope, depth - 1)}};
}

Node Generator::leaf(ElementType type, const Scope& scope) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < variables_.size(); ++i)
    if (seen(variables_[i].type, scope) == type) fitting.push_back(i);
  // Late definitions make chains of statements.
  if (!fitting.empty() && random_.chance(80))
    return read(variables_[random_.chance(50) ? fitting.back() : random_.pick(fitting)], scope);
  if (!in_function_ && !is_f8(type) && random_.chance(15)) {
    const std::string at = position(scope, 2);
    if (type == kBool) return {fmt::format("({} > {})", at, random_.below(9))};
    return {fmt::format("{}({})", type_text(type), at)};
  }
  if (random_.chance(10) || variables_.empty()) {
    if (!in_function_ || type == kBool) return {fmt::format("{}({})", name(type), literal(type))};
  }
  if (!in_function_ && random_.chance(75)) {
    std::vector<size_t> shape;
    for (size_t index : scope.indices)
      if (random_.chance(70) && shape.size() < 5)
        shape.insert(shape.begin() + static_cast<ptrdiff_t>(
                                         random_.chance(75) ? shape.size() : random_.below(shape.size() + 1)),
                     indices_[index].extent);
    if (random_.chance(8)) shape.push_back(random_.below(extents_.size()));
    const Variable variable = new_parameter(type, std::move(shape));
    if (seen(variable.type, scope) == type) return read(variable, scope);
  }
  const Variable variable = random_.pick(variables_);
  if (is_f8(variable.type) && (scope.widens || type == kBool))
    return {fmt::format("{}({})", name(type), literal(type))};
  return {fmt::format("{}($0)", type_text(type)), {read(variable, scope)}};
}

Node Generator::cast(ElementType type, const Scope& scope, int depth) {
  // Narrow casts round, and widen after that.
  ElementType to = type;
  if (scope.widens && type == kF32 && random_.chance(40)) to = random_.chance(50) ? kF16 : kBF16;
  if (scope.widens && type == kI32 && random_.chance(40)) to = random_.pick(std::array{kI8, kU8, kI16, kU16});
  if (!scope.widens && widened(type) == type && random_.chance(20)) {
    const ElementType narrow = random_.pick(palette_);
    if (widened(narrow) == type && narrow != kBool && !is_f8(narrow))
      return {"wide($0)", {value(narrow, scope, depth - 1)}};
  }
  return {fmt::format("{}($0)", type_text(to)), {value(some_type(scope), scope, depth - 1)}};
}

Node Generator::call(ElementType type, const Scope& scope, int depth) {
  if (!functions_.empty() && !in_function_ && random_.chance(60)) {
    const Function& function = random_.pick(functions_);
    if (seen(function.result, scope) == type) {
      Node node{function.name + "("};
      for (ElementType argument : function.arguments) {
        const bool narrow = seen(argument, scope) != argument;
        node.text += fmt::format("{}{}${}{}", node.parts.empty() ? "" : ", ",
                                 narrow ? std::string(name(argument)) + "(" : "", node.parts.size(),
                                 narrow ? ")" : "");
        node.parts.push_back(value(seen(argument, scope), scope, depth - 1));
      }
      node.text += ")";
      return node;
    }
  }
  constexpr std::string_view kLibrary[] = {"relu", "gelu", "gelu_tanh", "silu", "sigmoid", "softplus"};
  if (!is_float(type) || is_f8(type) || type == kF64) return leaf(type, scope);
  return {fmt::format("{}($0)", random_.pick(kLibrary)), {value(type, scope, depth - 1)}};
}

Node Generator::guarded_choice(ElementType type, const Scope& scope, int depth) {
  if (scope.indices.empty()) return leaf(type, scope);
  Scope inside = scope;
  const std::string condition = guard(random_.pick(scope.indices), inside);
  return {fmt::format("({} ? $0 : $1)", condition),
          {value(type, inside, depth - 1), value(type, scope, depth - 1)}};
}

Node Generator::any_reduction(ElementType type, const Scope& scope, int depth) {
  if (is_f8(type)) return reduction(random_.chance(50) ? "max" : "min", type, scope, depth);
  if (type == kIndex && random_.chance(60))
    return reduction(random_.chance(50) ? "argmax" : "argmin", some_number(scope), scope, depth);
  const bool wide = widened(type) == type;
  if (wide && random_.chance(60)) return reduction(random_.chance(80) ? "sum" : "prod", type, scope, depth);
  return reduction(random_.chance(50) ? "max" : "min", type, scope, depth);
}

Node Generator::reduction(std::string_view kind, ElementType type, const Scope& scope, int depth) {
  Scope inside = scope;
  ++inside.reductions;
  const bool sums = kind == "sum" || kind == "prod";
  if (sums) inside.widens = true;
  std::vector<size_t> binders;
  std::vector<std::string> ranges;
  const size_t count = kind.starts_with("arg") ? 1 : 1 + random_.below(4) / 3;
  for (size_t i = 0; i < count; ++i) {
    const size_t extent = random_.below(extents_.size());
    const bool inferred = random_.chance(60);
    ranges.push_back(inferred ? "" : range(extent, inside));
    binders.push_back(new_index(extent, inferred));
    inside.indices.push_back(binders.back());
  }
  std::string where;
  if (random_.chance(25)) {
    Scope condition_scope = inside;
    condition_scope.widens = false;
    where = random_.chance(60) ? guard(random_.pick(binders), inside)
                               : condition(condition_scope, depth - 1).to_text();
  }
  // A bool is a term of a sum of i32.
  Node body = sums && type == kI32 && random_.chance(20) ? condition(inside, depth - 1)
                                                         : value(type, inside, depth - 1);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const Index& index = indices_[binders[i]];
    if (index.inferred && !index.stands_alone) ranges[i] = fmt::format("0..{}", extents_[index.extent].text);
    texts.push_back(index.name + (ranges[i].empty() ? "" : " in " + ranges[i]));
  }
  return {fmt::format("{}[{}{}{}]($0)", kind, fmt::join(texts, ", "), where.empty() ? "" : " where ", where),
          {std::move(body)}};
}

}  // namespace tenon::fuzz
