#include "ir/index_text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

namespace tenon::ir {
namespace {

constexpr std::array kNames = {"M", "N", "K", "i", "j", "k"};

std::string atom_text(const IndexNode& node) {
  if (node.kind == IndexKind::kValue) return "%" + std::to_string(node.reference);
  return kNames[node.reference];
}

IndexId parse_text(IndexPool& pool, const std::string& text, std::string* error = nullptr) {
  SourceManager sources;
  Diagnostics diagnostics;
  FileId file = sources.add("index", text);
  TextScanner scanner(sources, file, diagnostics);
  IndexId id = parse_index(scanner, pool, [&](const Token& token) {
    if (token.kind == Token::Kind::kValue) return pool.value(ValueId(7));
    for (uint32_t i = 0; i < kNames.size(); ++i)
      if (token.text == kNames[i]) return i < 3 ? pool.symbol(SymbolId(i)) : pool.axis(AxisId(i));
    return IndexId();
  });
  if (!scanner.at_end()) scanner.fail_expected("the end");
  if (error != nullptr) *error = diagnostics.all().empty() ? "" : diagnostics.all().front().message;
  return id;
}

std::string round_trip(const std::string& text) {
  IndexPool pool;
  std::string error;
  IndexId id = parse_text(pool, text, &error);
  return error.empty() ? index_text(pool, id, atom_text) : error;
}

TEST(IndexText, PrintsInfix) {
  EXPECT_EQ(round_trip("0"), "0");
  EXPECT_EQ(round_trip("-3"), "-3");
  EXPECT_EQ(round_trip("1 + i*2"), "2 * i + 1");
  EXPECT_EQ(round_trip("j + i*N"), "N * i + j");
  EXPECT_EQ(round_trip("i - N/2 + j"), "i + j - N / 2");
  EXPECT_EQ(round_trip("-(N/2)"), "-(N / 2)");
  EXPECT_EQ(round_trip("-N/2"), "(-N) / 2");
  EXPECT_EQ(round_trip("i*(N/2)"), "(N / 2) * i");
  EXPECT_EQ(round_trip("3*(N/2)"), "3 * (N / 2)");
  EXPECT_EQ(round_trip("(i + 1) / (N - 1) % 4"), "((i + 1) / (N - 1)) % 4");
  EXPECT_EQ(round_trip("i / (N / K)"), "i / (N / K)");
  EXPECT_EQ(round_trip("max(k, j, i)"), "max(i, j, k)");
  EXPECT_EQ(round_trip("min(i, max(N, 0))"), "min(i, max(0, N))");
  EXPECT_EQ(round_trip("min(min(N, i), min(i + 2, N + 1), j)"), "min(N, i, j)");
  EXPECT_EQ(round_trip("max(i, j, max(k, i, j + 1))"), "max(i, j + 1, k)");
  EXPECT_EQ(round_trip("%v + 1"), "%7 + 1");
}

TEST(IndexText, PrintsConditions) {
  EXPECT_EQ(round_trip("i < N"), "i < N");
  EXPECT_EQ(round_trip("N > i"), "i < N");
  EXPECT_EQ(round_trip("i <= j"), "i <= j");
  EXPECT_EQ(round_trip("j >= i"), "i <= j");
  EXPECT_EQ(round_trip("0 == K % 8"), "K % 8 == 0");
  EXPECT_EQ(round_trip("K % 8 != 0"), "K % 8 != 0");
  EXPECT_EQ(round_trip("i < N && 0 <= i && j == k"), "0 <= i && i < N && j == k");
  EXPECT_EQ(round_trip("(i < N || j < M) && k < K"), "(i < N || j < M) && k < K");
  EXPECT_EQ(round_trip("!(i < N && j < M)"), "!(i < N && j < M)");
  EXPECT_EQ(round_trip("(i < N) + 1"), "(i < N) + 1");
  EXPECT_EQ(round_trip("(i < N) < (j < N)"), "(i < N) < (j < N)");
}

TEST(IndexText, SaysWhatIsWrong) {
  EXPECT_EQ(round_trip("i +"), "expected an index expression, found the end");
  EXPECT_EQ(round_trip("(i"), "expected `)`, found the end");
  EXPECT_EQ(round_trip("z"), "there is no symbol or axis `z` here");
  EXPECT_EQ(round_trip("9223372036854775808"), "`9223372036854775808` is not an integer of 64 bits");
  EXPECT_EQ(round_trip("9223372036854775807 + 1"), "this index expression leaves 64 bits");
  EXPECT_EQ(round_trip(std::string(300, '(')), "nested more than 200 levels deep");
  EXPECT_EQ(round_trip(std::string(100000, '-') + "i"), "nested more than 200 levels deep");
  std::string power = "(1 + M + N + K + i + j + k)";
  EXPECT_EQ(round_trip(power + "*" + power + "*" + power + "*" + power + "*" + power + "*" + power),
            "this index expression has more than 1024 terms");
}

TEST(IndexText, KeepsTheLeastInteger) {
  EXPECT_EQ(round_trip("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip("i + -9223372036854775808"), "i + -9223372036854775808");
  EXPECT_EQ(round_trip("-9223372036854775808 * i"), "-9223372036854775808 * i");
}

std::string random_expression(std::mt19937& random, int depth) {
  auto sub = [&] { return "(" + random_expression(random, depth - 1) + ")"; };
  uint32_t choice = random() % (depth > 0 ? 16 : 3);
  switch (choice) {
    case 0:
      return std::to_string(random() % 9);
    case 1:
    case 2:
      return kNames[random() % kNames.size()];
    case 3:
    case 4:
      return sub() + "+" + sub();
    case 5:
    case 6:
      return sub() + "-" + sub();
    case 7:
    case 8:
      return sub() + "*" + sub();
    case 9:
      return sub() + "/" + sub();
    case 10:
      return sub() + "%" + sub();
    case 11:
      return "min(" + sub() + "," + sub() + ")";
    case 12:
      return "max(" + sub() + "," + sub() + ")";
    case 13:
      return sub() + "<" + sub();
    case 14:
      return sub() + "==" + sub() + "&&" + sub() + "<=" + sub();
    default:
      return "!" + sub() + "||-" + sub();
  }
}

std::optional<int64_t> value_of(const IndexPool& pool, IndexId id, const std::array<int64_t, 6>& values) {
  return pool.evaluate(id, [&](IndexId atom) { return std::optional(values[pool[atom].reference]); });
}

// The printed text has the value of the expression, in another pool whose ids come in another order, and
// prints as itself.
TEST(IndexText, RandomExpressionsComeBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string source = random_expression(random, 4);
    IndexPool pool;
    std::string error;
    IndexId id = parse_text(pool, source, &error);
    if (!error.empty()) continue;
    std::string text = index_text(pool, id, atom_text);
    IndexPool other;
    for (uint32_t i = 3; i-- > 0;) other.axis(AxisId(i + 3)), other.symbol(SymbolId(i));
    IndexId again = parse_text(other, text, &error);
    ASSERT_EQ(error, "") << source << "\n" << text;
    std::array<int64_t, 6> values;
    for (int trial = 0; trial < 8; ++trial) {
      for (int64_t& value : values) value = static_cast<int64_t>(random() % 12) - (trial > 3 ? 4 : 0);
      auto expected = value_of(pool, id, values);
      auto actual = value_of(other, again, values);
      if (expected && actual) {
        ASSERT_EQ(*expected, *actual) << source << "\n" << text;
      }
    }
    std::string twice = index_text(other, again, atom_text);
    IndexPool third;
    ASSERT_EQ(index_text(third, parse_text(third, twice), atom_text), twice) << source;
  }
}

}  // namespace
}  // namespace tenon::ir
