// Limits of PTX that depend on its version.
#pragma once

#include <cstdint>

namespace tenon {

// The most bytes that the parameters of an entry may take in a PTX version (major * 10 + minor).
// Source: PTX ISA, "Kernel Function Parameters"; raised by PTX 8.1.
constexpr uint32_t most_parameter_bytes(unsigned ptx_isa) { return ptx_isa < 81 ? 4352 : 32764; }

}  // namespace tenon
