#include "api/public_convert.h"

namespace tenon {

// The two enumerations are one, so that a conversion is a cast.
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) \
  static_assert(static_cast<int>(DataType::k##id) == static_cast<int>(ElementType::k##id));
#include "support/element_type.def"

std::string_view version() { return TENON_VERSION; }

std::string_view name(DataType type) {
  std::optional<ElementType> element = api::element_type(type);
  return element ? name(*element) : "unknown";
}

size_t byte_size(DataType type) {
  std::optional<ElementType> element = api::element_type(type);
  return element ? byte_size(*element) : 0;
}

namespace api {
namespace {

FailureKind kind_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return FailureKind::kUsage;
    case ErrorKind::kRefused:
      return FailureKind::kRefused;
    case ErrorKind::kDevice:
      return FailureKind::kDevice;
    case ErrorKind::kFile:
    case ErrorKind::kMachine:
      return FailureKind::kMachine;
  }
  return FailureKind::kMachine;
}

MessageSeverity severity_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return MessageSeverity::kError;
    case Severity::kWarning:
      return MessageSeverity::kWarning;
    case Severity::kRemark:
      return MessageSeverity::kRemark;
  }
  return MessageSeverity::kError;
}

std::string without_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Message message(const Diagnostic& diagnostic, const SourceManager& sources) {
  const DiagnosticRow& constant = row(diagnostic.id);
  Message message;
  message.severity = severity_of(constant.severity);
  message.code = constant.code;
  message.text = diagnostic.message;
  if (diagnostic.span.valid()) {
    LineColumn place = sources.position(diagnostic.span.file, diagnostic.span.begin);
    message.file = sources.file(diagnostic.span.file).name;
    message.line = place.line;
    message.column = place.column;
  }
  message.rendered = without_newline(render_text(diagnostic, sources));
  return message;
}

}  // namespace

std::optional<ElementType> element_type(DataType type) {
  if (type > DataType::kIndex) return std::nullopt;
  return static_cast<ElementType>(type);
}

Failure failure(Error error) { return {kind_of(error.kind), std::move(error.message), {}}; }

Failure usage_failure(std::string message) { return {FailureKind::kUsage, std::move(message), {}}; }

Failure program_failure(const Diagnostics& diagnostics, const SourceManager& sources) {
  return {FailureKind::kProgram, without_newline(render_text(diagnostics, sources)),
          messages(diagnostics, sources)};
}

std::vector<Message> messages(const Diagnostics& diagnostics, const SourceManager& sources) {
  std::vector<Message> result;
  for (const Diagnostic& diagnostic : diagnostics.all()) result.push_back(message(diagnostic, sources));
  return result;
}

}  // namespace api
}  // namespace tenon
