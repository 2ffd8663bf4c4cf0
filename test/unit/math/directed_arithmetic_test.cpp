// f32 arithmetic in every rounding mode against MPFR with enough bits to be exact.
#include "support/directed_arithmetic.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

#include "samples.h"

namespace tenon {
namespace {

// a * b + c exactly: 48 bits of product may stand 450 places above the last bit of c.
class ExactFma {
 public:
  ExactFma(double a, double b, double c) {
    mpfr_inits2(800, value_, other_, nullptr);
    mpfr_set_d(value_, a, MPFR_RNDN);
    mpfr_mul_d(value_, value_, b, MPFR_RNDN);
    mpfr_add_d(value_, value_, c, MPFR_RNDN);
  }
  ~ExactFma() { mpfr_clears(value_, other_, nullptr); }
  ExactFma(const ExactFma&) = delete;
  ExactFma& operator=(const ExactFma&) = delete;

  bool is_zero() const { return mpfr_zero_p(value_); }
  int sign() const { return mpfr_sgn(value_); }
  // The sign of exact - x, where an infinite x stands for 2^128.
  int compare(float x) { return mpfr_cmp_d(value_, std::isinf(x) ? std::copysign(0x1p128, x) : x); }
  // |exact - x|.
  double distance(float x) {
    mpfr_sub_d(other_, value_, std::isinf(x) ? std::copysign(0x1p128, x) : x, MPFR_RNDN);
    return std::fabs(mpfr_get_d(other_, MPFR_RNDN));
  }

 private:
  mpfr_t value_;
  mpfr_t other_;
};

float up(float x) { return std::nextafter(x, INFINITY); }
float down(float x) { return std::nextafter(x, -INFINITY); }

// Whether `x` is the value below (or equal) that has no float between it and the exact one; likewise above.
bool is_floor(ExactFma& exact, float x) { return exact.compare(x) >= 0 && exact.compare(up(x)) < 0; }
bool is_ceiling(ExactFma& exact, float x) { return exact.compare(x) <= 0 && exact.compare(down(x)) > 0; }

bool rounds_to(ExactFma& exact, Rounding mode, float x) {
  bool floor =
      is_floor(exact, x) || (x == -INFINITY && exact.compare(-std::numeric_limits<float>::max()) < 0);
  bool ceiling =
      is_ceiling(exact, x) || (x == INFINITY && exact.compare(std::numeric_limits<float>::max()) > 0);
  // Beyond the largest finite value rounding inward stays there.
  floor = floor || (x == std::numeric_limits<float>::max() && exact.compare(x) > 0);
  ceiling = ceiling || (x == -std::numeric_limits<float>::max() && exact.compare(x) < 0);
  switch (mode) {
    case Rounding::kDown:
      return floor;
    case Rounding::kUp:
      return ceiling;
    case Rounding::kTowardZero:
      return exact.sign() > 0 ? floor : ceiling;
    default:
      return exact.distance(x) <= exact.distance(up(x)) && exact.distance(x) <= exact.distance(down(x));
  }
}

template <Rounding mode>
void check_fma(float a, float b, float c) {
  float result = fma_f32<mode>(a, b, c);
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) {
    float expected = static_cast<float>(static_cast<double>(a) * b + c);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(result) : result == expected) << a << " " << b << " " << c;
    return;
  }
  if constexpr (mode == Rounding::kNearestEven) {
    ASSERT_EQ(std::bit_cast<uint32_t>(result), std::bit_cast<uint32_t>(std::fma(a, b, c)))
        << std::hexfloat << a << " " << b << " " << c;
  }
  ExactFma exact(a, b, c);
  if (exact.is_zero()) {
    bool both = (std::signbit(a) != std::signbit(b)) && std::signbit(c);
    bool either = (std::signbit(a) != std::signbit(b)) || std::signbit(c);
    EXPECT_EQ(std::signbit(result), mode == Rounding::kDown ? either : both) << a << " " << b << " " << c;
    EXPECT_EQ(result, 0.0f);
    return;
  }
  ASSERT_TRUE(rounds_to(exact, mode, result)) << std::hexfloat << a << " * " << b << " + " << c << " gave "
                                              << result << " in mode " << static_cast<int>(mode);
}

void check_all(float a, float b, float c) {
  check_fma<Rounding::kNearestEven>(a, b, c);
  check_fma<Rounding::kTowardZero>(a, b, c);
  check_fma<Rounding::kDown>(a, b, c);
  check_fma<Rounding::kUp>(a, b, c);
}

TEST(DirectedArithmetic, SpecialOperands) {
  for (float a : test::special_floats())
    for (float b : test::special_floats())
      for (float c : test::special_floats()) check_all(a, b, c);
}

TEST(DirectedArithmetic, RandomOperands) {
  test::Random random(31);
  for (int k = 0; k < 30000; ++k) {
    float a = random.any_float();
    float b = random.any_float();
    check_all(a, b, random.any_float());
    // Cancellation, ties and near-ties.
    float product = a * b;
    check_all(a, b, -product);
    check_all(a, b, static_cast<float>(product * random.uniform(-1.001, -0.999)));
    check_all(a, 1.0f, std::ldexp(a, -24) * (k % 3 == 0 ? 1.0f : 1.0000001f));
    check_all(1.0f + 0x1p-23f, static_cast<float>(random.uniform(1, 2)),
              std::bit_cast<float>(random.bits32() & 0x807FFFFF));
  }
}

TEST(DirectedArithmetic, SumsAndProducts) {
  EXPECT_EQ(add_f32<Rounding::kDown>(1.0f, 0x1p-60f), 1.0f);
  EXPECT_EQ(add_f32<Rounding::kUp>(1.0f, 0x1p-60f), 1.0f + 0x1p-23f);
  EXPECT_EQ(mul_f32<Rounding::kTowardZero>(-0x1.fffffep127f, 2.0f), -0x1.fffffep127f);
  EXPECT_EQ(mul_f32<Rounding::kUp>(0x1p-149f, 0.5f), 0x1p-149f);
  EXPECT_TRUE(std::signbit(mul_f32<Rounding::kDown>(-0x1p-149f, 0.0f)));
  for (float nan : {NAN, -NAN, std::bit_cast<float>(0x7FA00001u)}) {
    EXPECT_EQ(std::bit_cast<uint32_t>(mul_f32<Rounding::kDown>(nan, 1.0f)), 0x7FFFFFFFu);
    EXPECT_EQ(std::bit_cast<uint32_t>(fma_f32<Rounding::kUp>(1.0f, nan, 1.0f)), 0x7FFFFFFFu);
    EXPECT_EQ(std::bit_cast<uint32_t>(canonical(nan)), 0x7FFFFFFFu);
  }
  EXPECT_EQ(saturate(NAN), 0.0f);
  EXPECT_FALSE(std::signbit(saturate(-0.0f)));
  EXPECT_EQ(saturate(7.0f), 1.0f);
}

// Products of f16 are exact in a double, and so is their sum with an f16 in 80 bits.
TEST(DirectedArithmetic, SixteenBitFma) {
  test::Random random(32);
  for (int k = 0; k < 200000; ++k) {
    auto a = static_cast<uint16_t>(random.bits32());
    auto b = static_cast<uint16_t>(random.bits32());
    auto c = static_cast<uint16_t>(random.bits32());
    if (k % 4 == 0) c = f16_from_f32(-f32_from_f16(a) * f32_from_f16(b));
    double x = decode<Float16>(a);
    double y = decode<Float16>(b);
    double z = decode<Float16>(c);
    mpfr_t exact;
    mpfr_init2(exact, 200);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_mul_d(exact, exact, y, MPFR_RNDN);
    mpfr_add_d(exact, exact, z, MPFR_RNDN);
    // Toward zero with a sticky last bit: the second rounding is then the only one.
    double odd = mpfr_get_d(exact, MPFR_RNDZ);
    if (mpfr_cmp_d(exact, odd) != 0) odd = std::bit_cast<double>(std::bit_cast<uint64_t>(odd) | 1);
    mpfr_clear(exact);
    if (std::isnan(odd)) {
      EXPECT_EQ(fma_16_bit<Float16>(a, b, c), 0x7FFF);
    } else if (odd != 0) {
      ASSERT_EQ(fma_16_bit<Float16>(a, b, c), encode<Float16>(odd)) << x << " " << y << " " << z;
    }
  }
}

}  // namespace
}  // namespace tenon
