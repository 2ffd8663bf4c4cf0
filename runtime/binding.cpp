#include "runtime/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "support/array.h"
#include "support/check.h"

namespace tenon::runtime {
namespace {

// Where a symbol's value came from, for messages.
struct Origin {
  enum class Kind : uint8_t { kUnbound, kFixed, kNamed, kAxis };
  Kind kind = Kind::kUnbound;
  ParameterId parameter = {};
  size_t axis = 0;
};

std::string axis_text(const Parameter& parameter, size_t axis) {
  return fmt::format("axis {} of `{}`", axis, parameter.source);
}

// Whether the text has the name as a word of its own.
bool mentions(std::string_view text, std::string_view name) {
  const auto in_word = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) return true;
  return false;
}

// An i64 array is a fine index array.
bool same_storage(ElementType a, ElementType b) {
  auto plain = [](ElementType type) { return type == ElementType::kIndex ? ElementType::kI64 : type; };
  return plain(a) == plain(b);
}

template <class T>
Int128 load_as(const std::array<std::byte, 8>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

Int128 integer_value(const LaunchArgument& argument) {
  switch (argument.type) {
    case ElementType::kI64:
    case ElementType::kIndex:
      return load_as<int64_t>(argument.scalar);
    case ElementType::kI32:
      return load_as<int32_t>(argument.scalar);
    case ElementType::kI16:
      return load_as<int16_t>(argument.scalar);
    case ElementType::kI8:
      return load_as<int8_t>(argument.scalar);
    case ElementType::kU64:
      return load_as<uint64_t>(argument.scalar);
    case ElementType::kU32:
      return load_as<uint32_t>(argument.scalar);
    case ElementType::kU16:
      return load_as<uint16_t>(argument.scalar);
    case ElementType::kU8:
      return load_as<uint8_t>(argument.scalar);
    case ElementType::kBool:
      return load_as<uint8_t>(argument.scalar) != 0;
    default:
      TENON_UNREACHABLE("a float scalar is no size");
  }
}

class Binder {
 public:
  Binder(const Program& program, std::span<const LaunchArgument> arguments)
      : program_(program), arguments_(arguments), origins_(program.symbols.size()) {
    binding_.symbols.resize(program.symbols.size());
  }

  Result<Binding> run(std::span<const NamedSize> sizes) {
    TENON_TRY(check_arguments());
    bind_fixed();
    TENON_TRY(bind_named(sizes));
    TENON_TRY(bind_axes());
    TENON_TRY(bind_scalars());
    TENON_TRY(require_all());
    for (const Clause& clause : program_.clauses) TENON_TRY(check_clause(clause));
    for (uint32_t i = 0; i < arguments_.size(); ++i) TENON_TRY(check_shape(ParameterId(i)));
    return std::move(binding_);
  }

 private:
  template <class... Args>
  std::unexpected<Error> refuse(fmt::format_string<Args...> reason, Args&&... args) const {
    return runtime::refuse(program_, fmt::format(reason, std::forward<Args>(args)...));
  }

  Result<void> check_arguments() const {
    if (arguments_.size() != program_.parameters.size())
      return refuse("it takes {} arguments, results included, not {}", program_.parameters.size(),
                    arguments_.size());
    for (uint32_t i = 0; i < arguments_.size(); ++i)
      TENON_TRY(check_argument(program_.parameters[ParameterId(i)], arguments_[i]));
    return {};
  }

  Result<void> check_argument(const Parameter& parameter, const LaunchArgument& argument) const {
    using Kind = LaunchArgument::Kind;
    if (argument.kind == Kind::kAbsent)
      return parameter.role == Role::kResult ? Result<void>() : refuse("`{}` is not given", parameter.source);
    Kind expected = parameter.by_value() ? Kind::kScalar : Kind::kBuffer;
    if (argument.kind != expected)
      return refuse("`{}` takes a {}", parameter.source,
                    parameter.by_value() ? "value, not a buffer" : "buffer, not a value");
    if (!same_storage(argument.type, parameter.type))
      return refuse("`{}` has elements of {}, not of {}", parameter.source, name(parameter.type),
                    name(argument.type));
    if (argument.shape.size() != parameter.shape.size())
      return refuse("`{}` has rank {}; the argument has shape {}", parameter.source, parameter.shape.size(),
                    shape_text(argument.shape));
    if (std::ranges::any_of(argument.shape, [](int64_t extent) { return extent < 0; }))
      return refuse("the argument for `{}` has a negative shape, {}", parameter.source,
                    shape_text(argument.shape));
    return {};
  }

  void bind_fixed() {
    for (uint32_t i = 0; i < program_.symbols.size(); ++i) {
      const Symbol& symbol = program_.symbols[SymbolId(i)];
      if (!symbol.fixed) continue;
      binding_.symbols[i] = *symbol.fixed;
      origins_[i] = {Origin::Kind::kFixed};
    }
  }

  Result<void> bind_named(std::span<const NamedSize> sizes) {
    for (const NamedSize& size : sizes) {
      auto found = std::ranges::find_if(program_.symbols, [&](const Symbol& symbol) {
        return symbol.kind == SymbolKind::kDimension && symbol.name == size.name;
      });
      if (found == program_.symbols.end()) return unknown_size(size.name);
      if (size.value < 0) return refuse("size {} is negative: {}", size.name, size.value);
      SymbolId id(static_cast<uint32_t>(found - program_.symbols.begin()));
      TENON_TRY(bind_symbol(id, size.value, {Origin::Kind::kNamed}));
    }
    return {};
  }

  std::unexpected<Error> unknown_size(const std::string& name) const {
    std::string known;
    for (const Symbol& symbol : program_.symbols)
      if (symbol.kind == SymbolKind::kDimension) known += (known.empty() ? "" : ", ") + symbol.name;
    return fail(ErrorKind::kUsage, fmt::format("kernel `{}` has no size `{}`; it has {}", program_.name, name,
                                               known.empty() ? "none" : known));
  }

  Result<void> bind_axes() {
    for (uint32_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].kind != LaunchArgument::Kind::kBuffer) continue;
      const Parameter& parameter = program_.parameters[ParameterId(i)];
      for (size_t axis = 0; axis < parameter.shape.size(); ++axis)
        if (std::optional<SymbolId> symbol = parameter.shape[axis].as_symbol();
            symbol && program_.symbols[*symbol].kind == SymbolKind::kDimension)
          TENON_TRY(
              bind_symbol(*symbol, arguments_[i].shape[axis], {Origin::Kind::kAxis, ParameterId(i), axis}));
    }
    return {};
  }

  Result<void> bind_scalars() {
    for (uint32_t i = 0; i < program_.symbols.size(); ++i) {
      const Symbol& symbol = program_.symbols[SymbolId(i)];
      if (symbol.kind != SymbolKind::kScalar) continue;
      Int128 value = integer_value(arguments_[symbol.parameter.index()]);
      if (symbol.fixed && *symbol.fixed != value)
        return refuse("`{}` is {}, but {} was fixed when compiling",
                      program_.parameters[symbol.parameter].source, to_text(value), *symbol.fixed);
      binding_.symbols[i] = value;
      origins_[i] = {Origin::Kind::kNamed};
    }
    return {};
  }

  Result<void> bind_symbol(SymbolId id, Int128 value, Origin origin) {
    Origin& known = origins_[id.index()];
    if (known.kind == Origin::Kind::kUnbound) {
      known = origin;
      binding_.symbols[id.index()] = value;
    } else if (binding_.symbols[id.index()] != value) {
      return refuse("size {} is {} {}, but {} {}", program_.symbols[id].name,
                    to_text(binding_.symbols[id.index()]), origin_text(known), to_text(value),
                    origin_text(origin));
    }
    return {};
  }

  std::string origin_text(const Origin& origin) const {
    switch (origin.kind) {
      case Origin::Kind::kUnbound:
        break;
      case Origin::Kind::kFixed:
        return "as fixed when compiling";
      case Origin::Kind::kNamed:
        return "as given by name";
      case Origin::Kind::kAxis:
        return "by " + axis_text(program_.parameters[origin.parameter], origin.axis);
    }
    TENON_UNREACHABLE("an unbound symbol has no origin");
  }

  Result<void> require_all() const {
    for (uint32_t i = 0; i < origins_.size(); ++i)
      if (origins_[i].kind == Origin::Kind::kUnbound)
        return refuse("size {} stands alone in the shape of no argument; give it by name",
                      program_.symbols[SymbolId(i)].name);
    return {};
  }

  Result<void> check_clause(const Clause& clause) const {
    SizeValue value = evaluate(clause.condition, binding_.symbols);
    if (value.holds()) return {};
    std::string message = fmt::format("`{}` does not hold", clause.text);
    if (!value.has_value()) message += fmt::format(", by {}", to_text(value.fault));
    std::string values = values_text(program_, clause.condition, binding_.symbols);
    // What was fixed when compiling is a number in the condition and a name in its text.
    for (const Symbol& symbol : program_.symbols)
      if (symbol.fixed && mentions(clause.text, symbol.name))
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", symbol.name, *symbol.fixed);
    if (!values.empty()) message += ": " + values;
    if (clause.implicit) message += "\nIt is needed by " + clause.reason;
    return refuse("{}", message);
  }

  Result<void> check_shape(ParameterId id) {
    const Parameter& parameter = program_.parameters[id];
    const LaunchArgument& argument = arguments_[id.index()];
    std::vector<int64_t> shape;
    for (size_t axis = 0; axis < parameter.shape.size(); ++axis) {
      TENON_TRY_ASSIGN(int64_t extent, extent_of(parameter, axis));
      if (argument.kind == LaunchArgument::Kind::kBuffer && argument.shape[axis] != extent)
        return refuse("{} is {}, but the argument has {}", axis_text(parameter, axis),
                      described_extent(parameter, axis), argument.shape[axis]);
      shape.push_back(extent);
    }
    Result<int64_t> bytes = checked_byte_count(parameter.type, shape);
    if (!bytes) return refuse("`{}` with shape {} is too large", parameter.source, shape_text(shape));
    binding_.shapes.push_back(std::move(shape));
    binding_.bytes.push_back(*bytes);
    return {};
  }

  Result<int64_t> extent_of(const Parameter& parameter, size_t axis) const {
    SizeValue value = evaluate(parameter.shape[axis], binding_.symbols);
    std::optional<int64_t> extent = value.as_int64();
    if (extent && *extent >= 0) return *extent;
    if (!value.has_value())
      return refuse("{} has no size, by {}: {}", axis_text(parameter, axis), to_text(value.fault),
                    values_text(program_, parameter.shape[axis], binding_.symbols));
    return refuse("{} comes out {}: {}", axis_text(parameter, axis),
                  value.value < 0 ? "negative" : "too large", described_extent(parameter, axis));
  }

  // "M - 1 = 2 with M = 3"; only "2" where the extent is a number or one size, which says all.
  std::string described_extent(const Parameter& parameter, size_t axis) const {
    const SizeExpr& expr = parameter.shape[axis];
    std::string value = to_text(evaluate(expr, binding_.symbols).value);
    if (expr.as_constant()) return value;
    std::string text = to_text(expr, symbol_names(program_)) + " = " + value;
    if (expr.as_symbol()) return text;
    return text + " with " + values_text(program_, expr, binding_.symbols);
  }

  const Program& program_;
  std::span<const LaunchArgument> arguments_;
  std::vector<Origin> origins_;
  Binding binding_;
};

Result<void> check_address(const Program& program, const Parameter& parameter, const LaunchArgument& argument,
                           int64_t bytes) {
  if (argument.kind == LaunchArgument::Kind::kAbsent)
    return refuse(program, fmt::format("`{}` is not given", parameter.source));
  if (bytes == 0) return {};
  if (argument.address == 0)
    return refuse(program, fmt::format("the buffer for `{}` is null", parameter.source));
  if (argument.address % byte_size(parameter.type) != 0)
    return refuse(program, fmt::format("the buffer for `{}` is not aligned to its elements of {} bytes",
                                       parameter.source, byte_size(parameter.type)));
  if (argument.address + static_cast<uint64_t>(bytes) < argument.address)
    return refuse(program, fmt::format("the buffer for `{}` runs past the end of memory", parameter.source));
  return {};
}

}  // namespace

LaunchArgument LaunchArgument::buffer(CUdeviceptr address, ElementType type, std::vector<int64_t> shape) {
  LaunchArgument argument;
  argument.kind = Kind::kBuffer;
  argument.type = type;
  argument.address = address;
  argument.shape = std::move(shape);
  return argument;
}

LaunchArgument LaunchArgument::scalar_bytes(ElementType type, std::span<const std::byte> bytes) {
  TENON_CHECK(bytes.size() == byte_size(type), "a scalar has as many bytes as its type");
  LaunchArgument argument;
  argument.kind = Kind::kScalar;
  argument.type = type;
  std::ranges::copy(bytes, argument.scalar.begin());
  return argument;
}

Result<Binding> bind_arguments(const Program& program, std::span<const LaunchArgument> arguments,
                               std::span<const NamedSize> sizes) {
  return Binder(program, arguments).run(sizes);
}

Result<void> check_addresses(const Program& program, const Binding& binding,
                             std::span<const LaunchArgument> arguments) {
  struct Range {
    uint64_t begin;
    uint64_t end;
    const Parameter* parameter;
  };
  std::vector<Range> ranges;
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = program.parameters[ParameterId(i)];
    if (parameter.by_value()) continue;
    TENON_TRY(check_address(program, parameter, arguments[i], binding.bytes[i]));
    if (binding.bytes[i] > 0)
      ranges.push_back(
          {arguments[i].address, arguments[i].address + static_cast<uint64_t>(binding.bytes[i]), &parameter});
  }
  for (size_t i = 0; i < ranges.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      bool written = ranges[i].parameter->role != Role::kInput || ranges[j].parameter->role != Role::kInput;
      if (written && ranges[i].begin < ranges[j].end && ranges[j].begin < ranges[i].end)
        return refuse(
            program,
            fmt::format("the buffers for `{}` and `{}` overlap, and the kernel writes to one of them",
                        ranges[j].parameter->source, ranges[i].parameter->source));
    }
  return {};
}

std::string values_text(const Program& program, const SizeExpr& expr, std::span<const Int128> symbols) {
  std::vector<bool> seen(program.symbols.size());
  std::string text;
  for (const SizeInstruction& instruction : expr.code()) {
    if (instruction.op != SizeOp::kSymbol) continue;
    auto index = static_cast<size_t>(instruction.operand);
    if (seen[index]) continue;
    seen[index] = true;
    text += (text.empty() ? "" : ", ") + program.symbols[SymbolId(static_cast<uint32_t>(index))].name +
            " = " + to_text(symbols[index]);
  }
  return text;
}

std::unexpected<Error> refuse(const Program& program, const std::string& reason) {
  return fail(ErrorKind::kRefused, fmt::format("kernel `{}` refuses this launch: {}", program.name, reason));
}

}  // namespace tenon::runtime
