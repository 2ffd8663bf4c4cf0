// Statements of a form that chance alone seldom finds, and that families of schedules are made for.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "generator.h"

namespace tenon::fuzz {
namespace {

using enum ElementType;

constexpr std::string_view kTensorFunctions =
    "fn center<T: float>(x: T[..., N]) -> (y: T[..., N]) {\n"
    "  m[...] = sum[k](x[..., k]) / f32(N)\n  y[..., j] = T(wide(x[..., j]) - m[...])\n}\n"
    "fn flip<T: any>(x: T[..., N]) -> (y: T[..., N]) { y[..., j] = x[..., N - 1 - j] }\n"
    "fn extremes<T: number>(x: T[..., N]) -> (low: T[...], high: T[...]) {\n"
    "  low[...] = min[k](x[..., k])\n  high[...] = max[k](x[..., k])\n}\n";

}  // namespace

// Of a product: an element of a tensor over the indices in some order, as it is or computed.
Node Generator::factor(ElementType type, const std::vector<size_t>& indices, const Scope& scope) {
  std::vector<size_t> shuffled = indices;
  if (random_.chance(40))
    for (size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random_.below(i)]);
  std::vector<size_t> shape;
  for (size_t index : shuffled) shape.push_back(indices_[index].extent);
  ElementType stored = random_.pick(palette_);
  if (widened(stored) != type || stored == kBool || is_f8(stored)) stored = type;
  const Variable variable = new_parameter(stored, shape);
  Scope own = scope;
  own.indices = indices;
  if (variable.shape != shape || seen(variable.type, scope) != type) return leaf(type, own);
  if (random_.chance(80)) {
    for (size_t index : shuffled) indices_[index].stands_alone = true;
    return {shuffled.empty() ? variable.name : variable.name + subscripts_text(shuffled)};
  }
  return value(type, own, 2);
}

std::string Generator::binder_text(size_t index) const {
  const Index& binder = indices_[index];
  if (binder.stands_alone) return binder.name;
  return fmt::format("{} in 0..{}", binder.name, extents_[binder.extent].text);
}

Node Generator::sum_of_products(ElementType type, const std::vector<size_t>& free,
                                const std::vector<size_t>& summed) {
  Scope scope{free, {}, true, 1};
  scope.indices.insert(scope.indices.end(), summed.begin(), summed.end());
  const size_t factors = 2 + random_.below(5) / 4;
  Node product{""};
  for (size_t f = 0; f < factors; ++f) {
    // Every factor lacks an index of the result, but for batches.
    std::vector<size_t> indices;
    for (size_t i = 0; i < free.size(); ++i)
      if (i % factors == f || random_.chance(20)) indices.push_back(free[i]);
    for (size_t index : summed)
      if (random_.chance(92)) indices.push_back(index);
    product.text += fmt::format("{}${}", f ? " * " : "", f);
    product.parts.push_back(factor(type, indices, scope));
  }
  std::vector<std::string> binders;
  for (size_t index : summed) binders.push_back(binder_text(index));
  return {fmt::format("sum[{}]($0)", fmt::join(binders, ", ")), {std::move(product)}};
}

void Generator::make_contraction() {
  const ElementType type = random_.pick(std::array{kF32, kF32, kF32, kI32, kF64, kI64});
  std::vector<size_t> free;
  for (size_t count = 1 + random_.below(3); count > 0; --count)
    free.push_back(new_index(random_.below(extents_.size()), false));
  std::vector<size_t> summed;
  for (size_t count = 1 + random_.below(5) / 4; count > 0; --count)
    summed.push_back(new_index(random_.below(extents_.size()), true));
  Node sum = sum_of_products(type, free, summed);
  const Scope outside{free, {}, false, 1};
  const size_t epilogue = random_.below(4);
  if (epilogue == 0) sum = {"($0 + $1)", {std::move(sum), value(type, outside, 1)}};
  if (epilogue == 1)
    sum = {is_float(type) && type != kF64 ? "relu($0 * $1)" : "max($0, $1)",
           {std::move(sum), leaf(type, outside)}};
  ElementType result = type;
  if (random_.chance(25)) {
    result = random_.pick(std::array{kF16, kBF16, kF32, kI8});
    sum = {fmt::format("{}($0)", name(result)), {std::move(sum)}};
  }
  add_definition(random_.chance(70), result, free, std::move(sum));
}

// What came last, over all axes, with one of the reductions before it and more.
Node Generator::chain_element(const Chain& chain, const std::vector<size_t>& all,
                              const std::vector<size_t>& kept, const Scope& scope) {
  Node element;
  if (chain.last.shape == chain.shape && seen(chain.last.type, scope) == chain.type) {
    element = {chain.last.name + subscripts_text(all)};
    for (size_t i : all) indices_[i].stands_alone = true;
  } else {
    element = {fmt::format("{}($0)", name(chain.type)),
               {read(chain.last.shape == chain.shape ? chain.last : random_.pick(variables_), scope)}};
  }
  if (!chain.statistics.empty() && random_.chance(85)) {
    const std::string_view op = random_.pick(std::array{"-", "-", "*", "+"});
    element = {fmt::format("($0 {} {}{})", op, random_.pick(chain.statistics), subscripts_text(kept)),
               {std::move(element)}};
  }
  if (random_.chance(30)) element = {"($0 * $1)", {std::move(element), leaf(chain.type, scope)}};
  const bool floating = is_float(chain.type);
  if (floating && chain.type != kF64 && random_.chance(40))
    element = {"exp(min($0, 8))", {std::move(element)}};
  if (floating && !chain.statistics.empty() && random_.chance(25))
    element = {fmt::format("($0 / {}{})", chain.statistics.back(), subscripts_text(kept)),
               {std::move(element)}};
  return element;
}

// Reductions over some axes and maps over all, each of what came before: softmax, norms.
void Generator::make_chain() {
  const ElementType type = random_.pick(std::array{kF32, kF32, kF16, kBF16, kF64, kI32});
  std::vector<size_t> shape = some_shape();
  if (shape.empty()) shape.push_back(random_.below(extents_.size()));
  std::vector<bool> reduced;
  for (size_t i = 0; i < shape.size(); ++i) reduced.push_back(random_.chance(30));
  if (std::ranges::none_of(reduced, [](bool b) { return b; }))
    reduced[random_.chance(70) ? shape.size() - 1 : random_.below(shape.size())] = true;
  Chain chain{widened(type), shape, new_parameter(type, shape), {}};
  for (size_t step = 2 + random_.below(3); step > 0; --step) {
    const bool map = step == 1 || random_.chance(30);
    const std::string_view kind = random_.pick(std::array{"sum", "sum", "max", "min"});
    std::vector<size_t> all;
    std::vector<size_t> kept;
    for (size_t i = 0; i < shape.size(); ++i) {
      all.push_back(new_index(shape[i], true));
      if (!reduced[i]) kept.push_back(all[i]);
    }
    Node element = chain_element(chain, all, kept, {all, {}, !map && kind == "sum", 1});
    if (map) {
      add_definition(step == 1 || random_.chance(30), chain.type, all, std::move(element));
      chain.last = variables_.back();
      continue;
    }
    std::vector<std::string> binders;
    for (size_t i = 0; i < all.size(); ++i)
      if (reduced[i]) binders.push_back(binder_text(all[i]));
    add_definition(random_.chance(20), chain.type, kept,
                   {fmt::format("{}[{}]($0)", kind, fmt::join(binders, ", ")), {std::move(element)}});
    chain.statistics.push_back(variables_.back().name);
  }
}

// Windows of one or two axes: pooling, stencils, convolutions.
void Generator::make_window() {
  const ElementType type = random_.pick(std::array{kF32, kF16, kI8, kU8});
  const std::string_view kind = random_.pick(std::array{"sum", "max", "min", "sum"});
  const ElementType wide = kind == "sum" ? widened(type) : type;
  std::vector<size_t> shape = some_shape();
  if (shape.empty() || shape.size() > 4) shape = {random_.below(extents_.size())};
  const Variable x = new_parameter(type, shape);
  if (x.shape != shape || x.type != type) return make_chain();
  std::vector<size_t> indices;
  std::vector<std::string> subscripts;
  std::vector<std::string> binders;
  for (size_t i = 0; i < shape.size(); ++i) {
    indices.push_back(new_index(shape[i], false));
    const std::string out = indices_[indices.back()].name;
    if (i + 1 < shape.size() && random_.chance(60)) {
      subscripts.push_back(out);
      continue;
    }
    const std::string tap = fmt::format("r{}", i);
    const size_t taps = 2 + random_.below(4);
    binders.push_back(fmt::format("{} in 0..{}", tap, taps));
    const size_t stride = 1 + random_.below(5) / 3;
    subscripts.push_back(fmt::format("{}{} + {}{} - {}", stride > 1 ? "2 * " : "", out,
                                     random_.chance(20) ? "2 * " : "", tap, random_.below(taps + 1)));
  }
  const std::string outside = kind == "sum" ? "0" : kind == "max" && is_float(type) ? "-inf" : literal(type);
  Node element{fmt::format("{}[{} | {}]", x.name, fmt::join(subscripts, ", "), outside)};
  if (kind == "sum" && random_.chance(50))
    element = {"($0 * $1)", {std::move(element), leaf(wide, {indices, {}, true, 1})}};
  add_definition(true, wide, indices,
                 {fmt::format("{}[{}]($0)", kind, fmt::join(binders, ", ")), {std::move(element)}});
}

// A function on tensors, of the library or of the program.
void Generator::make_call() {
  const ElementType type = random_.pick(std::array{kF32, kF16, kBF16});
  std::vector<size_t> shape = some_shape();
  if (shape.empty()) shape.push_back(random_.below(extents_.size()));
  std::vector<size_t> fitting;
  for (size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i].type == type && !variables_[i].shape.empty()) fitting.push_back(i);
  const Variable x = fitting.empty() ? new_parameter(type, shape) : variables_[random_.pick(fitting)];
  if (x.type != type || x.shape.empty()) return make_chain();
  Variable y{fmt::format("t{}", names_++), type, x.shape};
  std::string targets = y.name;
  std::string arguments = x.name;
  const std::string_view function = random_.pick(
      std::array{"softmax", "log_softmax", "rmsnorm", "layernorm", "center", "flip", "extremes"});
  if (function == "rmsnorm" || function == "layernorm") {
    const std::vector<size_t> row{x.shape.back()};
    const Variable gain = new_parameter(type, row);
    if (gain.type != type || gain.shape != row) return make_chain();
    const std::string epsilon = fmt::format("e{}", names_++);
    program_.parameters.push_back(epsilon + ": f32");
    arguments += fmt::format(", {}{}{}, {}", gain.name, function == "layernorm" ? ", " : "",
                             function == "layernorm" ? gain.name : "", epsilon);
  }
  if (program_.tensor_functions.empty()) program_.tensor_functions = kTensorFunctions;
  if (function == "extremes") {
    y.shape.pop_back();
    variables_.push_back({fmt::format("t{}", names_++), type, y.shape});
    targets += ", " + variables_.back().name;
  }
  program_.statements.push_back({"", targets, {fmt::format("{}({})", function, arguments)}});
  variables_.push_back(std::move(y));
}

}  // namespace tenon::fuzz
