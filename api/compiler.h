// Joins the compiler and the runtime: from source text to programs, their variants lowered when somebody
// asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/check/check.h"
#include "ir/tensor.h"
#include "ir/tile.h"
#include "passes/plan.h"
#include "runtime/program.h"
#include "support/diagnostics.h"
#include "support/result.h"
#include "support/source.h"
#include "support/targets.h"

namespace tenon::api {

struct CompilerOptions {
  const Target* target = nullptr;
  // PTX ISA version, major * 10 + minor; 0: the least that the target needs.
  unsigned ptx_isa = 0;
  // Whether PTX has line information; the SourceManager must then outlive the kernels.
  bool line_info = false;
  // Verify tile modules after each pass.
  bool verify_each = false;
  // What a user says about the schedules, and where it is reported if it makes no sense; both or neither.
  // They need to live while the kernel is constructed.
  const passes::SchedulePins* schedule = nullptr;
  Diagnostics* schedule_diagnostics = nullptr;
  // Keep variants that no launch would choose.
  bool keep_unreachable = false;
};

// One kernel, planned. Lowering its variants does not change it, so that several threads may.
class CompiledKernel {
 public:
  CompiledKernel(ir::Kernel kernel, const CompilerOptions& options, const SourceManager* sources);

  const ir::Kernel& kernel() const { return kernel_; }
  const passes::Plan& plan() const { return plan_; }
  const Target& target() const { return *options_.target; }
  // The record, its variants without code.
  const runtime::Program& program() const { return program_; }

  // What the passes decided is added to `remarks`, unless it is null.
  ir::TileModule lower_to_tile(uint32_t step, uint32_t variant,
                               std::vector<passes::Remark>* remarks = nullptr) const;
  Result<std::string> lower_to_llvm(uint32_t step, uint32_t variant) const;
  Result<runtime::LoweredVariant> lower(uint32_t step, uint32_t variant) const;
  // The record with code in every variant, and what was decided about each.
  Result<runtime::Program> lower_all() const;
  // For LoadedProgram; `self` lives as long as the source does.
  static runtime::VariantSource source(std::shared_ptr<const CompiledKernel> self);

 private:
  Result<runtime::LoweredVariant> generate(ir::TileModule module) const;

  ir::Kernel kernel_;
  CompilerOptions options_;
  const SourceManager* sources_;
  passes::Plan plan_;
  runtime::Program program_;
  // Workspace index of each local tensor that steps exchange.
  SideTable<ir::Tensor, uint32_t> workspace_;
};

// Parses and checks; kernels with mistakes are reported and left out.
frontend::CheckResult check_source(FileId file, SourceManager& sources, const frontend::CheckOptions& options,
                                   Diagnostics& diagnostics);

}  // namespace tenon::api
