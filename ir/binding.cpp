// bind_symbols of ir/interpreter.h.
#include <fmt/format.h>

#include <optional>

#include "ir/interpreter.h"

namespace tenon::ir {
namespace {

class Binder {
 public:
  Binder(const Kernel& kernel, std::span<const Array* const> inputs) : kernel_(kernel), inputs_(inputs) {
    values_.resize(kernel.symbols.size());
  }

  Result<std::vector<int64_t>> bind(const std::map<std::string, int64_t>& sizes) {
    TENON_TRY(from_names(sizes));
    TENON_TRY(from_inputs());
    std::vector<int64_t> values;
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const Symbol& symbol = kernel_.symbols[SymbolId(i)];
      if (!values_[i]) return refuse(fmt::format("no value for {}: give it by name", symbol.name));
      if (symbol.kind == Symbol::Kind::kDimension && *values_[i] < 0)
        return refuse(fmt::format("{} is {}, and a size is not negative", symbol.name, *values_[i]));
      values.push_back(*values_[i]);
    }
    TENON_TRY(check_shapes());
    TENON_TRY(check_where());
    return values;
  }

 private:
  static std::unexpected<Error> refuse(std::string message) {
    return fail(ErrorKind::kRefused, std::move(message));
  }

  Result<bool> set(SymbolId symbol, int64_t value, const std::string& place) {
    std::optional<int64_t>& known = values_[symbol.index()];
    if (known && *known != value)
      return refuse(fmt::format("{} is {} by {}, but was {} before", kernel_.symbols[symbol].name, value,
                                place, *known));
    known = value;
    return true;
  }

  Result<bool> from_names(const std::map<std::string, int64_t>& sizes) {
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const Symbol& symbol = kernel_.symbols[SymbolId(i)];
      if (symbol.fixed) values_[i] = symbol.fixed;
      auto named = sizes.find(symbol.name);
      if (named != sizes.end()) TENON_TRY(set(SymbolId(i), named->second, "its name"));
    }
    return true;
  }

  // A dimension that stands alone in a shape is that extent.
  Result<bool> from_inputs() {
    if (inputs_.size() != kernel_.parameters.size()) return refuse("not one array for each parameter");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      if (!parameter.input.valid()) continue;
      const Tensor& tensor = kernel_.tensors[parameter.input];
      if (inputs_[i] == nullptr) return refuse(fmt::format("no array for {}", parameter.name));
      const Array& array = *inputs_[i];
      if (!same_type(array.type(), tensor.element))
        return refuse(
            fmt::format("{} is {}, not {}", parameter.name, name(tensor.element), name(array.type())));
      if (array.rank() != tensor.shape.size())
        return refuse(
            fmt::format("{} has {} dimensions, not {}", parameter.name, tensor.shape.size(), array.rank()));
      for (size_t d = 0; d < tensor.shape.size(); ++d) {
        const IndexNode& node = kernel_.index[tensor.shape[d]];
        if (node.kind == IndexKind::kSymbol)
          TENON_TRY(set(SymbolId(node.reference), array.extent(d),
                        fmt::format("dimension {} of {}", d, parameter.name)));
      }
      if (parameter.symbol.valid()) TENON_TRY(set(parameter.symbol, array.as_int64(0), parameter.name));
    }
    return true;
  }

  // An index travels as an i64.
  static bool same_type(ElementType given, ElementType wanted) {
    return given == wanted || (given == ElementType::kI64 && wanted == ElementType::kIndex);
  }

  std::optional<int64_t> value(IndexId id) const {
    return kernel_.index.evaluate(id, [this](IndexId atom) -> std::optional<int64_t> {
      const IndexNode& node = kernel_.index[atom];
      return node.kind == IndexKind::kSymbol ? values_[node.reference] : std::nullopt;
    });
  }

  Result<bool> check_shapes() const {
    for (size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      const Tensor& tensor = kernel_.tensors[parameter.tensor()];
      for (size_t d = 0; d < tensor.shape.size(); ++d) {
        std::optional<int64_t> extent = value(tensor.shape[d]);
        if (!extent || *extent < 0)
          return refuse(fmt::format("dimension {} of {} is {}", d, parameter.name,
                                    extent ? std::to_string(*extent) : std::string("too large")));
        if (inputs_[i] != nullptr && parameter.input.valid() && inputs_[i]->extent(d) != *extent)
          return refuse(fmt::format("dimension {} of {} is {}, not {}", d, parameter.name, *extent,
                                    inputs_[i]->extent(d)));
      }
    }
    return true;
  }

  Result<bool> check_where() const {
    for (const WhereClause& clause : kernel_.where) {
      std::optional<int64_t> holds = value(clause.condition);
      if (!holds || *holds == 0 || divides_by_zero(clause.condition))
        return refuse(fmt::format("`{}` does not hold{}", clause.text, values_text(clause.condition)));
    }
    return true;
  }

  bool divides_by_zero(IndexId id) const {
    const IndexNode& node = kernel_.index[id];
    bool division = node.kind == IndexKind::kFloorDiv || node.kind == IndexKind::kFloorMod;
    if (division && value(node.b) == 0) return true;
    for (const Monomial& term : node.terms)
      for (IndexId factor : term.factors)
        if (divides_by_zero(factor)) return true;
    return (node.a.valid() && divides_by_zero(node.a)) || (node.b.valid() && divides_by_zero(node.b));
  }

  std::string values_text(IndexId id) const {
    std::string text;
    kernel_.index.for_each_atom(id, [&](IndexId atom) {
      SymbolId symbol(kernel_.index[atom].reference);
      text += fmt::format("{}{} = {}", text.empty() ? " for " : ", ", kernel_.symbols[symbol].name,
                          *values_[symbol.index()]);
    });
    return text;
  }

  const Kernel& kernel_;
  std::span<const Array* const> inputs_;
  std::vector<std::optional<int64_t>> values_;
};

}  // namespace

Result<std::vector<int64_t>> bind_symbols(const Kernel& kernel, std::span<const Array* const> inputs,
                                          const std::map<std::string, int64_t>& sizes) {
  return Binder(kernel, inputs).bind(sizes);
}

}  // namespace tenon::ir
