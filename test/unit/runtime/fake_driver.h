// A driver whose device memory is host memory and whose launches are only recorded. Functions of the table
// are plain pointers, so the fake in use is found through one variable: one FakeDriver at a time.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/driver.h"

namespace tenon::runtime {

struct RecordedLaunch {
  std::string entry;
  unsigned grid = 0;
  unsigned block = 0;
  unsigned shared = 0;
  CUstream stream = nullptr;
  std::vector<uint64_t> arguments;
};

class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;

  DriverTable table() const;

  // The names of all calls so far, in order.
  std::vector<std::string> calls;
  std::vector<RecordedLaunch> launches;
  std::vector<std::string> loaded_ptx;
  // Live allocations and their sizes.
  std::map<CUdeviceptr, size_t> allocations;
  // Entries by name, with the number of their arguments; what cuModuleGetFunction finds.
  std::map<std::string, size_t> entries;
  // What a function returns, by name; kCudaSuccess where absent.
  std::map<std::string, CUresult> failures;
  std::string jit_log;
  int device_count = 1;
  int capability = 80;
  int max_shared = 166912;
  CUcontext current = nullptr;
  std::mutex mutex;

  size_t count(const std::string& call) const;
};

}  // namespace tenon::runtime
