// Reading the text form of a schedule; schedule_text.h has the grammar.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/text_scanner.h"
#include "passes/schedule_text.h"

namespace tenon::passes {
namespace {

using ir::Token;

// More than any schedule has, so that who reads them need not care how many they are.
constexpr size_t kMostItems = 200;

class PinReader {
 public:
  PinReader(FileId file, const SourceManager& sources, Diagnostics& diagnostics)
      : scanner_(sources, file, diagnostics) {}

  SchedulePins read() {
    do read_step();
    while (!scanner_.at_end());
    return std::move(pins_);
  }

 private:
  bool at_step() const { return scanner_.at("step") && scanner_.peek_second().kind == Token::Kind::kNumber; }

  void read_step() {
    SchedulePins::Step step;
    step.span = scanner_.peek().span;
    if (at_step()) {
      scanner_.take();
      Span place = scanner_.peek().span;
      int64_t number = scanner_.expect_integer("the number of a step");
      if (number < 0 || number > UINT32_MAX)
        scanner_.fail(DiagnosticId::kScheduleUnknown, place, "step", number);
      step.step = static_cast<uint32_t>(number);
      step.step_span = place;
      scanner_.expect(":");
    }
    if (scanner_.at(Token::Kind::kWord) && scanner_.peek_second().text == ":") {
      step.family = name_of(scanner_.take());
      scanner_.take();
    }
    while (!scanner_.at_end() && !at_step()) {
      read_item(step);
      if (!scanner_.accept(";")) break;
    }
    if (!scanner_.at_end() && !at_step()) scanner_.fail_expected("`;`");
    pins_.steps.push_back(std::move(step));
  }

  void read_item(SchedulePins::Step& step) {
    if (++items_ > kMostItems) {
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMostItems, "items of a schedule");
      return;
    }
    if (scanner_.at("stage") && scanner_.peek_second().kind == Token::Kind::kWord) {
      read_staged(step);
    } else if (scanner_.at(Token::Kind::kWord) && scanner_.peek_second().text == "(") {
      read_field(step);
    } else {
      read_dim(step);
    }
    step.span = scanner_.span_from(step.span);
  }

  void read_field(SchedulePins::Step& step) {
    Token word = scanner_.take();
    std::span<const ScheduleField> fields = schedule_fields();
    auto field = std::ranges::find(fields, word.text, &ScheduleField::name);
    if (field == fields.end()) return unknown_word("field", word, names_of(fields));
    auto index = static_cast<size_t>(field - fields.begin());
    if (std::ranges::find(step.fields, index, &SchedulePins::Field::field) != step.fields.end())
      return twice(word.span, quoted(word.text));
    int32_t value = read_value(word, field->least, field->most, field->power_of_two);
    step.fields.push_back({index, value, scanner_.span_from(word.span)});
  }

  void read_dim(SchedulePins::Step& step) {
    SchedulePins::Dim dim;
    dim.name = read_dim_name();
    scanner_.expect("=");
    while (scanner_.at(Token::Kind::kWord) && scanner_.peek_second().text != "(") {
      Token word = scanner_.take();
      std::optional<Placement> placement = placement_by_name(word.text);
      if (!placement) return unknown_word("placement", word, placement_names());
      if (dim.placement) return twice(word.span, "the placement");
      dim.placement = placement;
    }
    dim.factors = read_factors(/*of_copy=*/false);
    dim.span = scanner_.span_from(dim.name.span);
    auto same = [&](const SchedulePins::Dim& other) { return other.name.text == dim.name.text; };
    if (std::ranges::any_of(step.dims, same)) return twice(dim.name.span, quoted(dim.name.text));
    step.dims.push_back(std::move(dim));
  }

  void read_staged(SchedulePins::Step& step) {
    Span begin = scanner_.take().span;
    SchedulePins::Staged staged;
    staged.value = name_of(scanner_.expect(Token::Kind::kWord, "a tensor"));
    if (scanner_.at(Token::Kind::kValue)) {
      Token value = scanner_.take();
      staged.value.text += fmt::format("%{}", value.text);
      staged.value.span = cover(staged.value.span, value.span);
    }
    scanner_.expect("[");
    do staged.buffer_order.push_back(read_dim_name());
    while (scanner_.accept(","));
    scanner_.expect("]");
    scanner_.expect("=");
    do {
      SchedulePins::Name dim = read_dim_name();
      staged.copies.push_back({std::move(dim), read_factors(/*of_copy=*/true)});
    } while (scanner_.accept(","));
    staged.span = scanner_.span_from(begin);
    step.staged.push_back(std::move(staged));
  }

  SchedulePins::Name read_dim_name() {
    SchedulePins::Name name;
    if (scanner_.at(Token::Kind::kNumber) && scanner_.peek().text == "1") return name_of(scanner_.take());
    do {
      SchedulePins::Name axis = name_of(scanner_.expect(Token::Kind::kWord, "a dimension"));
      name.text += (name.text.empty() ? "" : "*") + axis.text;
      name.span = name.span.valid() ? cover(name.span, axis.span) : axis.span;
    } while (scanner_.accept("*"));
    return name;
  }

  SchedulePins::Factors read_factors(bool of_copy) {
    SchedulePins::Factors factors;
    factors.fill(1);
    std::array<bool, kTileFactors> given{};
    std::span<const TileFactor, kTileFactors> rows = tile_factors();
    while (scanner_.at(Token::Kind::kWord)) {
      Token word = scanner_.take();
      auto row = std::ranges::find(rows, word.text, &TileFactor::name);
      if (row == rows.end() || (of_copy && row->of_copy == nullptr)) {
        unknown_word("factor", word, names_of(rows));
        break;
      }
      auto index = static_cast<size_t>(row - rows.begin());
      if (std::exchange(given[index], true)) {
        twice(word.span, quoted(word.text));
        break;
      }
      factors[index] = read_value(word, 1, row->most, row->power_of_two);
    }
    return factors;
  }

  // "(8)"; 1 behind a mistake.
  int32_t read_value(const Token& of, int32_t least, int32_t most, bool power_of_two) {
    scanner_.expect("(");
    Span place = scanner_.peek().span;
    int64_t value = scanner_.expect_integer("a number");
    bool fits = value >= least && value <= most &&
                (!power_of_two || std::has_single_bit(static_cast<uint64_t>(value)));
    if (!fits && !scanner_.failed()) {
      std::string range =
          fmt::format("{} from {} to {}", power_of_two ? "a power of two" : "a number", least, most);
      scanner_.fail(DiagnosticId::kScheduleNumber, place, of.text, range);
    }
    scanner_.expect(")");
    return fits ? static_cast<int32_t>(value) : 1;
  }

  void twice(Span span, std::string_view what) { scanner_.fail(DiagnosticId::kScheduleTwice, span, what); }

  void unknown_word(std::string_view what, const Token& word, const std::vector<std::string_view>& known) {
    std::string_view close = did_you_mean(word.text, known);
    std::string list = close.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                     : fmt::format("did you mean `{}`?", close);
    if (Diagnostic* reported = scanner_.fail(DiagnosticId::kScheduleUnknown, word.span, what, word.text))
      reported->note(list);
  }

  template <class Rows>
  static std::vector<std::string_view> names_of(const Rows& rows) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row.name);
    return names;
  }

  static std::string quoted(std::string_view name) { return fmt::format("`{}`", name); }

  static SchedulePins::Name name_of(const Token& token) { return {std::string(token.text), token.span}; }

  ir::TextScanner scanner_;
  SchedulePins pins_;
  size_t items_ = 0;
};

}  // namespace

SchedulePins parse_schedule(FileId file, const SourceManager& sources, Diagnostics& diagnostics) {
  return PinReader(file, sources, diagnostics).read();
}

}  // namespace tenon::passes
