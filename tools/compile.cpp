#include <fmt/format.h>

#include <memory>
#include <string>

#include "frontend/parse/parse.h"
#include "frontend/parse/print.h"
#include "support/file.h"
#include "tools/choice.h"
#include "tools/command.h"
#include "tools/source_file.h"

namespace tenon::tools {
namespace {

struct Options {
  SourceOptions source;
  std::string output = "-";
  std::string emit = "ast";
};

ExitStatus run_compile(const Options& options) {
  SourceManager sources;
  Result<FileId> file = load_source(sources, options.source);
  if (!file) return failed(file.error());
  Diagnostics diagnostics;
  frontend::Module module = frontend::parse(*file, sources, diagnostics);
  print_diagnostics(diagnostics, sources, options.source);
  if (diagnostics.has_errors()) return kFailed;
  Result<void> written = write_file(options.output, frontend::print_ast(module));
  return written ? kOk : failed(written.error());
}

}  // namespace

Command add_compile(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("compile", "Compile a program and write one of its forms");
  auto options = std::make_shared<Options>();
  add_source_options(*app, options->source, "The program, a .tn file");
  app->add_option("-o,--output", options->output, "Where to write; the standard output by default")
      ->type_name("FILE")
      ->group("Output");
  app->add_option("--emit", options->emit, "What to write: ast")
      ->check(one_of({"ast"}))
      ->type_name("FORM")
      ->group("Output");
  app->footer("Example:\n  tenon compile examples/softmax.tn --emit ast");
  return {app, [options] { return run_compile(*options); }};
}

}  // namespace tenon::tools
