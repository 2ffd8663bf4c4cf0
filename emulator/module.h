// A loaded PTX module: its decoded kernels and its variables in the device's memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/lane_ops.h"
#include "emulator/memory.h"
#include "emulator/program.h"
#include "support/result.h"

namespace tenon::emulator {

struct PtxModule;

class Module {
 public:
  // Parses and decodes `text` for a device of compute capability `sm`; every kernel must be executable.
  // Parameters lie at `parameter_address` during a launch. The variables are freed with the module.
  static Result<std::shared_ptr<Module>> load(std::string text, unsigned sm,
                                              std::shared_ptr<GlobalMemory> memory,
                                              uint64_t parameter_address, InstructionSet instruction_set);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::vector<std::unique_ptr<const Program>>& kernels() const { return kernels_; }
  // Null where the module has no such entry.
  const Program* kernel(std::string_view name) const;
  // Address and size of a .global or .const variable.
  Result<std::pair<DeviceAddress, uint64_t>> variable(std::string_view name) const;

 private:
  struct PlacedGlobal {
    DeviceAddress address;
    uint64_t bytes;
  };

  explicit Module(std::shared_ptr<GlobalMemory> memory) : memory_(std::move(memory)) {}
  Result<void> place_variables(const PtxModule& ptx);
  Result<void> initialise_variables(const PtxModule& ptx);

  std::shared_ptr<GlobalMemory> memory_;
  std::map<std::string, PlacedGlobal, std::less<>> variables_;
  std::vector<std::unique_ptr<const Program>> kernels_;
};

}  // namespace tenon::emulator
