#include "runtime/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "support/check.h"
#include "support/targets.h"

namespace tenon::runtime {

std::string_view name(SymbolKind kind) {
  constexpr std::array kNames = {"dimension", "scalar"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(Role role) {
  constexpr std::array kNames = {"input", "result", "inout"};
  return kNames[static_cast<size_t>(role)];
}

std::string_view name(PtxType type) {
  constexpr std::array kNames = {"b8", "b16", "b32", "b64", "f32", "f64"};
  return kNames[static_cast<size_t>(type)];
}

unsigned byte_size(PtxType type) {
  constexpr std::array kSizes = {1u, 2u, 4u, 8u, 4u, 8u};
  return kSizes[static_cast<size_t>(type)];
}

std::string_view name(ArgumentKind kind) {
  constexpr std::array kNames = {"pointer", "scalar",           "workspace",  "variant_workspace",
                                 "size",    "magic_multiplier", "magic_shift"};
  return kNames[static_cast<size_t>(kind)];
}

Argument Argument::pointer(ParameterId parameter) {
  return {.kind = ArgumentKind::kPointer, .parameter = parameter};
}
Argument Argument::scalar(ParameterId parameter, PtxType type) {
  return {.kind = ArgumentKind::kScalar, .type = type, .parameter = parameter};
}
Argument Argument::workspace_buffer(uint32_t index) {
  return {.kind = ArgumentKind::kWorkspace, .workspace = index};
}
Argument Argument::variant_workspace_buffer(uint32_t index) {
  return {.kind = ArgumentKind::kVariantWorkspace, .workspace = index};
}
Argument Argument::size(SizeExpr value, PtxType type) {
  return {.kind = ArgumentKind::kSize, .type = type, .value = std::move(value)};
}
Argument Argument::magic_multiplier(SizeExpr divisor) {
  return {.kind = ArgumentKind::kMagicMultiplier, .type = PtxType::kB32, .value = std::move(divisor)};
}
Argument Argument::magic_shift(SizeExpr divisor) {
  return {.kind = ArgumentKind::kMagicShift, .type = PtxType::kB32, .value = std::move(divisor)};
}

MagicDivisor magic_divisor(Int128 divisor) {
  constexpr uint64_t kLargest = uint64_t{1} << 31;
  // Above 2^31 every quotient of a 31-bit dividend is 0, as it is for 2^31.
  uint64_t d = divisor < 1 ? 1 : divisor > kLargest ? kLargest : static_cast<uint64_t>(divisor);
  uint32_t shift = static_cast<uint32_t>(std::bit_width(d - 1));
  uint64_t excess = (uint64_t{1} << shift) - d;
  return {static_cast<uint32_t>((excess << 32) / d + 1), shift};
}

std::vector<std::string_view> symbol_names(const Program& program) {
  std::vector<std::string_view> names;
  for (const Symbol& symbol : program.symbols) names.push_back(symbol.name);
  return names;
}

std::string to_text(const Guard& guard, const Program& program) {
  if (guard.always()) return "always";
  std::vector<std::string_view> names = symbol_names(program);
  std::vector<std::string> parts;
  for (const SizeExpr& condition : guard.conditions) parts.push_back(to_text(condition, names));
  for (const Alignment& alignment : guard.alignments)
    parts.push_back(
        fmt::format("{} on {} bytes", program.parameters[alignment.parameter].name, alignment.bytes));
  return fmt::format("{}", fmt::join(parts, " && "));
}

namespace {

constexpr uint32_t kMaxBlock = 1024;

// Checks the parts of a program against the program they are of; the first fault ends it.
class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  Result<void> check() const {
    if (target_by_name(program_.target) == nullptr) return bad("unknown target '{}'", program_.target);
    for (const Symbol& symbol : program_.symbols) TENON_TRY(check_symbol(symbol));
    for (const Parameter& parameter : program_.parameters) TENON_TRY(check_parameter(parameter));
    for (const Clause& clause : program_.clauses) TENON_TRY(check_size(clause.condition));
    for (const WorkspaceBuffer& buffer : program_.workspace) TENON_TRY(check_size(buffer.bytes));
    for (const Step& step : program_.steps) TENON_TRY(check_step(step));
    return {};
  }

  Result<void> check_code(const LoweredVariant& code) const {
    for (const WorkspaceBuffer& buffer : code.workspace) TENON_TRY(check_size(buffer.bytes));
    for (const Launch& launch : code.launches) TENON_TRY(check_launch(launch, code));
    return {};
  }

 private:
  template <class... Args>
  std::unexpected<Error> bad(fmt::format_string<Args...> what, Args&&... args) const {
    return fail(ErrorKind::kFile, fmt::format("the program record of '{}' is damaged: {}", program_.name,
                                              fmt::format(what, std::forward<Args>(args)...)));
  }

  Result<void> check_size(const SizeExpr& expr) const {
    for (const SizeInstruction& instruction : expr.code())
      if (instruction.op == SizeOp::kSymbol &&
          (instruction.operand < 0 || static_cast<uint64_t>(instruction.operand) >= program_.symbols.size()))
        return bad("a size names a symbol that does not exist");
    return {};
  }

  bool exists(ParameterId id) const { return id.valid() && id.index() < program_.parameters.size(); }

  Result<void> check_symbol(const Symbol& symbol) const {
    if (symbol.kind == SymbolKind::kDimension) return {};
    if (!exists(symbol.parameter) || !program_.parameters[symbol.parameter].by_value() ||
        is_float(program_.parameters[symbol.parameter].type))
      return bad("symbol '{}' is of no scalar parameter", symbol.name);
    return {};
  }

  Result<void> check_parameter(const Parameter& parameter) const {
    for (const SizeExpr& extent : parameter.shape) TENON_TRY(check_size(extent));
    if (parameter.strided) return bad("parameter '{}' is strided, which is not built yet", parameter.name);
    return {};
  }

  Result<void> check_step(const Step& step) const {
    if (step.variants.empty()) return bad("step '{}' has no variant", step.name);
    for (const Variant& variant : step.variants) {
      for (const SizeExpr& condition : variant.guard.conditions) TENON_TRY(check_size(condition));
      for (const Alignment& alignment : variant.guard.alignments)
        if (!exists(alignment.parameter) || program_.parameters[alignment.parameter].by_value() ||
            !std::has_single_bit(alignment.bytes))
          return bad("an alignment in the guard of '{}' makes no sense", variant.name);
      if (variant.code) TENON_TRY(check_code(*variant.code));
    }
    return {};
  }

  Result<void> check_launch(const Launch& launch, const LoweredVariant& code) const {
    TENON_TRY(check_size(launch.grid));
    TENON_TRY(check_size(launch.dynamic_shared));
    if (launch.block < 1 || launch.block > kMaxBlock)
      return bad("entry '{}' has a block of {} threads", launch.entry, launch.block);
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      TENON_TRY(check_size(launch.arguments[i].value));
      if (!fits(launch.arguments[i], code))
        return bad("argument {} of entry '{}' makes no sense", i, launch.entry);
    }
    return {};
  }

  bool fits(const Argument& argument, const LoweredVariant& code) const {
    switch (argument.kind) {
      case ArgumentKind::kPointer:
        return exists(argument.parameter) && argument.type == PtxType::kB64 &&
               !program_.parameters[argument.parameter].by_value();
      case ArgumentKind::kScalar:
        return exists(argument.parameter) && program_.parameters[argument.parameter].by_value() &&
               byte_size(argument.type) == byte_size(program_.parameters[argument.parameter].type);
      case ArgumentKind::kWorkspace:
        return argument.workspace < program_.workspace.size() && argument.type == PtxType::kB64;
      case ArgumentKind::kVariantWorkspace:
        return argument.workspace < code.workspace.size() && argument.type == PtxType::kB64;
      case ArgumentKind::kSize:
        return argument.type == PtxType::kB32 || argument.type == PtxType::kB64;
      case ArgumentKind::kMagicMultiplier:
      case ArgumentKind::kMagicShift:
        return argument.type == PtxType::kB32;
    }
    TENON_UNREACHABLE("unknown argument kind");
  }

  const Program& program_;
};

}  // namespace

Result<void> verify(const Program& program) { return Verifier(program).check(); }

Result<void> verify(const LoweredVariant& code, const Program& program) {
  return Verifier(program).check_code(code);
}

}  // namespace tenon::runtime
