// Compiles a CUDA C++ file to PTX with NVRTC, as a program of its own: what a process costs that does nothing
// else.
//   nvrtc_process FILE.cu [NAME=VALUE]...
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/common/nvrtc.h"
#include "support/file.h"

int main(int count, char** arguments) {
  using namespace tenon;
  constexpr uint64_t kMostSourceBytes = uint64_t{1} << 20;
  if (count < 2) return 2;
  Result<std::string> source = read_file(arguments[1], kMostSourceBytes);
  Result<bench::Nvrtc> nvrtc = bench::Nvrtc::open();
  if (!source || !nvrtc) return 3;
  Result<std::string> ptx =
      nvrtc->compile(*source, std::vector<std::string>(arguments + 2, arguments + count));
  if (!ptx) {
    fmt::print(stderr, "{}\n", ptx.error().message);
    return 1;
  }
  fmt::print("{}", *ptx);
  return 0;
}
