// `tenon`: compiles, runs, explains and emulates. The only place that catches exceptions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "support/check.h"
#include "support/diagnostics.h"
#include "tools/command.h"
#include "tools/exit_status.h"

namespace tenon::tools {
namespace {

constexpr const char* kVersion = "tenon " TENON_VERSION;

std::vector<Command> add_commands(CLI::App& app) {
  return {add_run(app), add_compile(app), add_explain(app), add_opt(app), add_emulate(app), add_devices(app)};
}

// The deepest command that the line named, whose options it can have meant.
const CLI::App& innermost(const CLI::App& app) {
  for (const CLI::App* chosen : app.get_subcommands()) return innermost(*chosen);
  return app;
}

// The option or command of `app` that looks like `text`; empty if none does.
std::string similar(const CLI::App& app, const std::string& text) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  std::vector<std::string_view> candidates(names.begin(), names.end());
  return std::string(did_you_mean(text.substr(0, text.find('=')), candidates));
}

// What the user may have wanted with an argument that nothing takes.
std::string hint_for(const CLI::App& app, const CLI::App& chosen, const std::string& text) {
  std::string close = similar(chosen, text);
  if (&chosen == &app && text.ends_with(".tn")) close = "tenon run " + text;
  if (chosen.get_name() == "run" && !text.starts_with('-') && text.find('=') != std::string::npos)
    close = "--in " + text;
  return close.empty() ? "" : fmt::format("; did you mean {}?", close);
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::string_view kConversion = "Could not convert: ";
  const CLI::App& chosen = innermost(app);
  std::vector<std::string> unknown = app.remaining(true);
  std::string message = error.what();
  if (message.starts_with(kConversion))
    return message.substr(kConversion.size()) + " is no value that it takes";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    if (const size_t name_end = message.find(": At Most 1 required"); name_end != std::string::npos)
      return message.substr(0, name_end) + " is given more than once";
  if (unknown.empty()) return message;
  const std::string& text = unknown.front();
  std::string_view what = text.starts_with('-') ? "unknown option"
                          : &chosen == &app     ? "unknown command"
                                                : "unexpected argument";
  return fmt::format("{} {}{}", what, text, hint_for(app, chosen, text));
}

ExitStatus wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& chosen = innermost(app);
  print_error(describe(app, error));
  std::string command = &chosen == &app ? "tenon" : "tenon " + chosen.get_name();
  fmt::print(stderr, "Try: {} --help\n", command);
  return kUsage;
}

ExitStatus run(int argc, char** argv) {
  CLI::App app(
      "A compiler for tensor programs: from a .tn file to PTX, run on a GPU or on the emulated device.",
      "tenon");
  app.set_version_flag("--version", kVersion, "Print the version");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  std::vector<Command> commands = add_commands(app);
  app.footer(
      "Examples:\n"
      "  tenon run examples/softmax.tn --in x=a.npy --out y=b.npy\n"
      "  tenon compile examples/softmax.tn --arch sm_90a -o softmax.ptx\n"
      "  tenon explain examples/softmax.tn\n"
      "Exit status: 0 success, 1 diagnostics, mismatch or refused launch, 2 usage,\n"
      "3 device, file or machine, 70 a bug in tenon.");
  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    app.exit(request);
    return kOk;
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, error);
  }
  for (const Command& command : commands)
    if (command.app->parsed()) return command.run();
  TENON_UNREACHABLE("no command was parsed");
}

}  // namespace
}  // namespace tenon::tools

int main(int argc, char** argv) {
  try {
    int status = tenon::tools::run(argc, argv);
    // A full disk shows when the last bytes are written.
    if (std::fflush(stdout) == 0) return status;
    tenon::tools::print_error("cannot write to the standard output");
    return tenon::tools::kMachine;
  } catch (const std::bad_alloc&) {
    tenon::tools::print_error("out of memory");
    return tenon::tools::kMachine;
  } catch (const std::exception& error) {
    tenon::internal_error(error.what(), __FILE__, __LINE__);
  }
}
