#include "tools/assignment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::tools {
namespace {

template <class Parsed>
std::string message(const Parsed& parsed) {
  return parsed ? "no error" : parsed.error().message;
}

TEST(Sets, AreIntegersOrTypes) {
  auto sets = parse_sets({"N=4096", "T=f16", "k=-1", "M=0x10"});
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ((*sets)[0].name, "N");
  EXPECT_EQ(std::get<int64_t>((*sets)[0].value), 4096);
  EXPECT_EQ(std::get<ElementType>((*sets)[1].value), ElementType::kF16);
  EXPECT_EQ(std::get<int64_t>((*sets)[2].value), -1);
  EXPECT_EQ(std::get<int64_t>((*sets)[3].value), 16);
}

TEST(Sets, MistakesAreNamed) {
  EXPECT_EQ(message(parse_sets({"N"})), "--set N: expected NAME=VALUE, as in --set N=4096 or T=f16");
  EXPECT_EQ(message(parse_sets({"4=N"})), "--set 4=N: expected NAME=VALUE, as in --set N=4096 or T=f16");
  EXPECT_EQ(message(parse_sets({"N="})), "--set N=: expected NAME=VALUE, as in --set N=4096 or T=f16");
  EXPECT_EQ(message(parse_sets({"T=float16"})),
            "--set T=float16: float16 is neither an integer nor an element type");
  EXPECT_EQ(message(parse_sets({"T=bf61"})),
            "--set T=bf61: bf61 is neither an integer nor an element type; did you mean bf16?");
  EXPECT_EQ(message(parse_sets({"N=1", "N=1"})), "--set N=1: N is given twice");
  EXPECT_EQ(message(parse_sets({"N=9223372036854775808"})),
            "--set N=9223372036854775808: 9223372036854775808 is neither an integer nor an element type");
  EXPECT_EQ(std::get<int64_t>((*parse_sets({"N=-9223372036854775808"}))[0].value), INT64_MIN);
}

TEST(Inputs, AreFilesFillsOrNumbers) {
  auto inputs = parse_inputs({"a=x.npy", "b=random", "c=3.5", "d=-7", "e=1e-3", "f=nan", "g=true", "h=-inf"});
  ASSERT_TRUE(inputs) << inputs.error().message;
  using Kind = InputSpec::Kind;
  const Kind kinds[] = {Kind::kFile,   Kind::kRandom, Kind::kNumber, Kind::kInteger,
                        Kind::kNumber, Kind::kNumber, Kind::kNumber, Kind::kNumber};
  for (size_t i = 0; i < inputs->size(); ++i)
    EXPECT_EQ((*inputs)[i].value.kind, kinds[i]) << (*inputs)[i].name;
  EXPECT_EQ((*inputs)[0].value.text, "x.npy");
  EXPECT_EQ((*inputs)[2].value.number, 3.5);
  EXPECT_EQ((*inputs)[3].value.integer, -7);
  EXPECT_TRUE(std::isnan((*inputs)[5].value.number));
}

TEST(Inputs, MistakesAreNamed) {
  EXPECT_EQ(message(parse_inputs({"x=randm"})),
            "--in x=randm: randm is no file, no number and none of random, integers, zeros, ones, iota; did "
            "you mean random?");
  EXPECT_EQ(message(parse_inputs({"x=3.5.1"})),
            "--in x=3.5.1: 3.5.1 is no file, no number and none of random, integers, zeros, ones, iota");
}

TEST(Offsets, AreSmallNumbersOfElements) {
  EXPECT_EQ((*parse_offsets({"x=1"}))[0].value, 1);
  EXPECT_EQ(message(parse_offsets({"x=-1"})), "--offset x=-1: an offset is a number of elements, 0 to 2^20");
  EXPECT_EQ(message(parse_outputs({"y="})), "--out y=: expected NAME=VALUE, as in --out y=b.npy");
}

}  // namespace
}  // namespace tenon::tools
