#include "passes/analysis/held_registers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/tile_parser.h"

namespace tenon::passes {
namespace {

// A launch over a row of 1024 elements, 8 a thread, in f32, and `row`, one of 128 in f16; `code` uses them.
int64_t held(const std::string& code) {
  SourceManager sources;
  FileId file = sources.add("test.tir", fmt::format(R"(
tile.module @m<N> {{
  tensor %x: f32[1024, N] input
  tensor %h: f16[128] input
  tensor %y: f32[1024] result
  tensor %s: f32[] result
  tile k: 1024
  tile row: 128
  layout #0 [k: 1024] register(k:128, k:256, k:512) lane(k:1, k:2, k:4, k:8, k:16) warp(k:32, k:64)
  layout #1 [row: 128] register() lane(row:1, row:2, row:4, row:8, row:16) warp(row:32, row:64)
  home #0
  home #1
  tile.kernel @m threads(128) grid() narrow {{
{}
    yield
  }}
}}
)",
                                                    code));
  Diagnostics diagnostics;
  auto modules = ir::parse_tile_modules(sources, file, diagnostics);
  if (!modules) ADD_FAILURE() << diagnostics.all()[0].message;
  return modules ? held_registers(modules->front(), modules->front().kernels[0].body) : -1;
}

TEST(HeldRegisters, CountsWhatAReductionStandsBetween) {
  EXPECT_EQ(held(R"(
    %0 = load %x[k, 0] : f32[k] #0
    %1 = tile.reduce<sum> %0 along k : f32
    store %1 -> %s[])"),
            0);
  EXPECT_EQ(held(R"(
    %0 = load %x[k, 0] : f32[k] #0
    %1 = load %x[k, 1] : f32[k] #0
    %2 = tile.reduce<sum> %0 along k : f32
    %3 = add %1, %2 : f32[k] #0
    store %3 -> %y[k])"),
            8);
}

TEST(HeldRegisters, CountsNoMasksConstantsOrSingleValues) {
  EXPECT_EQ(held(R"(
    %0 = const 0x0p+0 : f32[k] #0
    %1 = load %h[row] : f16[row] #1
    %2 = load %x[k, 0] : f32[k] #0
    %3 = lt %2, %0 : bool[k] #0
    %4 = tile.reduce<sum> %2 along k : f32
    %5 = select %3, %4, %0 : f32[k] #0
    store %5 -> %y[k])"),
            0);
}

TEST(HeldRegisters, AddsWhatALoopReadsToWhatItCarries) {
  EXPECT_EQ(held(R"(
    %0 = const 0x0p+0 : f32[k] #0
    %1 = loop l: N carry(%2 = %0 : f32[k] #0) {
      %3 = load %x[k, l] : f32[k] #0
      %4 = load %x[k, l + 1] : f32[k] #0
      %5 = fma %3, %4, %2 : f32[k] #0
      yield %5
    }
    store %1 -> %y[k])"),
            24);
}

}  // namespace
}  // namespace tenon::passes
