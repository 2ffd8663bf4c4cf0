#include "runtime/program.h"

#include <gtest/gtest.h>

#include <random>

#include "programs.h"

namespace tenon::runtime {
namespace {

uint32_t divide(uint32_t n, MagicDivisor magic) {
  auto high = static_cast<uint32_t>((uint64_t{n} * magic.multiplier) >> 32);
  uint32_t sum = high + n;
  return magic.shift >= 32 ? 0 : sum >> magic.shift;
}

uint32_t divide_wide(uint32_t n, MagicDivisor magic) {
  uint64_t high = (uint64_t{n} * magic.multiplier) >> 32;
  return static_cast<uint32_t>((high + n) >> magic.shift);
}

TEST(MagicDivisor, DividesEveryDividend) {
  std::mt19937 random(3);
  std::vector<uint64_t> divisors = {1,     2,     3,     5,          7,          10,        641,
                                    65535, 65536, 65537, 2147483646, 2147483647, 2147483648};
  for (int i = 0; i < 300; ++i) divisors.push_back((random() >> (random() % 31 + 1)) + 1);
  for (uint64_t d : divisors) {
    MagicDivisor magic = magic_divisor(d);
    std::vector<uint64_t> dividends = {0, 1, d - 1, d, d + 1, 2 * d - 1, 2 * d, 2147483646, 2147483647};
    for (uint64_t k : {uint64_t{3}, 2147483647 / d, 2147483647 / d - 1})
      dividends.insert(dividends.end(), {k * d - 1, k * d});
    for (int i = 0; i < 50; ++i) dividends.push_back(random() >> 1);
    for (uint64_t n : dividends)
      if (n <= 2147483647) ASSERT_EQ(divide(static_cast<uint32_t>(n), magic), n / d) << n << " / " << d;
    for (uint32_t n : {0u, 4294967295u, 4294967294u, static_cast<uint32_t>(random())})
      ASSERT_EQ(divide_wide(n, magic), n / d) << n << " / " << d;
  }
}

TEST(MagicDivisor, DivisorsOutOfRange) {
  EXPECT_EQ(divide(17, magic_divisor(0)), 17u);
  EXPECT_EQ(divide(17, magic_divisor(-5)), 17u);
  for (uint32_t n : {0u, 1u, 2147483647u}) EXPECT_EQ(divide(n, magic_divisor(Int128{1} << 40)), 0u);
}

TEST(Program, JsonReadsBackTheSame) {
  for (const Program& program : {axpy_program(), window_program()}) {
    std::string json = to_json(program);
    Result<Program> read = parse_program(json);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), json);
  }
}

TEST(Program, JsonHasStepsVariantsGuardsAndLaunches) {
  std::string json = to_json(axpy_program());
  for (const char* part :
       {"\"steps\"", "\"variants\"", "\"guard\"", "\"launches\"",
        "\"text\": \"N % 4 == 0 && x on 16 bytes && y on 16 bytes && z on 16 bytes\"",
        "\"entry\": \"axpy_vector\"", "\"text\": \"ceildiv(N, 1024)\"", "\"kind\": \"scalar\""})
    EXPECT_NE(json.find(part), std::string::npos) << part;
}

TEST(Program, VariantWithoutCodeReadsBack) {
  Program program = axpy_program();
  program.steps[0].variants[1].code.reset();
  program.symbols[SymbolId(0)].fixed = 1024;
  Result<Program> read = parse_program(to_json(program));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->steps[0].variants[1].code);
  EXPECT_EQ(read->symbols[SymbolId(0)].fixed, 1024);
}

TEST(Program, DamagedJsonIsRefused) {
  std::string json = to_json(window_program());
  EXPECT_FALSE(parse_program(""));
  EXPECT_FALSE(parse_program("[]"));
  EXPECT_FALSE(parse_program("{}"));
  EXPECT_FALSE(parse_program(std::string(100000, '[')));
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = json;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          damaged.erase(at, random() % 40);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
      }
    }
    // What is accepted must be usable.
    if (Result<Program> read = parse_program(damaged)) EXPECT_TRUE(verify(*read));
  }
}

// Each damage with the words that must name it.
TEST(Program, VerifyNamesTheFault) {
  auto message = [](auto&& damage) {
    Program program = window_program();
    damage(program);
    Result<void> result = verify(program);
    return result ? std::string("accepted") : result.error().message;
  };
  auto expect = [](const std::string& message, const char* words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(message([](Program& p) { p.target = "sm_999"; }), "unknown target 'sm_999'");
  expect(message([](Program& p) { p.steps[0].variants.clear(); }), "step 'first' has no variant");
  expect(message([](Program& p) { p.steps[0].variants[0].code->launches[0].block = 1025; }),
         "block of 1025 threads");
  expect(message([](Program& p) {
           p.steps[0].variants[0].code->launches[0].grid = SizeExpr::symbol(SymbolId(9));
         }),
         "names a symbol that does not exist");
  expect(message([](Program& p) { p.steps[0].variants[0].code->launches[0].arguments[1].workspace = 7; }),
         "argument 1 of entry 'first'");
  expect(
      message([](Program& p) { p.steps[1].variants[0].code->launches[1].arguments[1].type = PtxType::kB64; }),
      "argument 1 of entry 'second'");
  expect(message([](Program& p) { p.steps[0].variants[0].guard.alignments.push_back({ParameterId(0), 12}); }),
         "alignment");
  expect(message([](Program& p) { p.symbols[SymbolId(2)].parameter = ParameterId(0); }), "symbol 'n'");
}

TEST(Guard, Text) {
  Program program = axpy_program();
  EXPECT_EQ(to_text(program.steps[0].variants[1].guard, program), "always");
}

}  // namespace
}  // namespace tenon::runtime
