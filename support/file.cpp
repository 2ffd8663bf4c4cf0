#include "support/file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tenon {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

struct Close {
  void operator()(FILE* file) const {
    if (file != stdin && file != stdout) fclose(file);
  }
};
using File = std::unique_ptr<FILE, Close>;

std::string display_name(const std::string& path, bool reading) {
  if (path != "-") return path;
  return reading ? "the standard input" : "the standard output";
}

std::unexpected<Error> system_failure(const char* doing, const std::string& name) {
  return fail(ErrorKind::kFile, fmt::format("cannot {} {}: {}", doing, name, std::strerror(errno)));
}

bool is_folder(FILE* file) {
  struct stat status;
  return fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Result<std::string> read_beginning(const std::string& path,
                                   const std::function<uint64_t(std::string_view)>& wanted) {
  std::string name = display_name(path, true);
  File file(path == "-" ? stdin : fopen(path.c_str(), "rb"));
  if (!file) return system_failure("read", name);
  if (is_folder(file.get()))
    return fail(ErrorKind::kFile, fmt::format("cannot read {}: it is a folder", name));
  std::string content;
  for (uint64_t end = wanted(content); content.size() < end; end = wanted(content)) {
    const size_t before = content.size();
    content.resize(before + std::min<uint64_t>(kChunk + before / 2, end - before));
    const size_t got = fread(content.data() + before, 1, content.size() - before, file.get());
    content.resize(before + got);
    if (got == 0) break;
  }
  if (ferror(file.get())) return system_failure("read", name);
  return content;
}

Result<std::string> read_file(const std::string& path, uint64_t most_bytes) {
  TENON_TRY_ASSIGN(std::string content,
                   read_beginning(path, [&](std::string_view) { return most_bytes + 1; }));
  if (content.size() <= most_bytes) return content;
  return fail(ErrorKind::kFile, fmt::format("{} has more than {} bytes, the most allowed",
                                            display_name(path, true), most_bytes));
}

Result<void> write_file(const std::string& path, std::string_view content) {
  std::string name = display_name(path, false);
  File file(path == "-" ? stdout : fopen(path.c_str(), "wb"));
  if (!file) return system_failure("write", name);
  bool written = fwrite(content.data(), 1, content.size(), file.get()) == content.size();
  // Buffered bytes fail only here.
  if (!written || fflush(file.get()) != 0) return system_failure("write", name);
  if (path != "-" && fclose(file.release()) != 0) return system_failure("write", name);
  return {};
}

}  // namespace tenon
