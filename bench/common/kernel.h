// Kernels of Tenon from source text, as a host application would compile them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/compiler.h"
#include "bench/common/workload.h"
#include "runtime/program.h"
#include "support/result.h"
#include "support/source.h"

namespace tenon::bench {

struct CompiledSource {
  // The kernels refer to it.
  std::unique_ptr<SourceManager> sources;
  std::shared_ptr<const api::CompiledKernel> kernel;

  const runtime::Program& program() const { return kernel->program(); }
};

// Checks and plans the file's first kernel, or the one of that name, for sm_80, with the sizes in `fixed`
// known and every generic element type f16. Mistakes in the source are kUsage with the diagnostics as text.
Result<CompiledSource> compile_source(const std::string& source, const Sizes& fixed,
                                      const std::string& name = {});

// The variant of each step that a launch of these sizes selects, every buffer well aligned. A scalar that
// `sizes` does not name is 1.
Result<std::vector<uint32_t>> selected_variants(const runtime::Program& program, const Sizes& sizes);

// From text to the PTX that a launch of `sizes` takes, every step of it; gives its bytes.
Result<size_t> compile_for_launch(const std::string& source, const Sizes& fixed, const Sizes& sizes);

// The shape of each parameter.
Result<std::vector<std::vector<int64_t>>> parameter_shapes(const runtime::Program& program,
                                                           const Sizes& sizes);

}  // namespace tenon::bench
