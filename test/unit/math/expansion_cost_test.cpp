// The price of each expansion in instructions: a builder that only counts. What NVRTC's library takes on its
// usual path for the same function (13.0, compute_80, without mov) is the limit.
#include <gtest/gtest.h>

#include "codegen/math/expand.h"
#include "counting_math.h"

namespace tenon::codegen::math {
namespace {

struct Price {
  FunctionId id;
  Accuracy accuracy;
  int instructions;
};

TEST(ExpansionCost, IsWhatTheHeadersSay) {
  const Price prices[] = {
#define TENON_PRICE(id, ours) {FunctionId::k##id, Accuracy::kAccurate, ours},
      TENON_PRICE(Exp, 8) TENON_PRICE(Exp2, 1) TENON_PRICE(Expm1, 19) TENON_PRICE(Log, 23)
          TENON_PRICE(Log2, 24) TENON_PRICE(Log1p, 22) TENON_PRICE(Sqrt, 1) TENON_PRICE(Rsqrt, 1)
              TENON_PRICE(Tanh, 15) TENON_PRICE(Sinh, 21) TENON_PRICE(Cosh, 11) TENON_PRICE(Asin, 17)
                  TENON_PRICE(Acos, 20) TENON_PRICE(Atan, 18) TENON_PRICE(Erf, 18) TENON_PRICE(Sin, 24)
                      TENON_PRICE(Cos, 25) TENON_PRICE(Tan, 36) TENON_PRICE(Atan2, 28) TENON_PRICE(Pow, 88)
#undef TENON_PRICE
                          {FunctionId::kExp, Accuracy::kApprox, 2},
      {FunctionId::kLog, Accuracy::kApprox, 2},
      {FunctionId::kTanh, Accuracy::kApprox, 1},
      {FunctionId::kSin, Accuracy::kApprox, 1},
  };
  for (const Price& price : prices) {
    CountingMath b;
    CountingMath::Value args[3];
    expand_f32<CountingMath>(b, price.id, std::span<const CountingMath::Value>(args, row(price.id).arity),
                             price.accuracy);
    EXPECT_EQ(b.count, price.instructions) << name(price.id);
  }
}

}  // namespace
}  // namespace tenon::codegen::math
