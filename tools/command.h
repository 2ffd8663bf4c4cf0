// The subcommands of `tenon`: one file each, thin: they turn options into calls of the libraries and print.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/exit_status.h"

namespace tenon::tools {

struct Command {
  CLI::App* app;
  // Called after the command line was parsed, if it names this command.
  std::function<ExitStatus()> run;
};

Command add_compile(CLI::App& parent);
Command add_run(CLI::App& parent);
Command add_opt(CLI::App& parent);
Command add_explain(CLI::App& parent);
Command add_emulate(CLI::App& parent);
Command add_devices(CLI::App& parent);

}  // namespace tenon::tools
