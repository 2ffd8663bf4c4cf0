// How compile time grows with a program: chains of elementwise statements, each reading the one before.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/common/clock.h"
#include "bench/common/kernel.h"
#include "bench/common/table.h"

namespace tenon::bench {
namespace {

constexpr int kRuns = 3;

std::string chain(int statements) {
  std::string source = "kernel chain(x: f32[N]) -> (y: f32[N]) {\n  v0[i] = x[i]\n";
  for (int i = 1; i < statements; ++i)
    source += fmt::format("  v{}[i] = v{}[i] {} {}.25\n", i, i - 1, i % 2 == 0 ? "*" : "+", i % 7 + 1);
  return source + fmt::format("  y[i] = v{}[i]\n}}\n", statements - 1);
}

int run() {
  Table table({"statements", "CPU ms", "over the one before", "PTX bytes"});
  double before = 0;
  for (int statements : {1250, 2500, 5000, 10'000, 20'000}) {
    std::string source = chain(statements);
    Result<size_t> bytes = 0;
    double time = least_cpu_ms(kRuns, [&] { bytes = compile_for_launch(source, {}, {{"N", 1 << 20}}); });
    if (!bytes) {
      fmt::print(stderr, "{}\n", bytes.error().message);
      return 1;
    }
    table.add({fmt::format("{}", statements), fmt::format("{:.0f}", time),
               before > 0 ? fmt::format("{:.2f}", time / before) : "-", fmt::format("{}", *bytes)});
    before = time;
  }
  table.print();
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main() { return tenon::bench::run(); }
