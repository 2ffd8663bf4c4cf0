#include "runtime/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace tenon::runtime {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

// Fills one entry of the table; the Error names the symbol.
template <class Function>
Result<void> load_symbol(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function != nullptr) return {};
  return fail(ErrorKind::kDevice,
              fmt::format("{} has no function {}; the NVIDIA driver is too old", kLibrary, symbol));
}

}  // namespace

Result<DriverTable> load_cuda_driver() {
  // Never closed: the driver's threads and exit handlers outlive every table.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return fail(ErrorKind::kDevice, fmt::format("there is no CUDA driver on this machine: {}",
                                                reason != nullptr ? reason : kLibrary));
  }
  DriverTable table;
#define TENON_DRIVER_FUNCTION(name, symbol, parameters) TENON_TRY(load_symbol(library, symbol, table.name));
#include "runtime/driver_api.def"
  return table;
}

}  // namespace tenon::runtime
