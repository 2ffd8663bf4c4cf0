#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/parse/parse.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/tile_parser.h"
#include "ir/tile_printer.h"
#include "ir/tile_verifier.h"
#include "ir/verifier.h"
#include "passes/registry.h"
#include "support/check.h"
#include "support/file.h"
#include "tools/command.h"
#include "tools/expected_diagnostics.h"
#include "tools/kernels.h"

namespace tenon::tools {
namespace {

constexpr std::string_view kSeparator = "// -----";
constexpr uint64_t kMostInputBytes = uint64_t{256} << 20;

struct Options {
  KernelOptions kernel;
  std::string output = "-";
  std::vector<std::string> passes;
  std::string variant;
  bool print_after_all = false;
  bool verify_each = false;
  bool split = false;
  bool verify_diagnostics = false;
  bool remarks = false;
};

// The parts between separator lines, each with as many empty lines in front as the file has before it, so
// that lines are those of the file.
std::vector<std::string> split_input(const std::string& text) {
  std::vector<std::string> parts(1);
  size_t lines = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string_view line = std::string_view(text).substr(at, end - at);
    ++lines;
    if (line.starts_with(kSeparator))
      parts.emplace_back(lines, '\n');
    else
      parts.back() += line;
    at = end;
  }
  return parts;
}

bool is_tile_text(std::string_view text) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line.substr(start).starts_with("//")) continue;
    return line.substr(start).starts_with("tile.");
  }
  return false;
}

// One part of the input on its way through the passes.
class Part {
 public:
  Part(const Options& options, std::string text) : options_(options), text_(std::move(text)) {}

  Result<ExitStatus> run(std::string& output) {
    TENON_TRY(read());
    ExitStatus status = kOk;
    if (!diagnostics_.has_errors()) {
      TENON_TRY(run_passes(status));
      if (status == kOk) output += module_text();
    }
    if (options_.verify_diagnostics) return compare();
    print_diagnostics(diagnostics_, sources_, options_.kernel.source);
    if (options_.remarks) print_remarks();
    return diagnostics_.has_errors() ? kFailed : status;
  }

 private:
  // A program for a name that ends in .tn, else IR of either stage, which is verified.
  Result<void> read() {
    const std::string& path = options_.kernel.source.path;
    FileId file = sources_.add(path == "-" ? "<stdin>" : path, text_);
    if (path.ends_with(".tn")) return read_program(file);
    if (is_tile_text(text_)) {
      run_.stage = passes::PassStage::kTile;
      if (auto modules = ir::parse_tile_modules(sources_, file, diagnostics_))
        run_.tiles = std::move(*modules);
      for (const ir::TileModule& module : run_.tiles) ir::report(ir::verify(module), diagnostics_);
      return {};
    }
    if (auto module = ir::parse_module(sources_, file, diagnostics_)) run_.module = std::move(*module);
    if (!diagnostics_.has_errors()) ir::report(ir::verify(run_.module), diagnostics_);
    return {};
  }

  Result<void> read_program(FileId file) {
    TENON_TRY_ASSIGN(frontend::CheckOptions settings, settings_of(options_.kernel));
    frontend::Module module = frontend::parse(file, sources_, diagnostics_);
    run_.module = frontend::check(module, sources_, settings, diagnostics_).module;
    return {};
  }

  Result<void> run_passes(ExitStatus& status) {
    std::vector<std::string_view> flags(options_.passes.begin(), options_.passes.end());
    passes::RunOptions run_options{
        .verify_each = options_.verify_each,
        .after = [&](const passes::Pass& pass, const passes::PassRun&) { after(pass); },
        .target = &target_of(options_.kernel),
        .variant = options_.variant};
    DoingScope doing("tenon opt", [this] { return text_; });
    Result<void> ran = passes::run_passes(run_, flags, run_options);
    if (ran) return {};
    // Nothing but a broken invariant is beyond the caller's power here.
    if (ran.error().kind != ErrorKind::kUsage) broken(ran.error().message);
    status = kUsage;
    return ran;
  }

  void after(const passes::Pass& pass) {
    if (options_.print_after_all) fmt::print(stderr, "// IR after {}\n{}", pass.flag, module_text());
  }

  [[noreturn]] static void broken(const std::string& message) { internal_error(message, __FILE__, __LINE__); }

  std::string module_text() const {
    if (run_.stage == passes::PassStage::kTensor) return ir::print(run_.module);
    std::string text;
    for (const ir::TileModule& module : run_.tiles) text += (text.empty() ? "" : "\n") + ir::print(module);
    return text;
  }

  uint32_t line_of(Span span) const {
    return span.valid() ? sources_.position(span.file, span.begin).line : 0;
  }

  void print_remarks() const {
    for (const passes::Remark& remark : run_.context.remarks)
      fmt::print(stderr, "{}:{}: remark: {}: {}\n", options_.kernel.source.path, line_of(remark.span),
                 remark.pass, remark.text);
  }

  Result<ExitStatus> compare() const {
    std::vector<FoundDiagnostic> found;
    for (const Diagnostic& diagnostic : diagnostics_.all())
      found.push_back({line_of(diagnostic.span), row(diagnostic.id).severity, diagnostic.message});
    if (options_.remarks)
      for (const passes::Remark& remark : run_.context.remarks)
        found.push_back({line_of(remark.span), Severity::kRemark, remark.text});
    std::string problems = compare_diagnostics(text_, found);
    fmt::print(stderr, "{}", problems);
    return problems.empty() ? kOk : kFailed;
  }

  const Options& options_;
  std::string text_;
  SourceManager sources_;
  Diagnostics diagnostics_;
  passes::PassRun run_;
};

// A flag that no pass has, with the one that was perhaps meant.
Result<void> check_passes(const Options& options) {
  for (const std::string& flag : options.passes) {
    if (passes::pass_by_flag(flag) != nullptr) continue;
    std::vector<std::string_view> flags;
    for (const passes::Pass& pass : passes::all_passes()) flags.push_back(pass.flag);
    std::string_view close = did_you_mean(flag, flags);
    return fail(ErrorKind::kUsage,
                fmt::format("--passes: there is no pass {}; {}", flag,
                            close.empty() ? "see tenon opt --help" : fmt::format("did you mean {}?", close)));
  }
  return {};
}

Result<ExitStatus> optimise(const Options& options) {
  TENON_TRY(check_passes(options));
  TENON_TRY_ASSIGN(std::string text, read_file(options.kernel.source.path, kMostInputBytes));
  std::vector<std::string> parts = options.split ? split_input(text) : std::vector{std::move(text)};
  ExitStatus status = kOk;
  std::string output;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) output += fmt::format("{}\n", kSeparator);
    TENON_TRY_ASSIGN(ExitStatus one, Part(options, std::move(parts[i])).run(output));
    if (one != kOk) status = one;
  }
  if (!options.verify_diagnostics) TENON_TRY(write_file(options.output, output));
  return status;
}

void add_options(CLI::App& app, Options& options) {
  add_kernel_options(app, options.kernel);
  app.get_option("FILE")->description("IR text, or a program (.tn); - is the standard input");
  app.add_option("--passes", options.passes, "Passes to run, in order, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PASSES");
  app.add_option("--variant", options.variant,
                 "What build-nest builds; by default the last variant of each step")
      ->type_name("NAME");
  app.add_option("-o,--output", options.output, "Where to write; the standard output by default")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--print-ir-after-all", options.print_after_all, "Print to the standard error after each pass")
      ->group("Output");
  app.add_flag("--remarks", options.remarks, "Tell what passes decided")->group("Output");
  app.add_flag("--verify-each", options.verify_each, "Verify the IR after each pass")->group("Testing");
  app.add_flag("--split-input-file", options.split, "Treat the parts between `// -----` lines one by one")
      ->group("Testing");
  app.add_flag("--verify-diagnostics", options.verify_diagnostics,
               "Hold diagnostics against `expected-error {{text}}` comments")
      ->group("Testing");
}

std::string passes_text() {
  std::string text = "Passes:\n";
  for (const passes::Pass& pass : passes::all_passes())
    text += fmt::format("  {:<20} {}\n", pass.flag, pass.doc);
  return text + "Example:\n  tenon opt examples/softmax.tn --passes=fold,cse,inline,dce,group";
}

}  // namespace

Command add_opt(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("opt", "Run passes on IR text");
  auto options = std::make_shared<Options>();
  add_options(*app, *options);
  app->footer(passes_text());
  return {app, [options] {
            Result<ExitStatus> status = optimise(*options);
            return status ? *status : failed(status.error());
          }};
}

}  // namespace tenon::tools
