// The passes by their flags, for `tenon opt`, timings and tests.
//
// `tenon opt FILE --passes=a,b,c [--verify-each] [--print-ir-after-all]` is
//
//   PassRun run;
//   run.module = *ir::parse_module(...);              // or frontend::check(...).module
//   RunOptions options{.verify_each = ..., .after = [&](const Pass& pass, const PassRun& run) { print }};
//   Result<void> ran = run_passes(run, flags, options);
//
// where `flags` is the option split at commas. What went wrong is a usage error (an unknown flag, or one of
// the wrong stage), or a text that begins with "after PASS: " (an invariant broken: our bug, exit status 70).
// Before the first pass the caller verifies what a user wrote. `tensor_pipeline()` (pipeline.h) gives the
// flags of a compilation up to groups.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor.h"
#include "ir/tile.h"
#include "passes/pass.h"
#include "support/result.h"
#include "support/targets.h"

namespace tenon::passes {

enum class PassStage : unsigned char { kTensor, kTile };

std::string_view name(PassStage stage);

// A row of passes.def.
struct Pass {
  std::string_view id;
  std::string_view flag;
  PassStage from;
  PassStage to;
  std::string_view doc;
  // Of the passes within a stage, the one that is not null.
  void (*tensor)(ir::Kernel& kernel, PassContext& context);
  void (*tile)(ir::TileModule& module, PassContext& context);
};

// In the order of the table.
std::span<const Pass> all_passes();
// Null where no row has the flag.
const Pass* pass_by_flag(std::string_view flag);

// What a list of passes works on.
struct PassRun {
  ir::Module module;
  // From `build-nest` on: a module for each step of each kernel.
  std::vector<ir::TileModule> tiles;
  PassStage stage = PassStage::kTensor;
  PassContext context;
};

struct RunOptions {
  bool verify_each = false;
  // Called after each pass.
  std::function<void(const Pass& pass, const PassRun& run)> after;
  // For build-nest and what follows.
  const Target* target = nullptr;
  // For build-nest. The variant of each step: by name, or the last, which accepts every size, where a step
  // has none of that name.
  std::string variant;
};

Result<void> run_passes(PassRun& run, std::span<const std::string_view> flags,
                        const RunOptions& options = {});

}  // namespace tenon::passes
