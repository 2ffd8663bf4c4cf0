#include "codegen/line_info.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>
#include <span>

namespace tenon::codegen {
namespace {

const Span* first_place(std::span<const Span> spans) {
  auto found = std::find_if(spans.begin(), spans.end(), [](const Span& span) { return span.valid(); });
  return found == spans.end() ? nullptr : &*found;
}

}  // namespace

LineInfo::LineInfo(llvm::Module& module, const SourceManager& sources) : sources_(sources), builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

llvm::DIFile* LineInfo::file_of(const Span& span) {
  llvm::DIFile*& file = files_[span.file];
  if (file == nullptr) file = builder_.createFile(sources_.file(span.file).name, "");
  return file;
}

void LineInfo::begin_function(const std::string& name, std::span<const Span> spans) {
  const Span* first = first_place(spans);
  llvm::DIFile* file = first == nullptr ? builder_.createFile("unknown", "") : file_of(*first);
  unsigned line = first == nullptr ? 0 : sources_.position(first->file, first->begin).line;
  if (unit_ == nullptr)
    unit_ = builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), file, "tenon",
                                       true, "", 0, "", llvm::DICompileUnit::DebugDirectivesOnly);
  llvm::DISubroutineType* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  function_ =
      builder_.createFunction(file, name, name, file, line, type, line, llvm::DINode::FlagZero,
                              llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  scopes_.clear();
  if (first != nullptr) scopes_[first->file] = function_;
}

void LineInfo::end_function(llvm::Function& function) { function.setSubprogram(function_); }

llvm::DebugLoc LineInfo::place(std::span<const Span> spans) {
  const Span* first = first_place(spans);
  if (first == nullptr) return {};
  llvm::DIScope*& scope = scopes_[first->file];
  if (scope == nullptr) scope = builder_.createLexicalBlockFile(function_, file_of(*first));
  LineColumn at = sources_.position(first->file, first->begin);
  return llvm::DILocation::get(function_->getContext(), at.line, at.column, scope);
}

}  // namespace tenon::codegen
