// Whole files in and out. "-" is the standard input or output.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "support/result.h"

namespace tenon {

// Fails (kFile) with the reason of the system, where the path is a folder, or where it holds more than
// `most_bytes`.
Result<std::string> read_file(const std::string& path, uint64_t most_bytes);

// The beginning of a file: reads until there is as much as `wanted` says, which is asked about what is there
// so far, or to the end. For what tells its own length, so that an endless file is no trouble. Fails as
// read_file does.
Result<std::string> read_beginning(const std::string& path,
                                   const std::function<uint64_t(std::string_view)>& wanted);

// Replaces the file. A failure to write the last byte is a failure (a full disk).
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace tenon
