// From arguments by name to the runtime's, in the order of the parameters.
#pragma once

#include <vector>

#include "runtime/binding.h"
#include "runtime/launch.h"
#include "support/result.h"
#include "tenon/tenon.h"

namespace tenon::api {

// A tensor's address is that of its memory, of the host or of the device. What is not given is absent. Errors
// are kUsage: a name that no parameter has or that comes twice, a type that is none.
Result<std::vector<runtime::LaunchArgument>> launch_arguments(const runtime::Program& program,
                                                              const std::vector<HostArgument>& arguments);
Result<std::vector<runtime::LaunchArgument>> launch_arguments(const runtime::Program& program,
                                                              const std::vector<DeviceArgument>& arguments);

std::vector<runtime::NamedSize> named_sizes(const LaunchOptions& options);

}  // namespace tenon::api
