// Source texts and places in them. A place is a half-open range of byte offsets in one file; line and column are
// computed when somebody wants to read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace tenon {

struct SourceFile;
using FileId = Id<SourceFile>;

struct Span {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file.valid(); }
  bool operator==(const Span&) const = default;
};

// The smallest span that covers both; both are of one file, or one of them is invalid.
Span cover(Span a, Span b);

// One-based; the column counts Unicode code points.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

struct SourceFile {
  std::string name;  // as given by the user: a path, "<stdin>", "<string>" or "std.nn"
  std::string text;
  std::vector<uint32_t> line_starts;
};

class SourceManager {
 public:
  FileId add(std::string name, std::string text);
  const SourceFile& file(FileId id) const { return files_[id]; }
  std::string_view text(Span span) const;
  LineColumn position(FileId file, uint32_t offset) const;
  // The text of a one-based line, without its newline.
  std::string_view line(FileId file, uint32_t line) const;

 private:
  Store<SourceFile> files_;
};

}  // namespace tenon
