#include "tools/ptxas.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/file.h"

namespace tenon::tools {
namespace {

constexpr rlim_t kCpuSeconds = 60;
constexpr rlim_t kMemoryBytes = rlim_t{8} << 30;
constexpr uint64_t kMostCubinBytes = uint64_t{256} << 20;

std::unexpected<Error> machine(std::string message) { return fail(ErrorKind::kMachine, std::move(message)); }

// A new folder for the files of one run, removed with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    std::string path = (std::filesystem::temp_directory_path(ignored) / "tenon-XXXXXX").string();
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  bool made() const { return !path_.empty(); }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

std::string find_ptxas() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate = std::string(rest.substr(0, end)) + "/ptxas";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

void limit(int resource, rlim_t most) {
  rlimit limits{most, most};
  setrlimit(resource, &limits);
}

// The child's side: never returns.
[[noreturn]] void become(const std::vector<std::string>& command, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  limit(RLIMIT_CPU, kCpuSeconds);
  limit(RLIMIT_AS, kMemoryBytes);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

struct Ended {
  std::string output;
  int status = 0;
};

// Runs a command to its end and collects what it says.
Result<Ended> run(const std::vector<std::string>& command) {
  std::array<int, 2> pipe_ends;
  if (pipe(pipe_ends.data()) != 0)
    return machine(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  pid_t child = fork();
  if (child < 0) return machine(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  if (child == 0) become(command, pipe_ends[1]);
  close(pipe_ends[1]);
  Ended ended;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(pipe_ends[0], buffer.data(), buffer.size())) != 0;) {
    if (got > 0) ended.output.append(buffer.data(), static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  close(pipe_ends[0]);
  while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

// The number in front of `unit` in a line such as "Used 32 registers, 400 bytes cmem[0]"; 0 where there is
// none.
uint32_t number_before(std::string_view line, std::string_view unit) {
  size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  uint32_t number = 0;
  std::from_chars(line.data() + begin, line.data() + at, number);
  return number;
}

// The name between the first two quotes of the line.
std::string quoted_name(std::string_view line) {
  size_t begin = line.find('\'');
  size_t end = line.find('\'', begin + 1);
  if (end == std::string_view::npos) return {};
  return std::string(line.substr(begin + 1, end - begin - 1));
}

// The lines that say more than what an entry takes: "ptxas warning : ...", "ptxas info : (C7510) Potential
// Performance Loss: ...".
std::string parse_remarks(std::string_view output) {
  std::string remarks;
  while (!output.empty()) {
    size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.starts_with("ptxas warning") || line.find("(C7") != std::string_view::npos)
      remarks.append(line).push_back('\n');
  }
  return remarks;
}

// Reads the lines of `ptxas -v`: "Compiling entry function 'f' for 'sm_80'", "... bytes stack frame, ...",
// "Used ...".
std::map<std::string, EntryResources> parse_resources(std::string_view output) {
  std::map<std::string, EntryResources> entries;
  EntryResources* current = nullptr;
  while (!output.empty()) {
    size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.find("Compiling entry function") != std::string_view::npos)
      current = &entries[quoted_name(line)];
    if (current == nullptr) continue;
    if (line.find("stack frame") != std::string_view::npos) {
      current->stack = number_before(line, " bytes stack frame");
      current->spill_stores = number_before(line, " bytes spill stores");
      current->spill_loads = number_before(line, " bytes spill loads");
    } else if (line.find(" registers") != std::string_view::npos) {
      current->registers = number_before(line, " registers");
      current->static_shared = number_before(line, " bytes smem");
    }
  }
  return entries;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

bool has_ptxas() { return !find_ptxas().empty(); }

Result<Assembled> assemble(const std::string& ptx, const std::string& target) {
  std::string ptxas = find_ptxas();
  if (ptxas.empty()) return machine("ptxas is not in the search path; it comes with the CUDA toolkit");
  ScratchFolder folder;
  if (!folder.made()) return machine("cannot make a folder for temporary files");
  TENON_TRY(write_file(folder.file("module.ptx"), ptx));
  TENON_TRY_ASSIGN(Ended ended, run({ptxas, "-v", "-arch=" + target, "-o", folder.file("module.cubin"),
                                     folder.file("module.ptx")}));
  if (ended.status != 0) return machine(fmt::format("ptxas {}\n{}", status_text(ended.status), ended.output));
  TENON_TRY_ASSIGN(std::string cubin, read_file(folder.file("module.cubin"), kMostCubinBytes));
  return Assembled{std::move(cubin), parse_resources(ended.output), parse_remarks(ended.output)};
}

}  // namespace tenon::tools
