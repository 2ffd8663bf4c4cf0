// The program record as JSON, and back. Each part of the record has a function that writes it and one that
// reads it, next to each other.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runtime/program.h"

namespace tenon::runtime {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program), names_(symbol_names(program)) {}

  Json write() const {
    return {{"kernel", program_.name},
            {"target", program_.target},
            {"generics", list(program_.generics, [](const GenericType& generic) { return write(generic); })},
            {"symbols", list(program_.symbols, [&](const Symbol& symbol) { return write(symbol); })},
            {"parameters",
             list(program_.parameters, [&](const Parameter& parameter) { return write(parameter); })},
            {"clauses", list(program_.clauses, [&](const Clause& clause) { return write(clause); })},
            {"workspace", write(program_.workspace)},
            {"steps", list(program_.steps, [&](const Step& step) { return write(step); })},
            {"remarks", program_.remarks}};
  }

 private:
  template <class Items, class Function>
  static Json list(const Items& items, Function&& function) {
    Json result = Json::array();
    for (const auto& item : items) result.push_back(function(item));
    return result;
  }

  // A number, or both forms of the expression.
  Json write(const SizeExpr& expr) const {
    if (std::optional<int64_t> value = expr.as_constant()) return *value;
    return {{"text", to_text(expr, names_)}, {"postfix", to_postfix(expr)}};
  }

  static Json write(const GenericType& generic) {
    return {{"name", generic.name}, {"type", tenon::name(generic.type)}};
  }

  Json write(const Symbol& symbol) const {
    Json result = {{"name", symbol.name}, {"kind", name(symbol.kind)}};
    if (symbol.kind == SymbolKind::kScalar) result["parameter"] = program_.parameters[symbol.parameter].name;
    if (symbol.fixed) result["fixed"] = *symbol.fixed;
    return result;
  }

  Json write(const Parameter& parameter) const {
    return {{"name", parameter.name},
            {"type", tenon::name(parameter.type)},
            {"role", name(parameter.role)},
            {"shape", list(parameter.shape, [&](const SizeExpr& extent) { return write(extent); })},
            {"strided", parameter.strided},
            {"source", parameter.source}};
  }

  Json write(const Clause& clause) const {
    Json result = {
        {"condition", write(clause.condition)}, {"text", clause.text}, {"implicit", clause.implicit}};
    if (clause.implicit) result["reason"] = clause.reason;
    return result;
  }

  Json write(const std::vector<WorkspaceBuffer>& buffers) const {
    return list(buffers, [&](const WorkspaceBuffer& buffer) {
      return Json{{"name", buffer.name}, {"type", tenon::name(buffer.type)}, {"bytes", write(buffer.bytes)}};
    });
  }

  Json write(const Guard& guard) const {
    auto alignment = [&](const Alignment& item) {
      return Json{{"parameter", program_.parameters[item.parameter].name}, {"bytes", item.bytes}};
    };
    return {
        {"text", to_text(guard, program_)},
        {"conditions", list(guard.conditions, [&](const SizeExpr& condition) { return write(condition); })},
        {"alignments", list(guard.alignments, alignment)}};
  }

  Json write(const Argument& argument) const {
    Json result = {{"kind", name(argument.kind)}, {"type", name(argument.type)}};
    switch (argument.kind) {
      case ArgumentKind::kPointer:
      case ArgumentKind::kScalar:
        result["parameter"] = program_.parameters[argument.parameter].name;
        break;
      case ArgumentKind::kWorkspace:
      case ArgumentKind::kVariantWorkspace:
        result["workspace"] = argument.workspace;
        break;
      case ArgumentKind::kSize:
      case ArgumentKind::kMagicMultiplier:
      case ArgumentKind::kMagicShift:
        result["value"] = write(argument.value);
        break;
    }
    return result;
  }

  Json write(const Launch& launch) const {
    return {{"entry", launch.entry},
            {"grid", write(launch.grid)},
            {"block", launch.block},
            {"dynamic_shared", write(launch.dynamic_shared)},
            {"arguments", list(launch.arguments, [&](const Argument& argument) { return write(argument); })}};
  }

  Json write(const Variant& variant) const {
    static const LoweredVariant kNotLowered;
    const LoweredVariant& code = variant.code ? *variant.code : kNotLowered;
    Json result = {{"name", variant.name},
                   {"guard", write(variant.guard)},
                   {"schedule", variant.schedule},
                   {"lowered", variant.code.has_value()},
                   {"workspace", write(code.workspace)},
                   {"launches", list(code.launches, [&](const Launch& launch) { return write(launch); })},
                   {"remarks", variant.remarks}};
    if (variant.code) result["ptx"] = code.ptx;
    return result;
  }

  Json write(const Step& step) const {
    return {{"name", step.name},
            {"variants", list(step.variants, [&](const Variant& variant) { return write(variant); })},
            {"remarks", step.remarks}};
  }

  const Program& program_;
  std::vector<std::string_view> names_;
};

// Reads with the first fault kept: what is read after one is a default value of no interest.
class Reader {
 public:
  Result<Program> read(const Json& json) {
    program_.name = text(json, "kernel");
    program_.target = text(json, "target");
    for (const Json& item : items(json, "generics")) program_.generics.push_back(read_generic(item));
    // Symbols name parameters and parameters name symbols: first the symbols' count, then all else.
    symbol_count_ = items(json, "symbols").size();
    for (const Json& item : items(json, "parameters")) program_.parameters.add(read_parameter(item));
    for (const Json& item : items(json, "symbols")) program_.symbols.add(read_symbol(item));
    for (const Json& item : items(json, "clauses")) program_.clauses.push_back(read_clause(item));
    program_.workspace = read_workspace(json);
    for (const Json& item : items(json, "steps")) program_.steps.push_back(read_step(item));
    program_.remarks = texts(json, "remarks");
    if (!fault_.empty()) return fail(ErrorKind::kFile, "the program record cannot be read: " + fault_);
    TENON_TRY(verify(program_));
    return std::move(program_);
  }

 private:
  void fault(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  // The member, or null where there is none.
  const Json& member(const Json& json, const char* key) {
    static const Json kNull;
    if (!json.is_object()) return kNull;
    auto found = json.find(key);
    return found == json.end() ? kNull : *found;
  }

  std::string text(const Json& json, const char* key) {
    const Json& value = member(json, key);
    if (value.is_string()) return value.get<std::string>();
    fault(std::string("'") + key + "' is not a string");
    return {};
  }

  bool flag(const Json& json, const char* key) {
    const Json& value = member(json, key);
    if (value.is_boolean()) return value.get<bool>();
    fault(std::string("'") + key + "' is not true or false");
    return false;
  }

  uint32_t number(const Json& json, const char* key) {
    const Json& value = member(json, key);
    if (value.is_number_unsigned() && value.get<uint64_t>() <= UINT32_MAX) return value.get<uint32_t>();
    fault(std::string("'") + key + "' is not a number of 32 bits");
    return 0;
  }

  const Json& items(const Json& json, const char* key) {
    static const Json kEmpty = Json::array();
    const Json& value = member(json, key);
    if (value.is_array()) return value;
    fault(std::string("'") + key + "' is not a list");
    return kEmpty;
  }

  std::vector<std::string> texts(const Json& json, const char* key) {
    std::vector<std::string> result;
    for (const Json& item : items(json, key)) {
      if (item.is_string()) {
        result.push_back(item.get<std::string>());
      } else {
        fault(std::string("'") + key + "' is not a list of strings");
      }
    }
    return result;
  }

  // The enumerator from 0 to `last` that has the name.
  template <class Enum>
  Enum enumerator(const Json& json, const char* key, Enum last) {
    std::string wanted = text(json, key);
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
      if (name(static_cast<Enum>(i)) == wanted) return static_cast<Enum>(i);
    fault(std::string("'") + key + "' is '" + wanted + "', which does not exist");
    return {};
  }

  ElementType element_type(const Json& json, const char* key) {
    std::optional<ElementType> type = element_type_by_name(text(json, key));
    if (!type) fault(std::string("'") + key + "' is no element type");
    return type.value_or(ElementType::kF32);
  }

  static bool is_int64(const Json& value) {
    if (value.is_number_unsigned()) return value.get<uint64_t>() <= INT64_MAX;
    return value.is_number_integer();
  }

  SizeExpr size(const Json& value) {
    if (is_int64(value)) return SizeExpr(value.get<int64_t>());
    Result<SizeExpr> expr = parse_postfix(text(value, "postfix"), symbol_count_);
    if (!expr) fault(expr.error().message);
    return expr ? *std::move(expr) : SizeExpr();
  }

  std::vector<SizeExpr> sizes(const Json& json, const char* key) {
    std::vector<SizeExpr> result;
    for (const Json& item : items(json, key)) result.push_back(size(item));
    return result;
  }

  ParameterId parameter(const Json& json) {
    std::string wanted = text(json, "parameter");
    auto found = std::ranges::find(program_.parameters, wanted, &Parameter::name);
    if (found == program_.parameters.end()) {
      fault("there is no parameter '" + wanted + "'");
      return {};
    }
    return ParameterId(static_cast<uint32_t>(found - program_.parameters.begin()));
  }

  GenericType read_generic(const Json& json) { return {text(json, "name"), element_type(json, "type")}; }

  Symbol read_symbol(const Json& json) {
    Symbol symbol;
    symbol.name = text(json, "name");
    symbol.kind = enumerator(json, "kind", SymbolKind::kScalar);
    if (symbol.kind == SymbolKind::kScalar) symbol.parameter = parameter(json);
    if (const Json& fixed = member(json, "fixed"); fixed.is_number_integer())
      symbol.fixed = fixed.get<int64_t>();
    return symbol;
  }

  Parameter read_parameter(const Json& json) {
    Parameter result;
    result.name = text(json, "name");
    result.type = element_type(json, "type");
    result.role = enumerator(json, "role", Role::kInout);
    result.shape = sizes(json, "shape");
    result.strided = flag(json, "strided");
    result.source = text(json, "source");
    return result;
  }

  Clause read_clause(const Json& json) {
    Clause clause;
    clause.condition = size(member(json, "condition"));
    clause.text = text(json, "text");
    clause.implicit = flag(json, "implicit");
    if (clause.implicit) clause.reason = text(json, "reason");
    return clause;
  }

  std::vector<WorkspaceBuffer> read_workspace(const Json& json) {
    std::vector<WorkspaceBuffer> buffers;
    for (const Json& item : items(json, "workspace"))
      buffers.push_back({text(item, "name"), element_type(item, "type"), size(member(item, "bytes"))});
    return buffers;
  }

  Guard read_guard(const Json& json) {
    Guard guard;
    guard.conditions = sizes(json, "conditions");
    for (const Json& item : items(json, "alignments"))
      guard.alignments.push_back({parameter(item), number(item, "bytes")});
    return guard;
  }

  Argument read_argument(const Json& json) {
    Argument argument;
    argument.kind = enumerator(json, "kind", ArgumentKind::kMagicShift);
    argument.type = enumerator(json, "type", PtxType::kF64);
    switch (argument.kind) {
      case ArgumentKind::kPointer:
      case ArgumentKind::kScalar:
        argument.parameter = parameter(json);
        break;
      case ArgumentKind::kWorkspace:
      case ArgumentKind::kVariantWorkspace:
        argument.workspace = number(json, "workspace");
        break;
      case ArgumentKind::kSize:
      case ArgumentKind::kMagicMultiplier:
      case ArgumentKind::kMagicShift:
        argument.value = size(member(json, "value"));
        break;
    }
    return argument;
  }

  Launch read_launch(const Json& json) {
    Launch launch;
    launch.entry = text(json, "entry");
    launch.grid = size(member(json, "grid"));
    launch.block = number(json, "block");
    launch.dynamic_shared = size(member(json, "dynamic_shared"));
    for (const Json& item : items(json, "arguments")) launch.arguments.push_back(read_argument(item));
    return launch;
  }

  Variant read_variant(const Json& json) {
    Variant variant;
    variant.name = text(json, "name");
    variant.guard = read_guard(member(json, "guard"));
    variant.schedule = text(json, "schedule");
    variant.remarks = texts(json, "remarks");
    if (!flag(json, "lowered")) return variant;
    LoweredVariant& code = variant.code.emplace();
    code.ptx = text(json, "ptx");
    code.workspace = read_workspace(json);
    for (const Json& item : items(json, "launches")) code.launches.push_back(read_launch(item));
    return variant;
  }

  Step read_step(const Json& json) {
    Step step;
    step.name = text(json, "name");
    for (const Json& item : items(json, "variants")) step.variants.push_back(read_variant(item));
    step.remarks = texts(json, "remarks");
    return step;
  }

  Program program_;
  size_t symbol_count_ = 0;
  std::string fault_;
};

}  // namespace

std::string to_json(const Program& program) {
  // Source text may hold any bytes: what is not UTF-8 is replaced, not thrown at.
  return Writer(program).write().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Program> parse_program(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail(ErrorKind::kFile, "the program record is not a JSON object");
  return Reader().read(json);
}

}  // namespace tenon::runtime
