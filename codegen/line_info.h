// The places of operations in the source, as LLVM keeps them: PTX has `.file` and `.loc` for them, and no
// sections of debug information.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/source.h"

namespace tenon::codegen {

class LineInfo {
 public:
  // `sources` has the files of all spans.
  LineInfo(llvm::Module& module, const SourceManager& sources);

  // The scope of the places that follow, until the next one begins; `function` may still lack its body.
  void begin_function(const std::string& name, std::span<const Span> spans);
  void end_function(llvm::Function& function);
  // Of a fused operation, the first place; none where there is none.
  llvm::DebugLoc place(std::span<const Span> spans);
  // Behind the last function.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file_of(const Span& span);

  const SourceManager& sources_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  llvm::DISubprogram* function_ = nullptr;
  std::map<FileId, llvm::DIFile*> files_;
  // The part of the function that comes from each file.
  std::map<FileId, llvm::DIScope*> scopes_;
};

}  // namespace tenon::codegen
