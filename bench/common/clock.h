// CPU time, which tells what work costs on a machine that others use too.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace tenon::bench {

// Milliseconds that this process has computed, all threads together.
inline double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// The least CPU time of `runs` calls, in milliseconds.
template <class Call>
double least_cpu_ms(int runs, Call&& call) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    double start = cpu_ms();
    call();
    least = std::min(least, cpu_ms() - start);
  }
  return least;
}

}  // namespace tenon::bench
