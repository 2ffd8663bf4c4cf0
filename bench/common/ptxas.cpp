#include "bench/common/ptxas.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "bench/common/process.h"
#include "support/file.h"

namespace tenon::bench {
namespace {

// The number before each `label` in the text, as in "Used 40 registers".
template <class Visit>
void each_number_before(std::string_view text, std::string_view label, Visit&& visit) {
  for (size_t at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1)) {
    size_t start = at;
    while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') --start;
    int value = 0;
    std::from_chars(text.data() + start, text.data() + at, value);
    visit(value);
  }
}

}  // namespace

std::optional<Ptxas> Ptxas::find() {
  const char* path = std::getenv("PATH");
  std::string folders = fmt::format("{}:/usr/local/cuda/bin", path == nullptr ? "" : path);
  for (size_t start = 0; start < folders.size();) {
    size_t end = std::min(folders.find(':', start), folders.size());
    std::string candidate = folders.substr(start, end - start) + "/ptxas";
    if (access(candidate.c_str(), X_OK) == 0) {
      Ptxas found;
      found.path_ = candidate;
      return found;
    }
    start = end + 1;
  }
  return std::nullopt;
}

Result<Assembly> Ptxas::assemble(const std::string& ptx) const {
  std::string name = "/tmp/tenon_bench_XXXXXX";
  int descriptor = mkstemp(name.data());
  if (descriptor < 0) return fail(ErrorKind::kMachine, "no temporary file");
  close(descriptor);
  Result<void> written = write_file(name, ptx);
  Result<ProcessResult> run = written
                                  ? run_process({path_, "-v", "--gpu-name", "sm_80", name, "-o", "/dev/null"})
                                  : Result<ProcessResult>(std::unexpected(written.error()));
  unlink(name.c_str());
  if (!run) return std::unexpected(run.error());
  if (run->status != 0) return fail(ErrorKind::kMachine, "ptxas refuses the module:\n" + run->output);
  Assembly assembly;
  each_number_before(run->output, " registers",
                     [&](int n) { assembly.registers = std::max(assembly.registers, n); });
  for (std::string_view label : {" bytes stack frame", " bytes spill stores", " bytes spill loads"})
    each_number_before(run->output, label, [&](int n) { assembly.spill_bytes += n; });
  return assembly;
}

}  // namespace tenon::bench
