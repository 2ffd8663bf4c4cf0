#include "support/source.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tenon {

Span cover(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  TENON_CHECK(a.file == b.file, "spans of two files joined");
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

FileId SourceManager::add(std::string name, std::string text) {
  // No part of the text.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  std::vector<uint32_t> starts{0};
  for (uint32_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  return files_.add({std::move(name), std::move(text), std::move(starts)});
}

std::string_view SourceManager::text(Span span) const {
  return std::string_view(files_[span.file].text).substr(span.begin, span.end - span.begin);
}

LineColumn SourceManager::position(FileId id, uint32_t offset) const {
  const SourceFile& file = files_[id];
  auto after = std::upper_bound(file.line_starts.begin(), file.line_starts.end(), offset);
  uint32_t line = static_cast<uint32_t>(after - file.line_starts.begin());
  uint32_t start = file.line_starts[line - 1];
  uint32_t end = std::min<uint32_t>(offset, file.text.size());
  // UTF-8 continuation bytes start no code point.
  auto starts_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  uint32_t column = std::count_if(file.text.begin() + start, file.text.begin() + end, starts_code_point);
  return {line, column + 1};
}

std::string_view SourceManager::line(FileId id, uint32_t line) const {
  const SourceFile& file = files_[id];
  if (line == 0 || line > file.line_starts.size()) return {};
  uint32_t begin = file.line_starts[line - 1];
  uint32_t end = line < file.line_starts.size() ? file.line_starts[line] - 1 : file.text.size();
  return std::string_view(file.text).substr(begin, end - begin);
}

}  // namespace tenon
