// Tile IR to PTX, through LLVM. The only folder that includes LLVM headers, and none of them here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/tile.h"
#include "support/result.h"
#include "support/targets.h"

namespace tenon::codegen {

struct Options {
  const Target* target = nullptr;
  // PTX ISA version, major * 10 + minor; 0 takes the least that the target and the instructions need.
  unsigned ptx_isa = 0;
  // Line information (.loc) for the operations' spans; `sources` then names the files.
  const SourceManager* line_info = nullptr;
};

// One parameter of an entry, in order.
struct EntryArgument {
  enum class Kind : uint8_t {
    kTensor,  // a pointer to the tensor's first element: a kernel parameter, or workspace of the variant
    kScalar,  // the value of a rank-0 input tensor
    kIndex,   // the value of an index expression over symbols
    kMagicMultiplier,  // for unsigned 32-bit division by the value of `index`; see runtime/program.h
    kMagicShift,
  };
  Kind kind = Kind::kTensor;
  ir::TensorId tensor;
  ir::IndexId index;
  // Bytes of the parameter: 8 for pointers; 4 or 8 for kIndex; the element's size for kScalar.
  uint32_t bytes = 8;
};

struct Entry {
  std::string name;
  uint32_t threads = 0;
  // The number of blocks: an expression over symbols, in the module's pool.
  ir::IndexId grid;
  // Bytes of dynamic shared memory.
  int64_t shared_bytes = 0;
  std::vector<EntryArgument> arguments;
};

struct Compiled {
  std::string ptx;
  // One a launch of the module.
  std::vector<Entry> entries;
  // Runs of LLVM's passes that were left out because they cost time and find nothing here.
  uint32_t skipped_passes = 0;
};

// The module has layouts, vector widths, buffer offsets and barriers. Not an Error but an internal one where
// the module is not what codegen accepts: the passes guarantee it. May be called by several threads at once,
// with modules of their own. Adds index expressions to the module's pool.
Result<Compiled> compile(ir::TileModule& module, const Options& options);

// The LLVM IR before code generation, for `--emit llvm`.
Result<std::string> to_llvm_text(ir::TileModule& module, const Options& options);

// Loads the target and compiles a small kernel, so that the first real compile is as fast as the rest.
void warm_up();

}  // namespace tenon::codegen
