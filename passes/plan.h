// Needs: a grouped kernel.
// Gives: for every group a step: variants in the order in which a launch tries them, each a schedule and a
// guard; the
//        last accepts every size.
// Why here: between the stages; it freezes the tensor kernel, to which it adds index expressions only.
//
// Families (maps, rows, contractions, ...) differ in one function, which proposes variants for the groups
// that it knows; the generic family takes what is left and says so in a remark.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "ir/tile.h"
#include "passes/pass.h"
#include "passes/schedule.h"
#include "passes/schedule_text.h"
#include "support/targets.h"

namespace tenon::passes {

struct VariantPlan {
  std::string name;
  Schedule schedule;
  // Holds where it is not 0; mentions symbols only.
  ir::IndexId guard;
  // Tensors whose first element must lie on a multiple of so many bytes.
  std::vector<std::pair<ir::TensorId, int64_t>> aligned;
  // What the guard says about divisibility, by powers of two.
  std::vector<std::pair<ir::IndexId, int64_t>> divisible;
  // What it says about least values.
  std::vector<std::pair<ir::IndexId, int64_t>> bounded;
  // The guard says that coordinates and byte offsets fit 31 bits.
  bool narrow_index = false;
};

struct StepPlan {
  // Index into kernel.groups.
  uint32_t group = 0;
  std::vector<VariantPlan> variants;
  // What explain says about the choice.
  std::vector<std::string> remarks;
};

struct Plan {
  std::vector<StepPlan> steps;
};

struct PlanOptions {
  // What a user says about the schedules, and where it is reported if it makes no sense; both or neither. The
  // plan of a step for which it makes none is as without.
  const SchedulePins* pins = nullptr;
  Diagnostics* diagnostics = nullptr;
  // Keep the proposals that no launch would choose, since an earlier variant takes all of their sizes.
  bool keep_unreachable = false;
};

Plan plan(ir::Kernel& kernel, const Target& target, const PlanOptions& options = {});

// The loop nest of a variant, as build-nest leaves it.
ir::TileModule build_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant);

struct LowerOptions {
  // Verify after build-nest and each tile pass; a violation is an internal error that names the pass.
  bool verify_each = false;
  // Where what the passes decided is added.
  std::vector<Remark>* remarks = nullptr;
};

// Lowers one variant to a tile module that codegen accepts: build-nest and the tile passes after it.
ir::TileModule lower_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant,
                             const Target& target, const LowerOptions& options = {});

}  // namespace tenon::passes
