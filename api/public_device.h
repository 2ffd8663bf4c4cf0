// What stands behind tenon::Device.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.h"
#include "tenon/tenon.h"

namespace tenon {

struct __attribute__((visibility("hidden"))) Device::Impl {
  std::shared_ptr<runtime::Device> device;
  // A name of support/targets.def.
  std::string target;
  bool emulated = false;
};

}  // namespace tenon
