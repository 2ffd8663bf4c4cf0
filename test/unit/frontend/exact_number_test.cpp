#include "frontend/parse/exact_number.h"

#include <gtest/gtest.h>

namespace tenon::frontend {
namespace {

std::string value(std::string_view text) {
  const std::optional<ExactNumber> number = parse_exact_number(text);
  return number ? number->str() : "none";
}

TEST(ExactNumber, IsExact) {
  EXPECT_EQ(value("0"), "0");
  EXPECT_EQ(value("007"), "7");
  EXPECT_EQ(value("18446744073709551616"), "18446744073709551616");
  EXPECT_EQ(value("0.1"), "1/10");
  EXPECT_EQ(value("1.50"), "3/2");
  EXPECT_EQ(value("0x1F"), "31");
  EXPECT_EQ(value("0xffffffffffffffffff"), "4722366482869645213695");
  EXPECT_EQ(value("25e-1"), "5/2");
  EXPECT_EQ(value("1.5E+3"), "1500");
  EXPECT_EQ(value("5.9604644775390625e-8"), "1/16777216");
}

TEST(ExactNumber, RefusesWhatIsNone) {
  for (std::string_view text :
       {"", ".", ".5", "5.", "1e", "1e+", "0x", "0xg", "-1", "1.2.3", "abc", "1 ", "e5"})
    EXPECT_EQ(value(text), "none") << text;
}

TEST(ExactNumber, HasLimits) {
  EXPECT_NE(value(std::string(1'000, '9')), "none");
  EXPECT_EQ(value(std::string(1'001, '9')), "none");
  EXPECT_EQ(value("0." + std::string(1'000, '9')), "none");
  EXPECT_NE(value("1e1000"), "none");
  EXPECT_EQ(value("1e-1001"), "none");
  EXPECT_EQ(value("1e99999999999999999999999"), "none");
  EXPECT_EQ(value("0x" + std::string(1'001, '9')), "none");
}

}  // namespace
}  // namespace tenon::frontend
