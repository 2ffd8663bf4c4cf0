// The channel for failures that are nobody's mistake in a program: a driver, a file, the machine. Mistakes in a
// user's program go through diagnostics.h, mistakes of ours through check.h.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace tenon {

// What failed decides the exit status of the command and the error class of the API.
enum class ErrorKind : unsigned char {
  kUsage,    // the caller asked for something that makes no sense: unknown name, bad option value
  kRefused,  // a launch whose arguments do not fit the kernel
  kDevice,   // the driver or the device failed
  kFile,     // reading or writing a file failed
  kMachine,  // out of memory, missing tool
};

struct Error {
  ErrorKind kind = ErrorKind::kMachine;
  // One sentence or several lines, without a trailing newline; says what was tried and what came back.
  std::string message;
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}

}  // namespace tenon

#define TENON_CONCAT_(a, b) a##b
#define TENON_CONCAT(a, b) TENON_CONCAT_(a, b)

// Evaluates a Result expression; returns its error from the enclosing function, or binds its value.
#define TENON_TRY_ASSIGN(declaration, expression) \
  auto TENON_CONCAT(tenon_result_, __LINE__) = (expression); \
  if (!TENON_CONCAT(tenon_result_, __LINE__)) return std::unexpected(std::move(TENON_CONCAT(tenon_result_, __LINE__)).error()); \
  declaration = *std::move(TENON_CONCAT(tenon_result_, __LINE__))

#define TENON_TRY(expression) \
  if (auto tenon_result_ = (expression); !tenon_result_) return std::unexpected(std::move(tenon_result_).error())
