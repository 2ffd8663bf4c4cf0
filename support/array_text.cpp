#include "support/array_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "support/numeric.h"

namespace tenon {
namespace {

// The fewest digits d.ddd and the exponent that identify a finite value among those of its type.
struct Digits {
  bool negative = false;
  // The significant decimal digits, without trailing zeros; "0" for zero.
  std::string digits;
  // The power of ten of the first digit.
  int exponent = 0;
};

Digits split_scientific(std::string_view text) {
  Digits result;
  result.negative = text.starts_with('-');
  size_t e = text.find('e');
  for (char c : text.substr(0, e))
    if (c >= '0' && c <= '9') result.digits += c;
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  size_t exponent = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + exponent, text.data() + text.size(), result.exponent);
  return result;
}

template <class Float>
std::string scientific(Float value, int precision) {
  char buffer[1100];
  auto end =
      precision < 0
          ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific)
          : std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, precision);
  return std::string(buffer, end.ptr);
}

Digits shortest(ElementType type, double value) {
  if (type == ElementType::kF64) return split_scientific(scientific(value, -1));
  if (type == ElementType::kF32) return split_scientific(scientific(static_cast<float>(value), -1));
  // At most five digits tell apart any two values of a format with 11 significant bits.
  for (int precision = 0;; ++precision) {
    std::string text = scientific(value, precision);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (float_bits(type, back) == float_bits(type, value)) return split_scientific(text);
  }
}

// `value` rounded to `precision` digits after the point (or, in scientific form, after the first digit).
Digits rounded(double value, int precision, bool scientific_form) {
  if (scientific_form) return split_scientific(scientific(value, precision));
  std::string text = fmt::format("{:.{}f}", value, precision);
  Digits result;
  result.negative = text.starts_with('-');
  size_t point = std::min(text.find('.'), text.size());
  result.exponent = static_cast<int>(point) - result.negative - 1;
  for (char c : text)
    if (c >= '0' && c <= '9') result.digits += c;
  size_t leading = std::min(result.digits.find_first_not_of('0'), result.digits.size() - 1);
  result.digits.erase(0, leading);
  result.exponent -= static_cast<int>(leading);
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  if (result.digits == "0") result.exponent = 0;
  return result;
}

// The two sides of the point of a number, "-12" and "5".
struct Sides {
  std::string left;
  std::string right;
};

Sides positional(const Digits& number) {
  std::string left;
  std::string right;
  int point = number.exponent + 1;
  for (int i = 0; i < static_cast<int>(number.digits.size()) || i < point; ++i) {
    char digit = i < static_cast<int>(number.digits.size()) ? number.digits[i] : '0';
    (i < point ? left : right) += digit;
  }
  if (point < 0) right.insert(0, static_cast<size_t>(-point), '0');
  if (number.digits == "0") right.clear();
  return {(number.negative ? "-" : "") + (left.empty() ? "0" : left), right};
}

std::string exponent_text(int exponent, size_t digits) {
  return fmt::format("e{}{:0{}}", exponent < 0 ? '-' : '+', std::abs(exponent), digits);
}

// How all elements of one printed tensor look: NumPy's FloatingFormat.
class FloatFormatter {
 public:
  FloatFormatter(ElementType type, const std::vector<double>& values, int precision)
      : type_(type), precision_(precision) {
    choose_form(values);
    measure(values);
  }

  std::string operator()(double value) const {
    if (!std::isfinite(value)) return pad_left(special_text(value), left_ + right_ + 1 + exponent_width());
    Digits number = digits(value);
    if (!scientific_) {
      Sides sides = positional(number);
      std::string text = pad_left(sides.left, left_) + "." + sides.right;
      return text + std::string(right_ - sides.right.size(), ' ');
    }
    // NumPy fills the column with the digits of the exact value, not with zeros.
    number = rounded(value, static_cast<int>(right_), true);
    std::string fraction = number.digits.substr(1);
    fraction.resize(right_, '0');
    std::string first = (number.negative ? "-" : "") + number.digits.substr(0, 1);
    return pad_left(first, left_) + "." + fraction + exponent_text(number.exponent, exponent_digits_);
  }

  static std::string special_text(double value) {
    if (std::isnan(value)) return "nan";
    return value < 0 ? "-inf" : "inf";
  }

 private:
  static std::string pad_left(const std::string& text, size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }

  size_t exponent_width() const { return scientific_ ? exponent_digits_ + 2 : 0; }

  // NumPy 2: ten to the number of decimal digits that the type surely has, at most 8.
  double largest_positional() const {
    switch (type_) {
      case ElementType::kF64: return 1e8;
      case ElementType::kF32: return 1e6;
      default: return 1e3;
    }
  }

  void choose_form(const std::vector<double>& values) {
    double most = 0;
    double least = INFINITY;
    for (double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      most = std::max(most, std::fabs(value));
      least = std::min(least, std::fabs(value));
    }
    scientific_ = most > 0 && (most >= largest_positional() || least < 1e-4 || most / least > 1000);
  }

  void measure(const std::vector<double>& values) {
    bool any_special = false;
    size_t special = 0;
    for (double value : values) {
      if (!std::isfinite(value)) {
        any_special = true;
        special = std::max(special, special_text(value).size());
        continue;
      }
      Digits number = digits(value);
      Sides sides = positional(number);
      left_ = std::max(left_, scientific_ ? size_t{1} + number.negative : sides.left.size());
      right_ = std::max(right_, scientific_ ? number.digits.size() - 1 : sides.right.size());
      size_t length = std::to_string(std::abs(number.exponent)).size();
      exponent_digits_ = std::max(exponent_digits_, length);
    }
    size_t width = right_ + 1 + exponent_width();
    if (any_special && special > width) left_ = std::max(left_, special - width);
  }

  // The fewest digits, or the exact value rounded where those are more than `precision_`.
  Digits digits(double value) const {
    Digits number = shortest(type_, value);
    int after_point = static_cast<int>(number.digits.size()) - 1 - (scientific_ ? 0 : number.exponent);
    return after_point > precision_ ? rounded(value, precision_, scientific_) : number;
  }

  ElementType type_;
  int precision_;
  bool scientific_ = false;
  // Columns before and after the point.
  size_t left_ = 0;
  size_t right_ = 0;
  size_t exponent_digits_ = 2;
};

// Prints the nested brackets of one tensor: NumPy's _formatArray.
class Writer {
 public:
  Writer(const Array& array, const ArrayTextOptions& options)
      : array_(array), options_(options), summarise_(array.element_count() > options.threshold) {
    strides_.resize(array.rank(), 1);
    for (size_t axis = array.rank(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * array.extent(axis);
    format_elements();
  }

  std::string text() {
    if (array_.rank() == 0) return words_.front();
    return block(0, " ", options_.line_width);
  }

 private:
  // The positions along `axis` that are shown; -1 stands for the dots.
  std::vector<int64_t> shown(size_t axis) const {
    std::vector<int64_t> positions;
    int64_t extent = array_.extent(axis);
    bool cut = summarise_ && 2 * options_.edge_items < extent;
    for (int64_t i = 0; i < (cut ? options_.edge_items : extent); ++i) positions.push_back(i);
    if (!cut) return positions;
    positions.push_back(-1);
    for (int64_t i = extent - options_.edge_items; i < extent; ++i) positions.push_back(i);
    return positions;
  }

  void collect(size_t axis, int64_t base, std::vector<int64_t>& elements) const {
    if (axis == array_.rank()) return elements.push_back(base);
    for (int64_t i : shown(axis))
      if (i >= 0) collect(axis + 1, base + i * strides_[axis], elements);
  }

  // Fills words_ with the text of every element that is shown, in order, all of one width.
  void format_elements() {
    std::vector<int64_t> elements;
    collect(0, 0, elements);
    if (is_float(array_.type()) && array_.rank() > 0) {
      std::vector<double> values;
      for (int64_t i : elements) values.push_back(array_.as_double(i));
      FloatFormatter format(array_.type(), values, options_.precision);
      for (double value : values) words_.push_back(format(value));
      return;
    }
    // NumPy aligns on "False" even where all are true.
    size_t width = array_.type() == ElementType::kBool && array_.rank() > 0 ? 5 : 0;
    for (int64_t i : elements) {
      words_.push_back(element_text(array_, i));
      width = std::max(width, words_.back().size());
    }
    for (std::string& word : words_) word.insert(0, width - word.size(), ' ');
  }

  std::string block(size_t axis, const std::string& indent, size_t width) {
    std::string text = axis + 1 == array_.rank() ? row(axis, indent, width) : rows(axis, indent, width);
    return "[" + text.substr(indent.size()) + "]";
  }

  std::string row(size_t axis, const std::string& indent, size_t width) {
    std::string done;
    std::string line = indent;
    bool first = true;
    for (int64_t i : shown(axis)) {
      const std::string word = i < 0 ? "..." : words_[next_++];
      if (!first) line += ' ';
      first = false;
      // Room for the closing bracket; a word alone on its line stays there, however long.
      if (line.size() + word.size() + 1 > width && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        done += line + "\n";
        line = indent;
      }
      line += word;
    }
    return done + line;
  }

  std::string rows(size_t axis, const std::string& indent, size_t width) {
    std::string text;
    for (int64_t i : shown(axis)) {
      if (!text.empty()) text += std::string(array_.rank() - axis - 1, '\n');
      text += indent + (i < 0 ? "..." : block(axis + 1, indent + " ", std::max<size_t>(width, 1) - 1));
    }
    return text;
  }

  const Array& array_;
  ArrayTextOptions options_;
  bool summarise_;
  std::vector<int64_t> strides_;
  std::vector<std::string> words_;
  size_t next_ = 0;
};

}  // namespace

std::string to_text(const Array& array, const ArrayTextOptions& options) {
  if (array.element_count() == 0) return "[]";
  return Writer(array, options).text();
}

std::string element_text(const Array& array, int64_t i) {
  switch (kind(array.type())) {
    case ElementKind::kBool:
      return array.as_int64(i) != 0 ? "True" : "False";
    case ElementKind::kSigned:
      return fmt::to_string(array.as_int64(i));
    case ElementKind::kUnsigned:
      return fmt::to_string(static_cast<uint64_t>(array.as_int64(i)));
    case ElementKind::kFloat:
      break;
  }
  double value = array.as_double(i);
  if (!std::isfinite(value)) return FloatFormatter::special_text(value);
  Digits number = shortest(array.type(), value);
  // Where Python changes to the scientific form.
  if (value != 0 && (number.exponent < -4 || number.exponent >= 16)) {
    std::string fraction = number.digits.substr(1);
    return fmt::format("{}{}{}{}{}", number.negative ? "-" : "", number.digits[0],
                       fraction.empty() ? "" : ".", fraction, exponent_text(number.exponent, 2));
  }
  Sides sides = positional(number);
  return sides.left + "." + (sides.right.empty() ? "0" : sides.right);
}

}  // namespace tenon
