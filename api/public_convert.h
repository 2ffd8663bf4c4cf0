// Between the public interface's types and the project's own.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/diagnostics.h"
#include "support/element_type.h"
#include "support/result.h"
#include "support/source.h"
#include "tenon/tenon.h"

namespace tenon::api {

constexpr DataType data_type(ElementType type) { return static_cast<DataType>(type); }
// Empty for a number that is no data type, which a host may have cast.
std::optional<ElementType> element_type(DataType type);

Failure failure(Error error);
Failure usage_failure(std::string message);
// What a program with mistakes gives.
Failure program_failure(const Diagnostics& diagnostics, const SourceManager& sources);
std::vector<Message> messages(const Diagnostics& diagnostics, const SourceManager& sources);

template <class T>
Expected<T> expected(Result<T> result) {
  if (!result) return failure(std::move(result).error());
  return *std::move(result);
}
inline Status status(Result<void> result) {
  if (!result) return failure(std::move(result).error());
  return std::monostate();
}

}  // namespace tenon::api
