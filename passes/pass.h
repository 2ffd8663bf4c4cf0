// The passes, declared from the table passes.def, and what each is given beside the kernel or module. What a
// pass needs and gives, and why it stands where it does, is said in the head of its file, which is called
// after its flag.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "ir/tile.h"
#include "support/source.h"
#include "support/targets.h"

namespace tenon::passes {

// A decision that `explain` shows: what was done or left at a place of the source, and why.
struct Remark {
  // The flag of the pass.
  std::string_view pass;
  Span span;
  std::string text;
};

struct PassContext {
  // What tile passes lower for; tensor passes do not ask.
  const Target* target = nullptr;
  // In the order of the decisions.
  std::vector<Remark> remarks;

  void remark(std::string_view pass, Span span, std::string text) {
    remarks.push_back({pass, span, std::move(text)});
  }
};

#define TENON_TENSOR_PASS(id, function, flag, doc) void function(ir::Kernel& kernel, PassContext& context);
#define TENON_TILE_PASS(id, function, flag, doc) void function(ir::TileModule& module, PassContext& context);
#include "passes/passes.def"

}  // namespace tenon::passes
