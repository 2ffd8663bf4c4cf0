#include "bench/common/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>

extern char** environ;

namespace tenon::bench {
namespace {

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t bytes = 0;
  while ((bytes = read(descriptor, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<size_t>(bytes));
  return text;
}

Result<pid_t> spawn(const std::vector<std::string>& arguments, int output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t process = 0;
  int error = posix_spawn(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(ErrorKind::kMachine, fmt::format("{} does not start", arguments[0]));
  return process;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return fail(ErrorKind::kMachine, "no pipe");
  Result<pid_t> process = spawn(arguments, pipe_ends[1]);
  close(pipe_ends[1]);
  ProcessResult result;
  result.output = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  if (!process) return std::unexpected(process.error());
  int status = 0;
  rusage usage{};
  wait4(*process, &status, 0, &usage);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  return result;
}

std::string sibling_path(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  std::string self(buffer.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + path;
}

}  // namespace tenon::bench
