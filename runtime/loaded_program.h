// A program on a device: its variants' modules, each compiled and loaded when a launch first needs it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/program.h"
#include "runtime/resources.h"
#include "support/result.h"

namespace tenon::runtime {

// A variant whose code is on the device. Does not change once loaded, but for `allowed_shared`.
struct LoadedVariant {
  struct Entry {
    CUfunction function = nullptr;
    // Dynamic shared memory that the driver has been told to allow, in bytes.
    std::atomic<int64_t> allowed_shared = 0;
  };

  LoweredVariant code;
  Module module;
  // One for each of code.launches.
  std::vector<Entry> entries;
};

// Thread-safe: several threads may launch at once, and lower different variants at once.
class LoadedProgram {
 public:
  // Verifies the program and that the device can run its target. `source` may be empty if every variant has
  // its code.
  static Result<std::unique_ptr<LoadedProgram>> create(std::shared_ptr<Device> device,
                                                       std::shared_ptr<const Program> program,
                                                       VariantSource source = {});

  const Program& program() const { return *program_; }
  Device& device() const { return *device_; }

  // The variant, lowered and loaded now if it was not yet. A failure is not kept: the next call tries again.
  Result<LoadedVariant*> variant(uint32_t step, uint32_t index);

 private:
  struct Slot {
    std::mutex mutex;
    // Set once `variant` is complete, so that the usual launch takes no lock.
    std::atomic<LoadedVariant*> ready = nullptr;
    std::unique_ptr<LoadedVariant> variant;
  };

  LoadedProgram(std::shared_ptr<Device> device, std::shared_ptr<const Program> program, VariantSource source);
  Result<std::unique_ptr<LoadedVariant>> load(uint32_t step, uint32_t index);
  Result<LoweredVariant> lowered(uint32_t step, uint32_t index) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<const Program> program_;
  VariantSource source_;
  // By step, then variant.
  std::vector<std::vector<Slot>> slots_;
};

}  // namespace tenon::runtime
