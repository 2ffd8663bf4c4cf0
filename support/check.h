// Checks for bugs of ours. A failed check prints the condition, the place, and what the compiler was doing (the
// innermost DoingScope first), writes the IR of that scope to a reproducer file, and exits with status 70.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tenon {

// The exit status of a bug of ours (EX_SOFTWARE of sysexits.h).
inline constexpr int kInternalErrorStatus = 70;

// Says what this thread is doing while the object lives: "pass contract-fma", "lowering variant 2 of softmax".
// `dump` returns the text to put into the reproducer file; it may be empty. It is called only on failure.
class DoingScope {
 public:
  explicit DoingScope(std::string what, std::function<std::string()> dump = {});
  ~DoingScope();
  DoingScope(const DoingScope&) = delete;
  DoingScope& operator=(const DoingScope&) = delete;

  const std::string& what() const { return what_; }
  const DoingScope* outer() const { return outer_; }
  std::string dump() const { return dump_ ? dump_() : std::string(); }

 private:
  std::string what_;
  std::function<std::string()> dump_;
  const DoingScope* outer_;
};

[[noreturn]] void internal_error(std::string_view message, const char* file, int line);

}  // namespace tenon

// TENON_CHECK(condition, "what is wrong"): stays on in release builds.
#define TENON_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0) : ::tenon::internal_error(message, __FILE__, __LINE__))
#define TENON_UNREACHABLE(message) ::tenon::internal_error(message, __FILE__, __LINE__)
