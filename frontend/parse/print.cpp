#include "frontend/parse/print.h"

#include "frontend/parse/print_expr.h"

namespace tenon::frontend {
namespace {

void print_name_list(std::string& out, const std::vector<Name>& names, std::string_view separator) {
  std::string_view before;
  for (const Name& name : names) {
    out += before;
    out += name.text;
    before = separator;
  }
}

void print_param(std::string& out, const Module& module, const Param& param, ExprStyle style) {
  out += param.name.text;
  out += ": ";
  if (param.is_inout) out += "inout ";
  if (param.is_strided) out += "strided ";
  print_type(out, module, param.type, style);
}

void print_entry(std::string& out, const ScheduleEntry& entry) {
  if (entry.statement) {
    out += entry.statement->text;
    out += '.';
  }
  out += entry.setting.text;
  out += " = ";
  std::visit([&](const auto& value) { out += value.text; }, entry.value);
}

// Everything of a statement that both forms have in common.
class StatementPrinter {
 public:
  StatementPrinter(std::string& out, const Module& module, ExprStyle style)
      : out_(out), module_(module), style_(style) {}

  void operator()(const LocalDeclaration& local) {
    out_ += local.name.text;
    out_ += ": ";
    print_type(out_, module_, local.type, style_);
  }
  void operator()(const Definition& definition) {
    print_name_list(out_, definition.names, ", ");
    out_ += " = ";
    print_expr(out_, module_, definition.value, style_);
  }
  void operator()(const IndexedDefinition& definition) {
    out_ += definition.target.text;
    out_ += '[';
    print_exprs(out_, module_, definition.subscripts, style_, ExprPlace::kSubscript);
    out_ += definition.drop ? " | drop] " : "] ";
    out_ += spelling(definition.op);
    out_ += ' ';
    print_expr(out_, module_, definition.value, style_);
  }

 private:
  std::string& out_;
  const Module& module_;
  ExprStyle style_;
};

class TreePrinter {
 public:
  explicit TreePrinter(const Module& module) : module_(module) {}

  std::string run() {
    for (const Declaration& declaration : module_.declarations)
      std::visit([this](auto id) { print(module_[id]); }, declaration);
    return std::move(out_);
  }

 private:
  void print(const Use& use) {
    out_ += "use ";
    print_name_list(out_, use.path, ".");
    out_ += '\n';
  }

  void print(const Schedule& schedule) {
    out_ += fmt_line("schedule ", schedule.kernel.text, " on ", schedule.target.text);
    for (const ScheduleEntry& entry : schedule.entries) {
      out_ += "  set ";
      print_entry(out_, entry);
      out_ += '\n';
    }
  }

  void print(const Kernel& kernel) {
    out_ += fmt_line("kernel ", kernel.signature.name.text);
    for (const Annotation& annotation : kernel.annotations) {
      out_ += "  annotation ";
      out_ += annotation.name.text;
      out_ += ' ';
      print_name_list(out_, annotation.arguments, ", ");
      out_ += '\n';
    }
    print(kernel.signature);
    print(kernel.body);
  }

  void print(const Function& function) {
    out_ += fmt_line("fn ", function.signature.name.text);
    print(function.signature);
    if (const ScalarForm* scalar = std::get_if<ScalarForm>(&function.form)) {
      out_ += fmt_line("  result ", scalar->result.text);
      out_ += "  value ";
      print_expr(out_, module_, scalar->value, ExprStyle::kTree);
      out_ += '\n';
    } else {
      print(std::get<Body>(function.form));
    }
  }

  void print(const Signature& signature) {
    for (const Generic& generic : signature.generics)
      out_ += fmt_line("  generic ", generic.name.text, ": ", spelling(generic.kind));
    print_params("param", signature.params);
    print_params("result", signature.results);
  }

  void print_params(std::string_view role, const std::vector<Param>& params) {
    for (const Param& param : params) {
      out_ += "  ";
      out_ += role;
      out_ += ' ';
      print_param(out_, module_, param, ExprStyle::kTree);
      out_ += '\n';
    }
  }

  void print(const Body& body) {
    for (ExprId clause : module_.exprs(body.where)) {
      out_ += "  where ";
      print_expr(out_, module_, clause, ExprStyle::kTree);
      out_ += '\n';
    }
    for (StatementId id : body.statements) {
      const Statement& statement = module_[id];
      out_ += std::holds_alternative<LocalDeclaration>(statement.payload) ? "  local " : "  define ";
      std::visit(StatementPrinter(out_, module_, ExprStyle::kTree), statement.payload);
      out_ += '\n';
    }
  }

  static std::string fmt_line(auto... parts) {
    std::string line;
    ((line += parts), ...);
    return line + '\n';
  }

  const Module& module_;
  std::string out_;
};

class SourcePrinter {
 public:
  explicit SourcePrinter(const Module& module) : module_(module) {}

  std::string run() {
    for (const Declaration& declaration : module_.declarations)
      std::visit([this](auto id) { print(module_[id]); }, declaration);
    return std::move(out_);
  }

 private:
  void print(const Use& use) {
    out_ += "use ";
    print_name_list(out_, use.path, ".");
    out_ += '\n';
  }

  void print(const Schedule& schedule) {
    out_ += "schedule ";
    out_ += schedule.kernel.text;
    out_ += " on ";
    out_ += schedule.target.text;
    out_ += " {";
    for (const ScheduleEntry& entry : schedule.entries) {
      out_ += ' ';
      print_entry(out_, entry);
    }
    out_ += " }\n";
  }

  void print(const Kernel& kernel) {
    for (const Annotation& annotation : kernel.annotations) {
      out_ += '@';
      out_ += annotation.name.text;
      out_ += '(';
      print_name_list(out_, annotation.arguments, ", ");
      out_ += ")\n";
    }
    out_ += "kernel ";
    print(kernel.signature);
    if (!kernel.signature.results.empty()) print_results(kernel.signature);
    print(kernel.body);
  }

  void print(const Function& function) {
    out_ += "fn ";
    print(function.signature);
    if (const ScalarForm* scalar = std::get_if<ScalarForm>(&function.form)) {
      out_ += " -> ";
      out_ += scalar->result.text;
      out_ += " = ";
      print_expr(out_, module_, scalar->value, ExprStyle::kSource);
      out_ += '\n';
    } else {
      print_results(function.signature);
      print(std::get<Body>(function.form));
    }
  }

  // Up to the parameters.
  void print(const Signature& signature) {
    out_ += signature.name.text;
    std::string_view separator = "<";
    for (const Generic& generic : signature.generics) {
      out_ += separator;
      out_ += generic.name.text;
      out_ += ": ";
      out_ += spelling(generic.kind);
      separator = ", ";
    }
    if (!signature.generics.empty()) out_ += '>';
    print_params(signature.params);
  }

  void print_results(const Signature& signature) {
    out_ += " -> ";
    print_params(signature.results);
  }

  void print_params(const std::vector<Param>& params) {
    out_ += '(';
    std::string_view separator;
    for (const Param& param : params) {
      out_ += separator;
      print_param(out_, module_, param, ExprStyle::kSource);
      separator = ", ";
    }
    out_ += ')';
  }

  void print(const Body& body) {
    std::string_view separator = " where ";
    for (ExprId clause : module_.exprs(body.where)) {
      out_ += separator;
      print_expr(out_, module_, clause, ExprStyle::kSource);
      separator = ", ";
    }
    out_ += " {\n";
    for (StatementId id : body.statements) {
      out_ += "  ";
      std::visit(StatementPrinter(out_, module_, ExprStyle::kSource), module_[id].payload);
      out_ += '\n';
    }
    out_ += "}\n";
  }

  const Module& module_;
  std::string out_;
};

}  // namespace

std::string print_ast(const Module& module) { return TreePrinter(module).run(); }
std::string print_source(const Module& module) { return SourcePrinter(module).run(); }

std::string print_source(const Module& module, ExprId expr) {
  std::string out;
  print_expr(out, module, expr, ExprStyle::kSource);
  return out;
}

}  // namespace tenon::frontend
