#include "ir/tile_interpreter.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "interpreted.h"
#include "ir/tile_verifier.h"
#include "tile_parsed.h"

namespace tenon::ir {
namespace {

// A module run on arrays by tensor; those left out are workspace.
struct RunTile {
  RunTile(const std::string& text, std::vector<Array> arrays_by_tensor, std::vector<int64_t> symbols = {},
          TileInterpreterOptions options = {})
      : parsed(text), arrays(std::move(arrays_by_tensor)) {
    if (!parsed.ok()) {
      error = parsed.errors();
      return;
    }
    error = to_text(verify(parsed.module()));
    if (!error.empty()) return;
    std::vector<Array*> pointers(parsed.module().tensors.size(), nullptr);
    for (size_t i = 0; i < arrays.size(); ++i) pointers[i] = &arrays[i];
    auto ran = interpret(parsed.module(), symbols, pointers, options);
    if (!ran) error = ran.error().message;
  }

  ParsedTile parsed;
  std::vector<Array> arrays;
  std::string error;
};

std::vector<double> values(const Array& array) {
  std::vector<double> all;
  for (int64_t i = 0; i < array.element_count(); ++i) all.push_back(array.as_double(i));
  return all;
}

Array iota(std::vector<int64_t> shape, ElementType type = ElementType::kF32) {
  Array array = zeros(type, std::move(shape));
  for (int64_t i = 0; i < array.element_count(); ++i) array.set_double(i, static_cast<double>(i));
  return array;
}

constexpr const char* kRows = R"(tile.module @rows<M, N> {
  tensor %x: f32[M, N] input
  tensor %y: f32[M] result
  tile k: 8
  tile.kernel @rows threads(32) grid(i: M) {
    %0 = index k : index[k]
    %1 = index N : index
    %2 = lt %0, %1 : bool[k]
    %3 = const 0x0p+0 : f32
    %4 = load %x[i, k] where %2 else %3 : f32[k]
    %5 = tile.reduce<sum> %4 along k : f32
    store %5 -> %y[i]
    yield
  }
})";

TEST(TileInterpreter, MasksWhatTheSizeDoesNotFill) {
  RunTile run(kRows, {iota({3, 5}), zeros(ElementType::kF32, {3})}, {3, 5});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(values(run.arrays[1]), (std::vector<double>{10, 35, 60}));
}

TEST(TileInterpreter, RunsNoBlockOfAnEmptyGrid) {
  RunTile run(kRows, {zeros(ElementType::kF32, {0, 5}), zeros(ElementType::kF32, {0})}, {0, 5});
  EXPECT_EQ(run.error, "");
}

TEST(TileInterpreter, NamesAnAccessOutOfBounds) {
  std::string text(kRows);
  text.replace(text.find(" where %2 else %3"), 17, "");
  for (unsigned threads : {1u, 2u}) {
    TileInterpreterOptions options;
    options.threads = threads;
    RunTile run(text, {iota({30, 5}), zeros(ElementType::kF32, {30})}, {30, 5}, options);
    EXPECT_EQ(run.error,
              "rows, block 0 (i = 0): load of %x[0, 5], which has the shape [30, 5], in "
              "`%4 = load %x[i, k] : f32[k]`");
  }
}

TEST(TileInterpreter, RefusesAnArrayOfAnotherShape) {
  RunTile run(kRows, {iota({3, 4}), zeros(ElementType::kF32, {3})}, {3, 5});
  EXPECT_EQ(run.error, "the array of x has the shape [3, 4], not [3, 5]");
}

TEST(TileInterpreter, RefusesMoreElementsThanItMay) {
  TileInterpreterOptions options;
  options.max_elements = 1000;
  RunTile run(kRows, {iota({300, 5}), zeros(ElementType::kF32, {300})}, {300, 5}, options);
  EXPECT_EQ(run.error, "the interpreter would compute more elements than it may");
}

// Registers as a tree with the odd one last, lanes from the lowest bit, then warps: with a layout, f32 sums
// round as on the device.
TEST(TileInterpreter, ReducesInTheOrderOfTheLayout) {
  constexpr const char* kText = R"(tile.module @sum {
  tensor %x: f32[192] input
  tensor %y: f32[] result
  tile k: 192
  layout #0 [k: 192] register() lane(k:1, k:2, k:4, k:8, k:16) warp(k:32)
  tile.kernel @sum threads(64) {
    %0 = load %x[k] : f32[k] #0
    %1 = tile.reduce<sum> %0 along k : f32
    store %1 -> %y[]
    yield
  }
})";
  std::string text(kText);
  text.replace(text.find("f32[] result"), 12, "f32 result");
  Array x = random_array(ElementType::kF32, {192});
  auto in = x.as<float>();
  float threads[64];
  for (int t = 0; t < 64; ++t) threads[t] = (in[t] + in[t + 64]) + in[t + 128];
  for (int distance = 1; distance < 64; distance *= 2)
    for (int t = 0; t < 64; t += 2 * distance) threads[t] += threads[t + distance];
  RunTile run(text, {x, zeros(ElementType::kF32, {})});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(std::bit_cast<uint32_t>(run.arrays[1].as<float>()[0]), std::bit_cast<uint32_t>(threads[0]));
  float in_order = 0;
  for (float one : in) in_order += one;
  EXPECT_NE(threads[0], in_order);
}

TEST(TileInterpreter, JoinsProductsByMultiplyAdds) {
  constexpr const char* kText = R"(tile.module @dot {
  tensor %x: f32[64] input
  tensor %y: f32 result
  tile k: 64
  layout #0 [k: 64] register(k:32) lane(k:1, k:2, k:4, k:8, k:16) warp()
  tile.kernel @dot threads(32) {
    %0 = load %x[k] : f32[k] #0
    %1 = tile.reduce<sum> product %0, %0 along k : f32
    store %1 -> %y[]
    yield
  }
})";
  Array x = random_array(ElementType::kF32, {64});
  auto in = x.as<float>();
  float lanes[32];
  for (int t = 0; t < 32; ++t) lanes[t] = std::fma(in[t + 32], in[t + 32], in[t] * in[t]);
  for (int distance = 1; distance < 32; distance *= 2)
    for (int t = 0; t < 32; t += 2 * distance) lanes[t] += lanes[t + distance];
  RunTile run(kText, {x, zeros(ElementType::kF32, {})});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(std::bit_cast<uint32_t>(run.arrays[1].as<float>()[0]), std::bit_cast<uint32_t>(lanes[0]));
}

TEST(TileInterpreter, ArgmaxKeepsBothSlots) {
  constexpr const char* kText = R"(tile.module @argmax {
  tensor %x: i32[2, 40] input
  tensor %v: i32[2] result
  tensor %at: index[2] result
  tile i: 2
  tile k: 40
  layout #0 [i: 2, k: 40] register() lane(i:1, k:1, k:2, k:4, 0) warp()
  layout #1 [k: 40] register() lane(0, k:1, k:2, k:4, 0) warp()
  layout #2 [i: 2] register() lane(i:1, 0, 0, 0, 0) warp()
  tile.kernel @argmax threads(32) {
    %0 = load %x[i, k] : i32[i, k] #0
    %1 = index k : index[k] #1
    %2, %3 = tile.reduce<argmax> %0, %1 along k : i32[i] #2, index[i] #2
    store %2 -> %v[i]
    store %3 -> %at[i]
    yield
  }
})";
  Array x = zeros(ElementType::kI32, {2, 40});
  for (int64_t k : {7, 19, 33}) x.set_int64(k, 5);
  for (int64_t k = 0; k < 40; ++k) x.set_int64(40 + k, -k);
  RunTile run(kText, {x, zeros(ElementType::kI32, {2}), zeros(ElementType::kIndex, {2})});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(values(run.arrays[1]), (std::vector<double>{5, 0}));
  EXPECT_EQ(values(run.arrays[2]), (std::vector<double>{7, 0}));
}

// Through a padded, swizzled buffer and back.
TEST(TileInterpreter, SharedMemoryKeepsWhatIsStored) {
  constexpr const char* kText = R"(tile.module @transpose shared(2176) {
  tensor %x: i16[16, 32] input
  tensor %y: i16[32, 16] result
  tile i: 16
  tile j: 32
  buffer %tile: i16[16, 32] strides(32, 1) swizzle(3, 5, 2) at 128
  tile.kernel @transpose threads(32) {
    %0 = load %x[i, j] : i16[i, j]
    store %0 -> %tile[i, j]
    barrier
    %1 = load %tile[i, j] : i16[i, j]
    store %1 -> %y[j, i]
    yield
  }
})";
  RunTile run(kText, {iota({16, 32}, ElementType::kI16), zeros(ElementType::kI16, {32, 16})});
  ASSERT_EQ(run.error, "");
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 32; ++j) EXPECT_EQ(run.arrays[1].as_int64(j * 16 + i), i * 32 + j);
}

TEST(TileInterpreter, LoopsCarryValues) {
  // Fibonacci: each value becomes the other.
  constexpr const char* kText = R"(tile.module @loop<N> {
  tensor %y: i64[2] result
  tile.kernel @loop threads(32) {
    %0 = const 0 : i64
    %1 = const 1 : i64
    %a, %b = loop n: N carry(%u = %0 : i64, %v = %1 : i64) {
      %w = add %u, %v : i64
      yield %v, %w
    }
    store %a -> %y[0]
    store %b -> %y[1]
    yield
  }
})";
  for (auto [n, a, b] : {std::tuple{0, 0, 1}, {1, 1, 1}, {10, 55, 89}}) {
    RunTile run(kText, {zeros(ElementType::kI64, {2})}, {n});
    ASSERT_EQ(run.error, "");
    EXPECT_EQ(values(run.arrays[0]), (std::vector<double>{double(a), double(b)})) << n;
  }
}

TEST(TileInterpreter, ProductsSumOverCommonAxes) {
  constexpr const char* kText = R"(tile.module @mma {
  tensor %a: f16[4, 8] input
  tensor %b: f16[8, 2] input
  tensor %c: f32[4, 2] result
  tile i: 4
  tile j: 2
  tile k: 8
  tile.kernel @mma threads(32) {
    %0 = load %a[i, k] : f16[i, k]
    %1 = load %b[k, j] : f16[j, k]
    %2 = const 0x1p+0 : f32[i, j]
    %3 = mma %0, %1, %2 : f32[i, j]
    store %3 -> %c[i, j]
    yield
  }
})";
  Array a = random_array(ElementType::kF16, {4, 8}, 1);
  Array b = random_array(ElementType::kF16, {8, 2}, 2);
  RunTile run(kText, {a, b, zeros(ElementType::kF32, {4, 2})});
  ASSERT_EQ(run.error, "");
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      float sum = 1;
      for (int64_t k = 0; k < 8; ++k)
        sum = std::fma(static_cast<float>(a.as_double(i * 8 + k)), static_cast<float>(b.as_double(k * 2 + j)),
                       sum);
      EXPECT_EQ(run.arrays[2].as<float>()[i * 2 + j], sum);
    }
  }
}

// Gathers by values of type index, and workspace between launches.
TEST(TileInterpreter, LaunchesShareWorkspace) {
  constexpr const char* kText = R"(tile.module @gather<N> {
  tensor %at: i32[N] input
  tensor %x: f32[N] input
  tensor %y: f32[N] result
  tensor %between: f32[N] local
  tile k: 4
  tile.kernel @gather.a threads(32) grid(b: N / 4) {
    %0 = load %at[4 * b + k] : i32[k]
    %1 = cast %0 : index[k]
    %2 = load %x[%1] : f32[k]
    store %2 -> %between[4 * b + k]
    yield
  }
  tile.kernel @gather.b threads(32) grid(c: N) {
    %3 = load %between[N - 1 - c] : f32
    store %3 -> %y[c]
    yield
  }
})";
  Array at = array_of({8}, {3, 1, 4, 1, 5, 2, 6, 0}, ElementType::kI32);
  RunTile run(kText, {at, iota({8}), zeros(ElementType::kF32, {8})}, {8});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(values(run.arrays[2]), (std::vector<double>{0, 6, 2, 5, 1, 4, 1, 3}));
}

// Two slices of 8, of which the second ends behind the fifth element; the sum of both.
std::string two_copies(const std::string& first_wait, const std::string& last_wait) {
  return R"(tile.module @copies<> {
  tensor %x: f32[13] input
  tensor %y: f32[8] result
  tile k: 8
  buffer %ring: f32[2, 8] strides(8, 1)
  tile.kernel @copies threads(32) {
    copy.async %x[k] -> %ring[0, k]
    copy.commit
    %0 = index k : index[k]
    %1 = index 5 : index
    %2 = lt %0, %1 : bool[k]
    copy.async %x[8 + k] -> %ring[1, k] where %2
    copy.commit
)" + first_wait +
         R"(
    %3 = load %ring[0, 7 - k] : f32[k]
)" + last_wait +
         R"(
    %4 = load %ring[1, 7 - k] : f32[k]
    %5 = add %3, %4 : f32[k]
    store %5 -> %y[7 - k]
    yield
  }
}
)";
}

TEST(TileInterpreter, CopiesArriveWithTheWaitForTheirGroup) {
  RunTile run(two_copies("copy.wait 1", "copy.wait 0"), {iota({13}), zeros(ElementType::kF32, {8})});
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(values(run.arrays[1]), (std::vector<double>{8, 10, 12, 14, 16, 5, 6, 7}));
}

TEST(TileInterpreter, AMissingWaitLeavesWhatWasNeverWritten) {
  RunTile run(two_copies("copy.wait 2", "copy.wait 0"), {iota({13}), zeros(ElementType::kF32, {8})});
  EXPECT_EQ(run.error, "");
  for (double value : values(run.arrays[1])) EXPECT_TRUE(std::isnan(value));
}

TEST(TileInterpreter, NoCopyIsUnderWayAtTheEnd) {
  RunTile run(two_copies("copy.wait 1", "copy.wait 1"), {iota({13}), zeros(ElementType::kF32, {8})});
  EXPECT_NE(run.error.find("ends while copies are under way"), std::string::npos) << run.error;
}

}  // namespace
}  // namespace tenon::ir
