#include "tools/stopwatch.h"

#include <fmt/format.h>

namespace tenon::tools {

void Stopwatch::lap(std::string phase) {
  Clock::time_point now = Clock::now();
  laps_.emplace_back(std::move(phase), std::chrono::duration<double, std::milli>(now - start_).count());
  start_ = now;
}

std::string Stopwatch::text() const {
  std::string text;
  double total = 0;
  for (const auto& [phase, milliseconds] : laps_) {
    text += fmt::format("{:10.3f} ms  {}\n", milliseconds, phase);
    total += milliseconds;
  }
  return text + fmt::format("{:10.3f} ms  total\n", total);
}

}  // namespace tenon::tools
