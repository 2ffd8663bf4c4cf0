#include "tools/source_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "support/file.h"
#include "tools/choice.h"

namespace tenon::tools {
namespace {

// Far above every limit of the language, so that its own diagnostic speaks first.
constexpr uint64_t kMostSourceBytes = uint64_t{64} << 20;

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

void add_source_options(CLI::App& app, SourceOptions& options, const std::string& what) {
  app.add_option("FILE", options.path, what + "; - is the standard input")->required()->type_name("");
  app.add_option("--diagnostics-format", options.diagnostics_format, "How mistakes are printed: text or json")
      ->check(one_of({"text", "json"}))
      ->type_name("FORMAT");
}

Result<FileId> load_source(SourceManager& sources, const SourceOptions& options) {
  TENON_TRY_ASSIGN(std::string text, read_file(options.path, kMostSourceBytes));
  return sources.add(options.path == "-" ? "<stdin>" : options.path, std::move(text));
}

void print_diagnostics(const Diagnostics& diagnostics, const SourceManager& sources,
                       const SourceOptions& options) {
  bool json = options.diagnostics_format == "json";
  fmt::print(stderr, "{}",
             json ? render_json(diagnostics, sources) : render_text(diagnostics, sources, wants_color()));
}

}  // namespace tenon::tools
