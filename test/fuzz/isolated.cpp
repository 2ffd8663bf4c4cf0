#include "isolated.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <sstream>

#include "support/check.h"

namespace tenon::fuzz {
namespace {

// Numbers and the kind on the first line, the text behind it.
std::string pack(const Report& report) {
  return fmt::format("{} {} {} {} {}\n{}", static_cast<int>(report.verdict), report.launches, report.elements,
                     report.ambiguous, report.kind, report.text);
}

Report unpack(const std::string& packed) {
  Report report;
  std::istringstream line(packed.substr(0, packed.find('\n')));
  int verdict = 0;
  line >> verdict >> report.launches >> report.elements >> report.ambiguous >> report.kind;
  report.verdict = static_cast<Report::Verdict>(verdict);
  report.text = packed.substr(packed.find('\n') + 1);
  return report;
}

[[noreturn]] void run_child(int output, const Program& program, const TrialOptions& options,
                            unsigned seconds) {
  // What the compiler says of an internal error belongs to the report.
  dup2(output, STDERR_FILENO);
  const rlimit limit{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &limit);
  const std::string text = pack(try_program(program.to_text(), program.options, options));
  FILE* file = fdopen(output, "w");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
  _exit(0);
}

Report failure(std::string kind, std::string text) {
  Report report;
  report.verdict = Report::Verdict::kFinding;
  report.kind = std::move(kind);
  report.text = std::move(text);
  return report;
}

}  // namespace

Report try_isolated(const Program& program, const TrialOptions& options, unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0) return failure("machine", "no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return failure("machine", "no process");
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], program, options, seconds);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const bool hang = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
    return failure(hang ? "hang" : fmt::format("signal-{}", WTERMSIG(status)), text);
  }
  if (WEXITSTATUS(status) == kInternalErrorStatus) {
    // The message names the check that failed.
    const size_t line = text.find("internal error");
    return failure("internal:" + text.substr(line == std::string::npos ? 0 : line + 16, 40)
                                     .substr(0, text.find('\n', line) - line - 16),
                   text);
  }
  if (WEXITSTATUS(status) != 0) return failure("exit", text);
  return unpack(text);
}

}  // namespace tenon::fuzz
