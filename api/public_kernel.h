// What stands behind tenon::Kernel.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/compiler.h"
#include "api/public_device.h"
#include "runtime/loaded_program.h"
#include "support/source.h"
#include "tenon/tenon.h"

namespace tenon {

struct __attribute__((visibility("hidden"))) Kernel::Impl {
  // The compiled kernel points into it.
  SourceManager sources;
  std::shared_ptr<const api::CompiledKernel> compiled;
  std::shared_ptr<const runtime::Program> program;
  std::vector<ParameterInfo> parameters;
  std::vector<SizeInfo> sizes;
  std::vector<std::string> conditions;
  std::vector<StepInfo> steps;
  std::vector<Message> messages;

  ~Impl();

  // The kernel on a device, which must live as long as the reference is used. Made on the first call.
  Result<runtime::LoadedProgram*> on(const std::shared_ptr<Device::Impl>& device) const;

 private:
  struct Loaded {
    // Expires when the host has dropped the device; the program then goes too.
    std::weak_ptr<Device::Impl> device;
    std::unique_ptr<runtime::LoadedProgram> program;
  };

  mutable std::mutex mutex_;
  mutable std::vector<Loaded> loaded_;
};

namespace api {

// Fills what Kernel tells about itself, from its program.
void describe(Kernel::Impl& kernel);

}  // namespace api
}  // namespace tenon
