#include "support/check.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace tenon {
namespace {

thread_local const DoingScope* innermost = nullptr;
thread_local bool failing = false;

// Writes `text` into the folder of temporary files; returns the path, empty where that failed.
std::string write_reproducer(const std::string& text) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return {};
  std::string path = folder / "tenon-reproducer-XXXXXX";
  int fd = mkstemp(path.data());
  if (fd < 0) return {};
  FILE* file = fdopen(fd, "w");
  if (file == nullptr) return {};
  fwrite(text.data(), 1, text.size(), file);
  return fclose(file) == 0 ? path : std::string();
}

}  // namespace

DoingScope::DoingScope(std::string what, std::function<std::string()> dump)
    : what_(std::move(what)), dump_(std::move(dump)), outer_(innermost) {
  innermost = this;
}

DoingScope::~DoingScope() { innermost = outer_; }

void internal_error(std::string_view message, const char* file, int line) {
  std::fprintf(stderr, "tenon: internal error: %.*s\n  at %s:%d\n", static_cast<int>(message.size()),
               message.data(), file, line);
  // A dump that itself fails a check must not start over.
  if (!std::exchange(failing, true)) {
    std::string text;
    for (const DoingScope* scope = innermost; scope != nullptr; scope = scope->outer()) {
      std::fprintf(stderr, "  in %s\n", scope->what().c_str());
      if (text.empty()) text = scope->dump();
    }
    if (!text.empty()) {
      std::string path = write_reproducer(text);
      if (!path.empty()) std::fprintf(stderr, "  the program at that point is in %s\n", path.c_str());
    }
    std::fprintf(stderr, "This is a bug in Tenon, not in your program.\n");
  }
  std::fflush(nullptr);
  std::_Exit(kInternalErrorStatus);
}

}  // namespace tenon
