// Accesses and ranges.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator.h"

namespace tenon::fuzz {

Node Generator::read(const Variable& variable, const Scope& scope) {
  if (variable.shape.empty()) return {variable.name};
  std::vector<std::string> subscripts;
  std::vector<size_t> alone;
  bool defaulted = random_.chance(10);
  for (size_t extent : variable.shape) {
    std::optional<size_t> index;
    std::string subscript = random_.chance(6) ? "" : proved_subscript(extent, scope, index);
    if (subscript.empty()) {
      subscript = free_subscript(extent, scope);
      defaulted = true;
    }
    if (index) alone.push_back(*index);
    subscripts.push_back(std::move(subscript));
  }
  const std::string access = fmt::format("{}[{}", variable.name, fmt::join(subscripts, ", "));
  if (defaulted) {
    Scope outside = scope;
    outside.widens = false;
    if (random_.chance(80)) return {access + " | $0]", {{literal(variable.type)}}};
    return {access + " | $0]", {leaf(variable.type, outside)}};
  }
  for (size_t index : alone) indices_[index].stands_alone = true;
  return {access + "]"};
}

std::string Generator::proved_subscript(size_t extent, const Scope& scope, std::optional<size_t>& alone) {
  const std::string& size = extents_[extent].text;
  // Mostly the plain index, which everything fast is made for.
  std::vector<size_t> plain;
  for (size_t index : scope.indices)
    if (indices_[index].extent == extent) plain.push_back(index);
  if (!plain.empty() && random_.chance(75)) {
    alone = random_.pick(plain);
    return indices_[*alone].name;
  }
  std::vector<std::string> found;
  for (const Scope::Guarded& guarded : scope.guarded)
    if (guarded.extent == extent) found.insert(found.end(), 3, guarded.subscript);
  for (size_t index : plain) {
    const std::string& i = indices_[index].name;
    found.push_back(fmt::format("{} - 1 - {}", size, i));
    found.push_back(fmt::format("{} / {}", i, 2 + random_.below(3)));
    found.push_back(fmt::format("min({} + {}, {} - 1)", i, 1 + random_.below(3), size));
    found.push_back(fmt::format("max({} - {}, 0)", i, 1 + random_.below(3)));
    found.push_back(fmt::format("({} + {}) % {}", i, 1 + random_.below(5), size));
    found.push_back(fmt::format("({} - {}) % {}", i, 1 + random_.below(5), size));
    found.push_back(fmt::format("{} * 3 % {}", i, size));
  }
  for (size_t index : scope.indices) add_related(extent, indices_[index], scope, found);
  if (extents_[extent].kind == Extent::Kind::kConstant) {
    const int64_t number = extents_[extent].number;
    found.push_back(std::to_string(random_.below(static_cast<size_t>(number))));
    for (size_t index : scope.indices) {
      found.push_back(fmt::format("{} % {}", indices_[index].name, number));
      found.push_back(fmt::format("min({}, {})", indices_[index].name, number - 1));
    }
  }
  if (found.empty() || random_.chance(3)) {
    // The launch has to check that there is one.
    if (random_.chance(70)) return "";
    return random_.chance(50) ? "0" : fmt::format("{} - 1", size);
  }
  return random_.pick(found);
}

void Generator::add_related(size_t extent, const Index& index, const Scope& scope,
                            std::vector<std::string>& found) const {
  const Extent& to = extents_[extent];
  const Extent& from = extents_[index.extent];
  const std::string& i = index.name;
  switch (to.kind) {
    case Extent::Kind::kPlus:
      if (to.a == index.extent) found.push_back(fmt::format("{} + {}", i, to.number));
      break;
    case Extent::Kind::kMultiple:
      if (to.a == index.extent) found.push_back(fmt::format("{} * {} + {}", to.number, i, to.number - 1));
      if (to.a == index.extent) found.push_back(fmt::format("{} * {}", to.number, i));
      break;
    case Extent::Kind::kProduct:
      for (size_t other : scope.indices)
        if (to.a == index.extent && to.b == indices_[other].extent && index.name != indices_[other].name)
          found.insert(found.end(), 3,
                       fmt::format("{} * {} + {}", i, extents_[to.b].text, indices_[other].name));
      break;
    case Extent::Kind::kSum:
      if (to.b == index.extent) found.push_back(fmt::format("{} + {}", extents_[to.a].text, i));
      break;
    default:
      break;
  }
  if (from.kind == Extent::Kind::kProduct && from.a == extent)
    found.insert(found.end(), 3, fmt::format("{} / {}", i, extents_[from.b].text));
  if (from.kind == Extent::Kind::kProduct && from.b == extent)
    found.insert(found.end(), 3, fmt::format("{} % {}", i, extents_[from.b].text));
  if (from.kind == Extent::Kind::kHalf && from.a == extent) {
    found.push_back(fmt::format("2 * {}", i));
    found.push_back(fmt::format("2 * {} + 1", i));
  }
  if (from.kind == Extent::Kind::kMultiple && from.a == extent)
    found.push_back(fmt::format("{} / {}", i, from.number));
}

std::string Generator::free_subscript(size_t extent, const Scope& scope) {
  if (scope.indices.empty()) return position(scope, 1);
  const std::string& i = indices_[random_.pick(scope.indices)].name;
  const std::string& j = indices_[random_.pick(scope.indices)].name;
  switch (random_.below(9)) {
    case 0:
      return fmt::format("{} + {}", i, 1 + random_.below(4));
    case 1:
      return fmt::format("{} - {}", i, 1 + random_.below(4));
    case 2:
      return fmt::format("{} + {} - {}", i, j, 1 + random_.below(3));
    case 3:
      return fmt::format("{} * {}", 2 + random_.below(2), i);
    case 4:
      return fmt::format("{} - {}", i, j);
    case 5:
      return fmt::format("{} * {} + {}", i, extents_[extent].text, j);
    case 6:
      for (const Variable& variable : variables_)
        if (is_integer(variable.type) && !variable.shape.empty()) {
          Scope inside = scope;
          inside.widens = false;
          return read(variable, inside).to_text();
        }
      return i;
    case 7:
      return i;
    default:
      return position(scope, 2);
  }
}

std::string Generator::position(const Scope& scope, int depth) {
  if (depth <= 0 || random_.chance(30)) {
    if (!scope.indices.empty() && random_.chance(70)) return indices_[random_.pick(scope.indices)].name;
    if (!scalars_.empty() && !in_function_ && random_.chance(30)) return random_.pick(scalars_);
    // A constant by itself has no type, and divides exactly.
    if (in_function_) return fmt::format("index({})", random_.below(9));
    const Extent& extent = random_.pick(extents_);
    return extent.kind == Extent::Kind::kConstant ? fmt::format("index({})", extent.text) : extent.text;
  }
  const std::string a = position(scope, depth - 1);
  const std::string b = position(scope, depth - 1);
  const size_t number = 1 + random_.below(7);
  switch (random_.below(10)) {
    case 0:
      return fmt::format("({} + {})", a, b);
    case 1:
      return fmt::format("({} - {})", a, b);
    case 2:
      return fmt::format("({} * {})", a, b);
    case 3:
      return fmt::format("({} / {})", a, number);
    case 4:
      return fmt::format("({} % {})", a, number);
    case 5:
      return fmt::format("min({}, {})", a, b);
    case 6:
      return fmt::format("max({}, {})", a, b);
    case 7:
      return fmt::format("({} / {})", a, b);
    case 8:
      return fmt::format("({} % {})", a, b);
    default:
      return fmt::format("({} - {})", a, number);
  }
}

std::string Generator::range(size_t extent, const Scope& scope) {
  const std::string& size = extents_[extent].text;
  std::vector<size_t> same;
  for (size_t index : scope.indices)
    if (indices_[index].extent == extent) same.push_back(index);
  if (!same.empty() && random_.chance(40)) {
    const std::string& i = indices_[random_.pick(same)].name;
    switch (random_.below(5)) {
      case 0:
        return fmt::format("0..{} + 1", i);
      case 1:
        return fmt::format("0..{}", i);
      case 2:
        return fmt::format("{}..{}", i, size);
      case 3:
        return fmt::format("{} + 1..{}", i, size);
      default:
        return fmt::format("max({0} - 2, 0)..min({0} + 3, {1})", i, size);
    }
  }
  if (extents_[extent].kind == Extent::Kind::kConstant) return fmt::format("0..{}", size);
  switch (random_.below(6)) {
    case 0:
      return fmt::format("1..{}", size);
    case 1:
      return fmt::format("{}..{}", 1 + random_.below(9), size);
    case 2:
      return fmt::format("0..{} / 2", size);
    case 3:
      return fmt::format("0..min({}, {})", size, 1 + random_.below(40));
    case 4:
      return fmt::format("{0} / 3..{0}", size);
    default:
      return fmt::format("0..{}", size);
  }
}

std::string Generator::guard(size_t index, Scope& inside) {
  const std::string& i = indices_[index].name;
  const size_t extent = indices_[index].extent;
  const std::string& size = extents_[extent].text;
  const size_t number = 1 + random_.below(4);
  auto shown = [&](std::string subscript) { inside.guarded.push_back({std::move(subscript), extent}); };
  switch (random_.below(6)) {
    case 0:
      shown(fmt::format("{} + {}", i, number));
      return fmt::format("{} + {} < {}", i, number, size);
    case 1:
      shown(fmt::format("{} - {}", i, number));
      return fmt::format("{} >= {}", i, number);
    case 2:
      shown(fmt::format("{} - {}", i, number));
      return fmt::format("{} > {}", i, number - 1);
    case 3:
      shown(fmt::format("{} * 2", i));
      return fmt::format("{} * 2 < {}", i, size);
    case 4: {
      const size_t other = random_.pick(inside.indices);
      const std::string& j = indices_[other].name;
      inside.guarded.push_back({fmt::format("{} - {}", i, j), extent});
      return fmt::format("{} <= {}", j, i);
    }
    default: {
      const size_t to = random_.below(extents_.size());
      inside.guarded.push_back({fmt::format("{} + {}", i, number), to});
      return fmt::format("{} + {} < {}", i, number, extents_[to].text);
    }
  }
}

}  // namespace tenon::fuzz
