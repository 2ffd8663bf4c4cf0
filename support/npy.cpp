#include "support/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/file.h"

namespace tenon {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
// NumPy refuses longer headers too, unless told otherwise.
constexpr size_t kMostHeaderBytes = 10000;
constexpr size_t kMostRank = 64;
constexpr size_t kHeaderAlignment = 64;
constexpr size_t kMostPreambleBytes = 12;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the Python dict literal of a header: string keys, and strings, booleans and tuples of integers as
// values.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // Empty on success, else what is wrong.
  std::string parse(Header& header) {
    if (!take('{')) return "the header is not a Python dict";
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) return "the header is not a Python dict";
      std::string problem = value(key, header);
      if (!problem.empty()) return problem;
      if (!take(',') && peek() != '}') return "the header is not a Python dict";
    }
    if (peek() != '\0') return "the header goes on after its dict";
    if (seen_ != (kDescr | kOrder | kShape)) return "the header lacks one of descr, fortran_order and shape";
    return {};
  }

 private:
  enum : unsigned { kDescr = 1, kOrder = 2, kShape = 4 };

  std::string value(const std::string& key, Header& header) {
    if (key == "descr") return once(kDescr, key, descr(header.descr));
    if (key == "fortran_order") return once(kOrder, key, boolean(header.fortran_order));
    if (key == "shape") return once(kShape, key, tuple(header.shape));
    return fmt::format("the header has the unknown key '{}'", key);
  }

  std::string once(unsigned bit, const std::string& key, std::string problem) {
    if (problem.empty() && (seen_ & bit) != 0) problem = fmt::format("the header has '{}' twice", key);
    seen_ |= bit;
    return problem;
  }

  std::string descr(std::string& to) {
    if (peek() == '[') return "structured arrays have no counterpart in Tenon";
    return string(to) ? "" : "descr is not a string";
  }

  std::string boolean(bool& to) {
    to = take_word("True");
    return to || take_word("False") ? "" : "fortran_order is neither True nor False";
  }

  std::string tuple(std::vector<int64_t>& to) {
    if (!take('(')) return "shape is not a tuple";
    while (!take(')')) {
      int64_t extent = 0;
      if (!integer(extent)) return "shape is not a tuple of sizes from 0 to 2^63-1";
      if (to.size() == kMostRank) return fmt::format("the shape has more than {} dimensions", kMostRank);
      to.push_back(extent);
      if (!take(',') && peek() != ')') return "shape is not a tuple of sizes from 0 to 2^63-1";
    }
    return {};
  }

  bool integer(int64_t& to) {
    if (peek() < '0' || peek() > '9') return false;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(to, 10, &to) || __builtin_add_overflow(to, text_[at_] - '0', &to))
        return false;
    // Python 2 wrote long integers so.
    take('L');
    return true;
  }

  bool string(std::string& to) {
    char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    to = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return to.find('\\') == std::string::npos;
  }

  // The next character that is no blank; 0 at the end.
  char peek() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr && text_[at_] != '\0') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  unsigned seen_ = 0;
};

struct Dtype {
  ElementType type;
  bool swapped = false;
};

bool raw_bytes(std::string_view descr) { return descr.size() > 1 && descr[1] == 'V'; }

// The element type that a dtype names, or what is wrong with it.
Result<Dtype> element_type_of(std::string_view descr, std::optional<ElementType> expected) {
  auto unknown = [&] {
    return fail(ErrorKind::kRefused,
                fmt::format("elements of dtype '{}' have no counterpart in Tenon", descr));
  };
  if (descr.size() < 3 || std::strchr("<>|=", descr[0]) == nullptr) return unknown();
  std::string_view code = descr.substr(1);
  if (raw_bytes(descr)) {
    if (expected && is_float(*expected) && numpy_dtype(*expected).substr(1) == code) return Dtype{*expected};
    if (code == "V2") return Dtype{ElementType::kBF16};
    if (code == "V1" && !expected)
      return fail(ErrorKind::kRefused,
                  "elements of dtype '|V1' may be f8e4m3 or f8e5m2: the file does not say");
    return unknown();
  }
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) \
  if (std::string_view(numpy).substr(1) == code)        \
    return Dtype{ElementType::k##id, descr[0] == '>' && bits > 8};
#include "support/element_type.def"
  return unknown();
}

// An `index` is stored as an i64; no other types stand for each other.
bool stands_for(ElementType stored, ElementType wanted) {
  return stored == wanted || (stored == ElementType::kI64 && wanted == ElementType::kIndex);
}

void swap_bytes(Array& array) {
  unsigned size = byte_size(array.type());
  std::byte* bytes = array.bytes().data();
  for (int64_t i = 0; i < array.element_count(); ++i) std::reverse(bytes + i * size, bytes + (i + 1) * size);
}

// The elements of `from`, whose axes lie in the file in reverse, brought into row-major order.
Result<Array> transposed(const Array& from, const std::vector<int64_t>& shape) {
  TENON_TRY_ASSIGN(Array to, Array::zeros(from.type(), shape));
  unsigned size = byte_size(from.type());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = 1; axis < shape.size(); ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
  int64_t source = 0;
  for (int64_t i = 0; i < to.element_count(); ++i) {
    std::memcpy(to.bytes().data() + i * size, from.bytes().data() + source * size, size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < shape[axis]) break;
      source -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return to;
}

struct Parts {
  std::string_view header;
  std::string_view data;
};

// Splits a file by its magic, version and header length; empty on success, else what is wrong.
std::string split(std::string_view content, Parts& parts) {
  if (!content.starts_with(kMagic)) return "it does not start as a .npy file does";
  if (content.size() < 12) return "it ends within its header";
  unsigned major = static_cast<unsigned char>(content[6]);
  if (major < 1 || major > 3) return fmt::format("version {} of the format is not known", major);
  size_t length_bytes = major == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(content[8 + i]);
  if (length > kMostHeaderBytes) return fmt::format("its header has more than {} bytes", kMostHeaderBytes);
  content.remove_prefix(8 + length_bytes);
  if (content.size() < length) return "it ends within its header";
  parts = {content.substr(0, length), content.substr(length)};
  return {};
}

Result<Array> read_elements(const Header& header, std::string_view data,
                            std::optional<ElementType> expected) {
  TENON_TRY_ASSIGN(Dtype dtype, element_type_of(header.descr, expected));
  if (expected && !stands_for(dtype.type, *expected))
    return fail(ErrorKind::kRefused,
                fmt::format("it holds {}, but {} is expected", name(dtype.type), name(*expected)));
  ElementType type = expected.value_or(dtype.type);
  TENON_TRY_ASSIGN(int64_t size, checked_byte_count(type, header.shape));
  if (static_cast<uint64_t>(size) != data.size()) {
    const bool longer = data.size() > static_cast<uint64_t>(size);
    const std::string there = longer ? "more" : fmt::format("{}", data.size());
    return fail(ErrorKind::kFile, fmt::format("{}{} takes {} bytes, but {} follow the header", name(type),
                                              shape_text(header.shape), size, there));
  }
  std::vector<int64_t> shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  TENON_TRY_ASSIGN(Array array, Array::zeros(type, shape));
  std::memcpy(array.bytes().data(), data.data(), data.size());
  if (dtype.swapped) swap_bytes(array);
  if (header.fortran_order && shape.size() > 1) return transposed(array, header.shape);
  return array;
}

// How much of a file parse_npy has to see, by what is there of it: its header, then as much data as that
// promises and a byte beyond. What is no such file needs no more than is there.
uint64_t bytes_to_judge(std::string_view beginning, std::optional<ElementType> expected) {
  constexpr uint64_t kHeaderBytes = kMostPreambleBytes + kMostHeaderBytes;
  if (!kMagic.starts_with(beginning.substr(0, kMagic.size()))) return 0;
  if (beginning.size() < kMostPreambleBytes) return kMostPreambleBytes;
  Parts parts;
  Header header;
  if (!split(beginning, parts).empty()) return kHeaderBytes;
  if (!HeaderParser(parts.header).parse(header).empty()) return 0;
  const Result<Dtype> dtype = element_type_of(header.descr, expected);
  if (!dtype || (expected && !stands_for(dtype->type, *expected))) return 0;
  const Result<int64_t> size = checked_byte_count(dtype->type, header.shape);
  return size ? beginning.size() - parts.data.size() + static_cast<uint64_t>(*size) + 1 : 0;
}

}  // namespace

Result<Array> parse_npy(std::string_view content, std::string_view name,
                        std::optional<ElementType> expected) {
  auto damaged = [&](std::string_view why) {
    return fail(ErrorKind::kFile, fmt::format("cannot read {}: {}", name, why));
  };
  Parts parts;
  Header header;
  if (std::string problem = split(content, parts); !problem.empty()) return damaged(problem);
  if (std::string problem = HeaderParser(parts.header).parse(header); !problem.empty())
    return damaged(problem);
  Result<Array> array = read_elements(header, parts.data, expected);
  if (!array) return fail(array.error().kind, fmt::format("cannot read {}: {}", name, array.error().message));
  return array;
}

Result<Array> read_npy(const std::string& path, std::optional<ElementType> expected) {
  TENON_TRY_ASSIGN(std::string content, read_beginning(path, [&](std::string_view beginning) {
                     return bytes_to_judge(beginning, expected);
                   }));
  return parse_npy(content, path == "-" ? "the standard input" : path, expected);
}

std::string npy_content(const Array& array) {
  std::string shape = "(";
  for (int64_t extent : array.shape()) shape += fmt::format("{}, ", extent);
  // A tuple of one keeps its comma.
  if (array.rank() > 1) shape.resize(shape.size() - 2);
  if (array.rank() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}), }}",
                                   numpy_dtype(array.type()), shape);
  constexpr size_t kPreamble = 10;
  size_t total = kPreamble + header.size() + 1;
  header.append((kHeaderAlignment - total % kHeaderAlignment) % kHeaderAlignment, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {1, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  content += header;
  content.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  return content;
}

Result<void> write_npy(const std::string& path, const Array& array) {
  return write_file(path, npy_content(array));
}

}  // namespace tenon
