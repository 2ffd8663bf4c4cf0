// A tile module from IR text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/tile_parser.h"
#include "ir/tile_printer.h"

namespace tenon::ir {

struct ParsedTile {
  explicit ParsedTile(std::string text) : file(sources.add("test.tir", std::move(text))) {
    modules = parse_tile_modules(sources, file, diagnostics);
  }

  bool ok() const { return modules.has_value(); }
  std::string errors() const { return render_text(diagnostics, sources); }
  // "line:column: message" of the first error.
  std::string first_error() const {
    if (diagnostics.all().empty()) return "none";
    const Diagnostic& first = diagnostics.all().front();
    LineColumn at = sources.position(first.span.file, first.span.begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + first.message;
  }
  TileModule& module() { return modules->at(0); }

  SourceManager sources;
  FileId file;
  Diagnostics diagnostics;
  std::optional<std::vector<TileModule>> modules;
};

// Everything that the text has a form for, once layouts are there.
inline constexpr const char* kTileText = R"(tile.module @good<M, N = 64, n: scalar> shared(4288) {
  tensor %x: f32[M, 64] input align(16)
  tensor %a: f32 input
  tensor %acc: f32[M] input
  tensor %acc.new: f32[M] result
  tensor %y: f32[M, 64] result align(16)
  tensor %best: index[M] result
  tensor %part: f32[M, 2] local
  same_memory %acc, %acc.new
  domain i: M
  domain j: 64
  tile i.1: 4
  tile k: 96
  tile c: 32
  layout #0 [k: 96, i.1: 4] register(k:1) lane(k:2, k:4, k:8, k:16, i.1:1) warp(i.1:2)
  layout #1 [c: 32] register() lane(c:1, c:2, c:4, c:8, c:16) warp(0)
  layout #2 [i.1: 4] register() lane(0, 0, 0, 0, i.1:1) warp(i.1:2)
  layout #3 [i.1: 4, k: 96] register(k:1) lane(k:2, k:4, k:8, k:16, i.1:1) warp(i.1:2)
  layout #4 [k: 96] register(k:1) lane(k:2, k:4, k:8, k:16, 0) warp(0)
  home #0
  home #1
  buffer %tile: f32[32, 32] strides(33, 1) at 0
  buffer %other: i8[16, 4] strides(4, 1) swizzle(2, 2, 0) at 4224
  divisible M by 4
  divisible M / 4 by 2
  bounded 2 * M from 33
  tile.kernel @good.main threads(64) grid(block_i: (M + 3) / 4, part: 2) narrow {
    %0 = index 4 * block_i + i.1 : index[i.1] #2
    %1 = index M : index
    %2 = lt %0, %1 : bool[i.1] #2
    %3 = const 0x1.8p+0 : f32
    %4 = load %x[4 * block_i + i.1, k % 64] where %2 else %3 : f32[i.1, k] #3 vector(2)
    %5 = load %a[] : f32
    %6 = mul %4, %5 : f32[i.1, k] #3
    %7 = index k : index[k] #4
    %8, %9 = tile.reduce<argmax> %6, %7 along k : f32[i.1] #2, index[i.1] #2
    %10 = tile.reduce<sum> product %6, %4 along k : f32[i.1] #2
    store %9 -> %best[4 * block_i + i.1] where %2
    %11 = const 0x0p+0 : f32[i.1] #2
    %17, %18 = loop loop_j: (M + 31) / 32 carry(%12 = %11 : f32[i.1] #2, %13 = %8 : f32[i.1] #2) {
      %14 = add %12, %10 : f32[i.1] #2
      %16 = loop step: 2 unroll carry(%15 = %14 : f32[i.1] #2) {
        yield %15
      }
      yield %16, %12
    }
    %19 = exp %17 : f32[i.1] #2 approx
    store %19 -> %part[%0, part] where %2
    barrier
    %20 = load %tile[c, c] : f32[c] #1
    store %20 -> %tile[3, c]
    yield
  }
  tile.kernel @good.merge threads(64) {
    %21 = const 7 : i8[c] #1
    store %21 -> %other[c / 4, c % 4]
    yield
  }
}
)";

}  // namespace tenon::ir
