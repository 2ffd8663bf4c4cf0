#include <random>

#include "ir/tile_verifier.h"
#include "tile_parsed.h"

namespace tenon::ir {
namespace {

TEST(TileText, ComesBackTheSame) {
  ParsedTile first(kTileText);
  ASSERT_TRUE(first.ok()) << first.errors();
  std::string text = print(first.module());
  ParsedTile second(text);
  ASSERT_TRUE(second.ok()) << second.errors();
  EXPECT_EQ(print(second.module()), text);
}

TEST(TileText, PrintsWhatItWasWrittenFrom) {
  ParsedTile parsed(kTileText);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  // Layouts are numbered as they are met.
  EXPECT_EQ(print(parsed.module()), kTileText);
}

TEST(TileText, HasTheStructureThatItSays) {
  ParsedTile parsed(kTileText);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  const TileModule& module = parsed.module();
  EXPECT_EQ(module.name, "good");
  EXPECT_EQ(module.shared_bytes, 4288);
  ASSERT_EQ(module.symbols.size(), 3u);
  EXPECT_EQ(module.symbols[SymbolId(1)].fixed, 64);
  EXPECT_EQ(module.symbols[SymbolId(2)].kind, Symbol::Kind::kScalar);
  EXPECT_EQ(module.tensor_alignment[TensorId(0)], 16);
  EXPECT_EQ(module.tensor_alignment[TensorId(1)], 1);
  EXPECT_EQ(module.tensors[TensorId(6)].role, Tensor::Role::kLocal);
  ASSERT_EQ(module.same_memory.size(), 1u);
  EXPECT_EQ(module.same_memory[0], std::pair(TensorId(2), TensorId(3)));
  ASSERT_EQ(module.homes.size(), 2u);
  EXPECT_EQ(module.homes[0].register_count(), 6);
  EXPECT_EQ(module.homes[0].warp_count(), 2);
  EXPECT_EQ(module.buffers[BufferId(0)].strides, (std::vector<int64_t>{33, 1}));
  EXPECT_EQ(module.buffers[BufferId(1)].swizzle_bits, 2);
  EXPECT_EQ(module.buffers[BufferId(1)].swizzle_from, 2);
  EXPECT_EQ(module.buffers[BufferId(1)].swizzle_to, 0);
  EXPECT_EQ(module.buffers[BufferId(1)].offset, 4224);
  EXPECT_EQ(module.divisible[1].second, 2);
  ASSERT_EQ(module.kernels.size(), 2u);
  EXPECT_EQ(module.kernels[0].warps, 2);
  EXPECT_TRUE(module.kernels[0].narrow_index);
  EXPECT_FALSE(module.kernels[1].narrow_index);
  EXPECT_EQ(module.kernels[0].grid.size(), 2u);
}

TEST(TileText, NamedValuesKeepTheirNames) {
  ParsedTile parsed(R"(tile.module @m {
  tile.kernel @k threads(32) {
    %one = const 1 : i32
    %two = add %one, %one : i32
    yield
  }
})");
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  std::string text = print(parsed.module());
  EXPECT_NE(text.find("%two = add %one, %one : i32"), std::string::npos) << text;
}

TEST(TileText, LocationsAreComments) {
  ParsedTile parsed(kTileText);
  ASSERT_TRUE(parsed.ok());
  std::string text = print(parsed.module(), {&parsed.sources});
  EXPECT_NE(text.find("yield  // loc(test.tir:"), std::string::npos) << text;
  ParsedTile again(text);
  ASSERT_TRUE(again.ok()) << again.errors();
  EXPECT_EQ(print(again.module()), kTileText);
}

struct Mistake {
  const char* text;
  const char* error;
};

constexpr Mistake kMistakes[] = {
    {"module", "1:1: expected `tile.module`, found `module`"},
    {"tile.module @m { tensor %x: f32[M] input }", "1:33: there is no symbol or axis `M` here"},
    {"tile.module @m { tile k: 0 }", "1:26: `0` is not a number from 1 to 1073741824"},
    {"tile.module @m { tile k: 4 tile k: 4 }", "1:33: `k` is defined already"},
    {"tile.module @m { home #0 }", "1:24: there is no layout `0` here"},
    {"tile.module @m { tile k: 4 layout #0 [k: 4] register(k:4) lane() warp() }",
     "1:56: `4` is not a number from 1 to 3"},
    {"tile.module @m { tile k: 4 layout #0 [k: 4] register(j:1) lane() warp() }",
     "1:54: there is no axis `j` here"},
    {"tile.module @m { tile k: 4 layout #0 [k: 4] register() lane(0) warp() }",
     "1:36: a layout has five lane bits: expected 5, not 1"},
    {"tile.module @m { tile.kernel @k threads(33) { yield } }", "1:40: `33` is not a multiple of 32"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = add %1, %1 : f32 yield } }",
     "1:56: there is no value `1` here"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = map : f32 yield } }",
     "1:52: there is no operation on tiles `map` here"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = const 1 : i32, i32 yield } }",
     "1:52: a type for each result: expected 1, not 2"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = const 300 : i8 yield } }",
     "1:58: `300` is not a constant of i8"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = load %x[] : f32 yield } }",
     "1:57: there is no tensor or buffer `x` here"},
    {"tile.module @m { tile.kernel @k threads(32) { %0 = const 1 : i32 %1 = tile.reduce<mean> %0 along k : "
     "i32 } }",
     "1:83: there is no monoid `mean` here"},
};

TEST(TileText, MistakesAreReportedAtTheirPlace) {
  for (const Mistake& mistake : kMistakes) {
    ParsedTile parsed(mistake.text);
    EXPECT_FALSE(parsed.ok()) << mistake.text;
    EXPECT_EQ(parsed.first_error(), mistake.error) << mistake.text;
  }
}

// Neither parser, printer nor verifier may come to harm by what a text says.
TEST(TileText, MutatedTextsDoNoHarm) {
  std::mt19937 random(1);
  std::string good(kTileText);
  constexpr std::string_view kPieces[] = {"%0",
                                          "#0",
                                          "#9",
                                          "k",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ":",
                                          "f32",
                                          "i8",
                                          "index",
                                          "99999999999999999999",
                                          "-1",
                                          "0",
                                          "k:1",
                                          "loop",
                                          "carry",
                                          "yield",
                                          "vector(3)",
                                          "warp()",
                                          "lane",
                                          "along k",
                                          "bool",
                                          "unroll",
                                          "9223372036854775807"};
  int parsed_count = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      size_t at = random() % text.size();
      size_t length = random() % 8;
      text.replace(at, length, random() % 2 == 0 ? kPieces[random() % std::size(kPieces)] : "");
    }
    ParsedTile parsed(text);
    if (!parsed.ok()) continue;
    ++parsed_count;
    for (const TileModule& module : *parsed.modules) {
      print(module);
      verify(module);
    }
  }
  EXPECT_GT(parsed_count, 20);
}

}  // namespace
}  // namespace tenon::ir
