// Diagnostics as a terminal shows them:
//
//   a.tn:3:12: error[E0206]: expected `)`, found `]`
//     |
//   3 |   y[i] = (x[i]]
//     |          -    ^
//     |          |
//     |          to match this `(`
//     = note: ...
//   help: ...
//     |
//   3 |   y[i] = (x[i])
//     |               ~
//
// A span over several lines is marked on its first and on its last line.
#include <algorithm>
#include <map>

#include "support/diagnostics.h"
#include "support/unicode.h"

namespace tenon {
namespace {

constexpr unsigned kTabWidth = 4;
// Of a longer line only a part around its first mark is shown, from this many bytes before it.
constexpr size_t kMaxShownBytes = 120;
constexpr size_t kShownBefore = 50;

enum class Style : unsigned char { kPlain, kMessage, kError, kWarning, kRemark, kFrame, kSecondary, kHelp };

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}

  std::string operator()(Style style, std::string_view text) const {
    if (!color_ || text.empty() || style == Style::kPlain) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code(style), text);
  }

 private:
  static std::string_view code(Style style) {
    switch (style) {
      case Style::kPlain:
        return "0";
      case Style::kMessage:
        return "1";
      case Style::kError:
        return "1;31";
      case Style::kWarning:
        return "1;33";
      case Style::kRemark:
        return "1;32";
      case Style::kFrame:
      case Style::kSecondary:
        return "1;34";
      case Style::kHelp:
        return "1;36";
    }
    return "0";
  }

  bool color_;
};

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return Style::kError;
    case Severity::kWarning:
      return Style::kWarning;
    case Severity::kRemark:
      return Style::kRemark;
  }
  return Style::kError;
}

// A marked range of bytes in a line, to be underlined by `glyph`.
struct Mark {
  uint32_t begin;
  uint32_t end;
  char glyph;
  Style style;
  std::string text;
};

// One-based line number to its marks.
using MarkedLines = std::map<uint32_t, std::vector<Mark>>;

// A line as shown: tabs expanded, unprintable characters replaced, cut where it is too long, with the display
// column of every byte.
class ShownLine {
 public:
  // `focus` is a byte offset in the line that must be visible.
  ShownLine(std::string_view line, size_t focus) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    size_t begin = 0, end = line.size();
    if (line.size() > kMaxShownBytes) {
      begin = focus > kShownBefore ? code_point_start(line, std::min(focus - kShownBefore, line.size())) : 0;
      end = std::min(line.size(), begin + kMaxShownBytes);
    }
    first_byte_ = begin;
    if (begin > 0) put("...");
    size_t next = begin;
    while (next < end) next = put_code_point(line, next);
    columns_.push_back(column_);
    if (next < line.size()) put("...");
  }

  const std::string& text() const { return text_; }
  unsigned column(size_t byte) const {
    const size_t relative = byte > first_byte_ ? byte - first_byte_ : 0;
    return columns_[std::min(relative, columns_.size() - 1)];
  }

 private:
  static size_t code_point_start(std::string_view line, size_t offset) {
    while (offset > 0 && offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0) == 0x80)
      --offset;
    return offset;
  }

  void put(std::string_view ascii) {
    text_ += ascii;
    column_ += ascii.size();
  }

  size_t put_code_point(std::string_view line, size_t offset) {
    const CodePoint c = decode_utf8(line, offset);
    columns_.insert(columns_.end(), c.length, column_);
    if (c.value == '\t') {
      put(std::string(kTabWidth - column_ % kTabWidth, ' '));
    } else if (!c.valid || !is_printable(c.value)) {
      append_utf8(text_, 0xFFFD);
      ++column_;
    } else {
      append_utf8(text_, c.value);
      column_ += display_width(c.value);
    }
    return offset + c.length;
  }

  std::string text_;
  std::vector<unsigned> columns_;
  unsigned column_ = 0;
  size_t first_byte_ = 0;
};

class Renderer {
 public:
  Renderer(const SourceManager& sources, bool color) : sources_(sources), paint_(color) {}

  void render(const Diagnostic& diagnostic) {
    const DiagnosticRow& constant = row(diagnostic.id);
    if (!out_.empty()) out_ += '\n';
    if (diagnostic.span.valid()) out_ += paint_(Style::kMessage, place(diagnostic.span) + ": ");
    out_ +=
        paint_(style_of(constant.severity), fmt::format("{}[{}]", name(constant.severity), constant.code));
    out_ += paint_(Style::kMessage, ": " + diagnostic.message) + "\n";
    gutter_ = gutter_width(diagnostic);
    if (diagnostic.span.valid()) render_snippets(diagnostic);
    for (const std::string& note : diagnostic.notes) render_note(note);
    for (const Fix& fix : diagnostic.fixes) render_fix(fix);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string place(Span span) const {
    const LineColumn position = sources_.position(span.file, span.begin);
    return fmt::format("{}:{}:{}", sources_.file(span.file).name, position.line, position.column);
  }

  size_t gutter_width(const Diagnostic& diagnostic) const {
    uint32_t last = 1;
    auto see = [&](Span span) {
      if (span.valid()) last = std::max(last, last_line(span));
    };
    see(diagnostic.span);
    for (const Label& label : diagnostic.labels) see(label.span);
    for (const Fix& fix : diagnostic.fixes) see(fix.span);
    return fmt::formatted_size("{}", last) + 1;
  }

  uint32_t line_of(FileId file, uint32_t offset) const { return sources_.position(file, offset).line; }
  uint32_t last_line(Span span) const {
    return line_of(span.file, span.end > span.begin ? span.end - 1 : span.end);
  }
  uint32_t line_start(FileId file, uint32_t line) const { return sources_.file(file).line_starts[line - 1]; }

  void frame(std::string_view sign, std::string_view rest) {
    out_ += std::string(gutter_, ' ') + paint_(Style::kFrame, sign);
    if (!rest.empty()) out_ += fmt::format(" {}", rest);
    out_ += '\n';
  }

  void source_line(uint32_t line, std::string_view text) {
    out_ += paint_(Style::kFrame, fmt::format("{:>{}} |", line, gutter_ - 1));
    if (!text.empty()) out_ += fmt::format(" {}", text);
    out_ += '\n';
  }

  void add_marks(MarkedLines& lines, Span span, char glyph, Style style, std::string_view text) const {
    const uint32_t first = line_of(span.file, span.begin);
    const uint32_t last = last_line(span);
    const uint32_t last_start = line_start(span.file, last);
    if (first == last) {
      lines[first].push_back(
          {span.begin - last_start, span.end - last_start, glyph, style, std::string(text)});
      return;
    }
    const std::string_view last_text = sources_.line(span.file, last);
    const uint32_t indent = std::min<size_t>(last_text.find_first_not_of(" \t"), span.end - 1 - last_start);
    const uint32_t first_size = static_cast<uint32_t>(sources_.line(span.file, first).size());
    lines[first].push_back({span.begin - line_start(span.file, first), first_size, glyph, style, {}});
    lines[last].push_back({indent, span.end - last_start, glyph, style, std::string(text)});
  }

  // The primary span and all labels of its file, then file by file the other labels.
  void render_snippets(const Diagnostic& diagnostic) {
    std::vector<FileId> files{diagnostic.span.file};
    for (const Label& label : diagnostic.labels)
      if (label.span.valid() && std::ranges::find(files, label.span.file) == files.end())
        files.push_back(label.span.file);
    for (FileId file : files) {
      MarkedLines lines;
      const Style primary = style_of(row(diagnostic.id).severity);
      std::string_view primary_text;
      const Span* first_label = nullptr;
      for (const Label& label : diagnostic.labels) {
        if (label.span.file != file) continue;
        if (label.span == diagnostic.span && primary_text.empty()) {
          primary_text = label.text;
          continue;
        }
        if (first_label == nullptr) first_label = &label.span;
        add_marks(lines, label.span, '-', Style::kSecondary, label.text);
      }
      if (file == diagnostic.span.file) {
        add_marks(lines, diagnostic.span, '^', primary, primary_text);
      } else if (first_label != nullptr) {
        out_ += std::string(gutter_, ' ') + paint_(Style::kFrame, "--> ") + place(*first_label) + "\n";
      }
      render_lines(file, lines);
    }
  }

  void render_lines(FileId file, const MarkedLines& lines) {
    frame("|", "");
    uint32_t previous = 0;
    for (const auto& [line, marks] : lines) {
      if (previous != 0 && line > previous + 2) {
        out_ += paint_(Style::kFrame, "...") + "\n";
      } else if (previous != 0 && line == previous + 2) {
        source_line(line - 1, ShownLine(sources_.line(file, line - 1), 0).text());
      }
      previous = line;
      const uint32_t focus = std::ranges::min(marks, {}, &Mark::begin).begin;
      ShownLine shown(sources_.line(file, line), focus);
      source_line(line, shown.text());
      render_marks(shown, marks);
    }
  }

  struct Underline {
    unsigned begin;
    unsigned end;
    const Mark* mark;
  };

  void render_marks(const ShownLine& shown, const std::vector<Mark>& marks) {
    std::vector<Underline> underlines;
    std::vector<const Mark*> cells;
    // Later marks lie on top; the primary one is the last.
    for (const Mark& mark : marks) {
      const unsigned begin = shown.column(mark.begin);
      const unsigned end = std::max(shown.column(mark.end), begin + 1);
      underlines.push_back({begin, end, &mark});
      if (cells.size() < end) cells.resize(end, nullptr);
      std::fill(cells.begin() + begin, cells.begin() + end, &mark);
    }
    // Marks that begin alike keep their order, which is that of their addresses.
    std::ranges::sort(underlines, {}, [](const Underline& line) { return std::pair(line.begin, line.mark); });
    std::string text;
    for (const Mark* cell : cells)
      text += cell == nullptr ? std::string(" ") : paint_(cell->style, std::string_view(&cell->glyph, 1));

    std::erase_if(underlines, [](const Underline& line) { return line.mark->text.empty(); });
    if (!underlines.empty() && underlines.back().end == cells.size()) {
      text += " " + paint_(underlines.back().mark->style, underlines.back().mark->text);
      underlines.pop_back();
    }
    frame("|", text);
    while (!underlines.empty()) {
      frame("|", connectors(underlines));
      const Underline last = underlines.back();
      underlines.pop_back();
      std::string lead = connectors(underlines);
      const unsigned column = underlines.empty() ? 0 : underlines.back().begin + 1;
      lead += std::string(last.begin > column ? last.begin - column : 0, ' ');
      frame("|", lead + paint_(last.mark->style, last.mark->text));
    }
  }

  // A `|` under the beginning of each of the underlines, which are sorted.
  std::string connectors(const std::vector<Underline>& underlines) const {
    std::string text;
    unsigned column = 0;
    for (const Underline& line : underlines) {
      if (line.begin < column) continue;
      text += std::string(line.begin - column, ' ') + paint_(line.mark->style, "|");
      column = line.begin + 1;
    }
    return text;
  }

  void render_note(std::string_view note) {
    frame("=", fmt::format("{}: {}", paint_(Style::kMessage, "note"), indented(note)));
  }

  // Further lines of a note stand under its first.
  std::string indented(std::string_view note) const {
    std::string text;
    for (char c : note) {
      text += c;
      if (c == '\n') text += std::string(gutter_ + 8, ' ');
    }
    return text;
  }

  void render_fix(const Fix& fix) {
    out_ += paint_(Style::kHelp, "help") + ": " + fix.text + "\n";
    if (!fix.span.valid() || fix.replacement.contains('\n')) return;
    const uint32_t line = line_of(fix.span.file, fix.span.begin);
    if (last_line(fix.span) != line) return;
    const uint32_t start = line_start(fix.span.file, line);
    std::string text(sources_.line(fix.span.file, line));
    const uint32_t begin = fix.span.begin - start;
    const uint32_t length = fix.span.end - fix.span.begin;
    text.replace(begin, length, fix.replacement);
    ShownLine shown(text, begin);
    frame("|", "");
    source_line(line, shown.text());
    const size_t lead = fix.replacement.find_first_not_of(' ');
    if (lead == std::string::npos) return;
    const size_t last = fix.replacement.find_last_not_of(' ');
    const unsigned from = shown.column(begin + lead);
    const unsigned to = std::max(shown.column(begin + last + 1), from + 1);
    const std::string underline(to - from, length == 0 ? '+' : '~');
    frame("|", std::string(from, ' ') + paint_(Style::kRemark, underline));
  }

  const SourceManager& sources_;
  Painter paint_;
  std::string out_;
  size_t gutter_ = 2;
};

}  // namespace

std::string render_text(const Diagnostics& diagnostics, const SourceManager& sources, bool color) {
  Renderer renderer(sources, color);
  for (const Diagnostic& diagnostic : diagnostics.all()) renderer.render(diagnostic);
  return renderer.take();
}

std::string render_text(const Diagnostic& diagnostic, const SourceManager& sources, bool color) {
  Renderer renderer(sources, color);
  renderer.render(diagnostic);
  return renderer.take();
}

}  // namespace tenon
