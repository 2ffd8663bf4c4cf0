// Runs PTX on an emulated device with arrays of the host.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emulator/device.h"

namespace tenon::emulator::test {

// An array that goes to the device before a launch and comes back after it.
struct Array {
  std::vector<std::byte> bytes;
  // False: the device's memory is never written by the host.
  bool upload = true;
  DeviceAddress address = 0;

  template <class T>
  static Array of(const std::vector<T>& values) {
    Array array;
    array.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
    return array;
  }
  // Memory that nobody has written.
  static Array fresh(size_t bytes) {
    Array array;
    array.bytes.resize(bytes);
    array.upload = false;
    return array;
  }
  template <class T>
  std::vector<T> values() const {
    std::vector<T> result(bytes.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
};

// Builds the argument list of one launch.
class KernelRun {
 public:
  explicit KernelRun(std::string ptx, DeviceConfig config = {}) : ptx_(std::move(ptx)), device_(config) {}

  KernelRun& grid(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  KernelRun& block(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  KernelRun& shared(uint64_t bytes);
  KernelRun& array(Array& array);
  template <class T>
  KernelRun& value(T value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    values_.push_back(std::move(bytes));
    return *this;
  }

  // Launches the named kernel, or the module's first; the arrays come back.
  Result<LaunchReport> launch(std::string_view kernel = {});
  // As `launch`, for a kernel that is expected to run without a fault.
  LaunchReport expect_ok(std::string_view kernel = {});

  Device& device() { return device_; }

 private:
  std::string ptx_;
  Device device_;
  LaunchRequest request_;
  std::vector<Array*> arrays_;
  std::vector<std::vector<std::byte>> values_;
};

// A file of test/unit/emulator/ptx.
std::string read_ptx(const std::string& name);
// ".version 8.0 .target sm_80 .address_size 64" and the body.
std::string module_text(const std::string& body, const std::string& target = "sm_80");

}  // namespace tenon::emulator::test
