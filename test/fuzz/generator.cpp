#include "generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tenon::fuzz {
namespace {

using enum ElementType;

// As often as they are worth a test.
constexpr ElementType kTypes[] = {kF32, kF32, kF32, kF32,    kF32,    kF32,  kF16,  kF16, kBF16,
                                  kF64, kI32, kI32, kI64,    kI8,     kI8,   kU8,   kU8,  kI16,
                                  kU16, kU32, kU64, kF8E4M3, kF8E5M2, kBool, kIndex};
constexpr int64_t kConstants[] = {1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 8, 16, 32, 33, 64, 128};
constexpr std::string_view kSymbols[] = {"A", "B", "C", "D"};
constexpr size_t kMostParameters = 7;

}  // namespace

Program Generator::generate() {
  make_extents();
  make_palette();
  if (random_.chance(15)) program_.attribute = "@allow(approx)";
  for (size_t count = random_.below(3); count > 0; --count)
    new_parameter(random_.pick(palette_), some_shape());
  for (size_t count = random_.below(4) / 2; count > 0; --count) make_function();
  if (random_.chance(15)) {
    scalars_.push_back("n");
    program_.parameters.push_back("n: index");
  }
  const size_t statements = 1 + random_.below(1 + random_.below(5));
  if (random_.chance(20)) declare_inout();
  // Before its definition and behind it, the name of an inout means different values.
  const size_t defined = random_.below(statements + 1);
  for (size_t i = 0; i <= statements; ++i) {
    if (inout_ && i == defined) define_inout();
    if (i < statements) make_statement(i + 1 == statements);
  }
  declare_missing_symbols();
  make_clauses();
  return std::move(program_);
}

void Generator::make_extents() {
  const size_t symbols = 1 + random_.below(std::size(kSymbols));
  for (size_t i = 0; i < symbols; ++i) {
    const std::string symbol(kSymbols[i]);
    extents_.push_back({Extent::Kind::kSymbol, symbol});
    if (random_.chance(12)) program_.options.sizes[symbol] = random_.pick(kConstants);
    if (random_.chance(5)) {
      program_.options.sizes[symbol] = random_.pick(kConstants);
      program_.generics.push_back(symbol + ": dim");
    }
  }
  for (size_t count = random_.below(3); count > 0; --count) {
    const int64_t number = random_.pick(kConstants);
    extents_.push_back({Extent::Kind::kConstant, std::to_string(number), number});
  }
  for (size_t count = random_.below(4); count > 1; --count) {
    const size_t a = random_.below(symbols);
    const size_t b = random_.below(symbols);
    const auto number = static_cast<int64_t>(1 + random_.below(4));
    const std::string& text = extents_[a].text;
    switch (random_.below(5)) {
      case 0:
        extents_.push_back({Extent::Kind::kPlus, fmt::format("({} + {})", text, number), number, a});
        break;
      case 1:
        extents_.push_back(
            {Extent::Kind::kMultiple, fmt::format("({} * {})", number + 1, text), number + 1, a});
        break;
      case 2:
        extents_.push_back(
            {Extent::Kind::kProduct, fmt::format("({} * {})", text, extents_[b].text), 0, a, b});
        break;
      case 3:
        extents_.push_back({Extent::Kind::kSum, fmt::format("({} + {})", text, extents_[b].text), 0, a, b});
        break;
      default:
        extents_.push_back({Extent::Kind::kHalf, fmt::format("({} / 2)", text), 0, a});
    }
  }
}

void Generator::make_palette() {
  for (size_t count = 1 + random_.below(3); count > 0; --count) palette_.push_back(random_.pick(kTypes));
  if (!random_.chance(15)) return;
  generic_ = random_.pick(palette_);
  const bool floating = *generic_ == kF32 || *generic_ == kF16 || *generic_ == kBF16 || *generic_ == kF64;
  if (*generic_ == kIndex) return generic_.reset();
  program_.generics.push_back(floating ? "T: float" : is_integer(*generic_) ? "T: int" : "T: any");
  program_.options.types["T"] = *generic_;
}

std::vector<size_t> Generator::some_shape() {
  // Ranks 0 to 5, the middle ones most often.
  constexpr size_t kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5};
  std::vector<size_t> shape(random_.pick(kRanks));
  for (size_t& extent : shape) {
    extent = random_.below(extents_.size());
    // Several large constants would leave no sizes to try.
    if (shape.size() > 2 && extents_[extent].number > 8) extent = 0;
  }
  return shape;
}

size_t Generator::new_index(size_t extent, bool inferred) {
  indices_.push_back({fmt::format("k{}", indices_.size()), extent, inferred});
  return indices_.size() - 1;
}

std::string Generator::type_text(ElementType type) {
  return type == generic_ && random_.chance(50) ? "T" : std::string(name(type));
}

std::string Generator::type_text(ElementType type, const std::vector<size_t>& shape) {
  std::vector<std::string_view> texts;
  for (size_t extent : shape) texts.push_back(extents_[extent].text);
  return shape.empty() ? type_text(type) : fmt::format("{}[{}]", type_text(type), fmt::join(texts, ", "));
}

std::string Generator::subscripts_text(const std::vector<size_t>& indices) const {
  std::vector<std::string_view> texts;
  for (size_t index : indices) texts.push_back(indices_[index].name);
  return indices.empty() ? "" : fmt::format("[{}]", fmt::join(texts, ", "));
}

const Variable& Generator::new_parameter(ElementType type, std::vector<size_t> shape) {
  if (in_function_ || program_.parameters.size() >= kMostParameters) return random_.pick(variables_);
  // Index scalars are sizes, and declared as such.
  if (shape.empty() && type == kIndex) type = kI32;
  Variable variable{fmt::format("x{}", names_++), type, std::move(shape)};
  program_.parameters.push_back(variable.name + ": " + type_text(type, variable.shape));
  variables_.push_back(std::move(variable));
  return variables_.back();
}

void Generator::make_function() {
  Function function{fmt::format("f{}", functions_.size()), {}, random_.pick(palette_)};
  std::vector<Variable> arguments;
  std::vector<std::string> declarations;
  for (size_t count = 1 + random_.below(2); count > 0; --count) {
    function.arguments.push_back(random_.pick(palette_));
    arguments.push_back({fmt::format("a{}", count), function.arguments.back(), {}});
    declarations.push_back(fmt::format("{}: {}", arguments.back().name, name(arguments.back().type)));
  }
  std::swap(variables_, arguments);
  const std::optional<ElementType> generic = std::exchange(generic_, std::nullopt);
  in_function_ = true;
  Node body = value(function.result, {}, 2);
  in_function_ = false;
  generic_ = generic;
  std::swap(variables_, arguments);
  program_.functions.push_back(
      {"",
       fmt::format("fn {}({}) -> {}", function.name, fmt::join(declarations, ", "), name(function.result)),
       std::move(body)});
  functions_.push_back(std::move(function));
}

void Generator::make_statement(bool last) {
  switch (random_.below(10)) {
    case 0:
    case 1:
      return make_contraction();
    case 2:
    case 3:
      return make_chain();
    case 4:
      return make_window();
    case 5:
      if (!last) return make_call();
      break;
    default:
      break;
  }
  const bool result = last || random_.chance(40);
  std::vector<size_t> indices;
  for (size_t extent : some_shape()) indices.push_back(new_index(extent, !result && random_.chance(70)));
  const ElementType type = random_.pick(palette_);
  Node node = value(type, {indices, {}, false, 0}, 3);
  add_definition(result, type, indices, std::move(node));
}

void Generator::add_definition(bool result, ElementType type, const std::vector<size_t>& indices,
                               Node value) {
  Variable variable{fmt::format("{}{}", result ? 'y' : 't', names_++), type, {}};
  bool declare = random_.chance(30);
  for (size_t index : indices) {
    variable.shape.push_back(indices_[index].extent);
    declare = declare || !indices_[index].stands_alone;
  }
  Statement statement{"", variable.name + subscripts_text(indices), std::move(value)};
  const std::string declaration = variable.name + ": " + type_text(type, variable.shape);
  if (result) {
    program_.results.push_back(declaration);
  } else if (declare || !std::ranges::all_of(indices, [&](size_t i) { return indices_[i].inferred; })) {
    statement.declaration = declaration;
  }
  program_.statements.push_back(std::move(statement));
  variables_.push_back(std::move(variable));
}

void Generator::declare_inout() {
  Variable variable{fmt::format("c{}", names_++), random_.pick(palette_), some_shape()};
  if (variable.shape.empty()) return;
  program_.parameters.push_back(variable.name + ": inout " + type_text(variable.type, variable.shape));
  variables_.push_back(variable);
  inout_ = std::move(variable);
}

void Generator::define_inout() {
  std::vector<size_t> indices;
  for (size_t extent : inout_->shape) indices.push_back(new_index(extent, false));
  Node node = value(inout_->type, {indices, {}, false, 0}, 3);
  program_.statements.push_back({"", inout_->name + subscripts_text(indices), std::move(node)});
}

void Generator::make_clauses() {
  const auto symbols = static_cast<size_t>(
      std::ranges::count_if(extents_, [](const Extent& e) { return e.kind == Extent::Kind::kSymbol; }));
  const std::string& a = extents_[random_.below(symbols)].text;
  const std::string& b = extents_[random_.below(symbols)].text;
  if (!program_.options.sizes.empty()) return;
  switch (random_.below(12)) {
    case 0:
      return program_.clauses.push_back(a + " >= 1");
    case 1:
      return program_.clauses.push_back(fmt::format("{} % {} == 0", a, 1 + random_.below(8)));
    case 2:
      return program_.clauses.push_back(fmt::format("{} <= {}", a, b));
    case 3:
      return program_.clauses.push_back(fmt::format("{} == {}", a, b));
    default:
      return;
  }
}

void Generator::declare_missing_symbols() {
  std::string types;
  for (const auto& list : {program_.parameters, program_.results})
    for (const std::string& text : list) types += text.substr(text.find(':'));
  for (const Extent& extent : extents_)
    if (extent.kind == Extent::Kind::kSymbol && types.find(extent.text) == std::string::npos &&
        std::ranges::find(program_.generics, extent.text + ": dim") == program_.generics.end())
      program_.parameters.push_back(fmt::format("s{}: u8[{}]", extent.text, extent.text));
}

}  // namespace tenon::fuzz
