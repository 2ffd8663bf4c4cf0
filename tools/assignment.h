// Options of the form NAME=VALUE: `--set N=4096`, `--in x=a.npy`, `--out y=b.npy`, `--offset x=1`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/element_type.h"
#include "support/result.h"

namespace tenon::tools {

template <class Value>
struct Assignment {
  std::string name;
  Value value;
};

// A size or the type that a generic stands for.
using SetValue = std::variant<int64_t, ElementType>;

struct InputSpec {
  enum class Kind : unsigned char { kFile, kRandom, kIntegers, kZeros, kOnes, kIota, kInteger, kNumber };
  Kind kind = Kind::kRandom;
  // As given; the path of a file.
  std::string text;
  // The value of kInteger and kNumber.
  int64_t integer = 0;
  double number = 0;
};

// Each parses the values of one repeated option. Errors are of kind kUsage and show the option, what was
// given and what would do; a name given twice is one.
Result<std::vector<Assignment<SetValue>>> parse_sets(const std::vector<std::string>& texts);
Result<std::vector<Assignment<InputSpec>>> parse_inputs(const std::vector<std::string>& texts);
Result<std::vector<Assignment<std::string>>> parse_outputs(const std::vector<std::string>& texts);
Result<std::vector<Assignment<int64_t>>> parse_offsets(const std::vector<std::string>& texts);

// The whole text as a number: decimal, or an integer after 0x; also inf, nan, true (1) and false (0).
// Neither kInteger nor kNumber where it is none.
InputSpec parse_constant(std::string_view text);

}  // namespace tenon::tools
