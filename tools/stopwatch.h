// Wall-clock time by phase, for `--time`.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools {

class Stopwatch {
 public:
  // Ends the phase that began with the last lap, or with the stopwatch.
  void lap(std::string phase);
  // A line a phase, milliseconds in front, and their sum.
  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  std::vector<std::pair<std::string, double>> laps_;
};

}  // namespace tenon::tools
