#include "test/unit/emulator/harness.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace tenon::emulator::test {

KernelRun& KernelRun::grid(uint32_t x, uint32_t y, uint32_t z) {
  request_.grid = {x, y, z};
  return *this;
}
KernelRun& KernelRun::block(uint32_t x, uint32_t y, uint32_t z) {
  request_.block = {x, y, z};
  return *this;
}
KernelRun& KernelRun::shared(uint64_t bytes) {
  request_.dynamic_shared_bytes = bytes;
  return *this;
}

KernelRun& KernelRun::array(Array& array) {
  const auto address = device_.allocate(array.bytes.size());
  EXPECT_TRUE(address.has_value());
  array.address = *address;
  if (array.upload)
    EXPECT_TRUE(device_.write(array.address, array.bytes.data(), array.bytes.size()).has_value());
  arrays_.push_back(&array);
  return value(array.address);
}

Result<LaunchReport> KernelRun::launch(std::string_view kernel) {
  TENON_TRY_ASSIGN(const auto module, device_.load_module(ptx_));
  const Program* program =
      kernel.empty() && !module->kernels().empty() ? module->kernels()[0].get() : module->kernel(kernel);
  if (program == nullptr) return fail(ErrorKind::kUsage, "no such kernel");
  std::vector<const void*> pointers;
  for (const auto& value : values_) pointers.push_back(value.data());
  request_.arguments = pointers;
  auto report = device_.launch(*program, request_);
  for (Array* array : arrays_) {
    EXPECT_TRUE(device_.read(array->bytes.data(), array->address, array->bytes.size()).has_value());
  }
  return report;
}

LaunchReport KernelRun::expect_ok(std::string_view kernel) {
  auto report = launch(kernel);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  for (const Fault& fault : report->faults) ADD_FAILURE() << render_text(fault);
  return *std::move(report);
}

std::string read_ptx(const std::string& name) {
  std::ifstream file(std::string(TENON_PTX_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string module_text(const std::string& body, const std::string& target) {
  return fmt::format(".version 8.0\n.target {}\n.address_size 64\n{}", target, body);
}

}  // namespace tenon::emulator::test
