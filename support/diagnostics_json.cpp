#include <nlohmann/json.hpp>

#include "support/diagnostics.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

Json position_json(FileId file, uint32_t offset, const SourceManager& sources) {
  const LineColumn position = sources.position(file, offset);
  return {{"line", position.line}, {"column", position.column}, {"offset", offset}};
}

// The three fields of a place; all null where there is none.
void put_span(Json& object, Span span, const SourceManager& sources) {
  if (!span.valid()) {
    object["file"] = object["start"] = object["end"] = nullptr;
    return;
  }
  object["file"] = sources.file(span.file).name;
  object["start"] = position_json(span.file, span.begin, sources);
  object["end"] = position_json(span.file, span.end, sources);
}

Json to_json(const Diagnostic& diagnostic, const SourceManager& sources) {
  const DiagnosticRow& constant = row(diagnostic.id);
  Json object = {
      {"code", constant.code}, {"severity", name(constant.severity)}, {"message", diagnostic.message}};
  put_span(object, diagnostic.span, sources);
  object["labels"] = Json::array();
  for (const Label& label : diagnostic.labels) {
    Json entry = {{"message", label.text}};
    put_span(entry, label.span, sources);
    object["labels"].push_back(std::move(entry));
  }
  object["notes"] = diagnostic.notes;
  object["fixes"] = Json::array();
  for (const Fix& fix : diagnostic.fixes) {
    Json entry = {{"message", fix.text}, {"replacement", fix.replacement}};
    put_span(entry, fix.span, sources);
    object["fixes"].push_back(std::move(entry));
  }
  return object;
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceManager& sources) {
  Json array = Json::array();
  for (const Diagnostic& diagnostic : diagnostics.all()) array.push_back(to_json(diagnostic, sources));
  // A source line may hold bytes that are not UTF-8; they must not make dump() throw.
  return array.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon
