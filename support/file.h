// Whole files in and out. "-" is the standard input or output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"

namespace tenon {

// Fails (kFile) with the reason of the system, where the path is a folder, or where it holds more than
// `most_bytes`.
Result<std::string> read_file(const std::string& path, uint64_t most_bytes);

// Replaces the file. A failure to write the last byte is a failure (a full disk).
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace tenon
