// LLVM as this compiler uses it: which passes run, and how a module becomes PTX.
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "codegen/codegen.h"
#include "codegen/emitter.h"
#include "ir/tile_builder.h"
#include "support/check.h"

extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace tenon::codegen {

namespace {

// What runs before instruction selection; enough, since the emitter writes what it means.
constexpr const char* kPasses = "function(simplifycfg,early-cse<memssa>,loop-mssa(licm))";

// Passes of the code generator that cost milliseconds and find nothing here; the names are their arguments.
class SkipPasses : public llvm::OptPassGate {
 public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef) const override {
    static constexpr const char* kSkipped[] = {"slsr",       "loop-reduce",   "nary-reassociate",
                                               "mergeicmps", "expand-memcmp", "consthoist"};
    bool runs =
        std::none_of(std::begin(kSkipped), std::end(kSkipped), [&](const char* one) { return name == one; });
    if (!runs) ++skipped_;
    return runs;
  }

  uint32_t skipped() const { return skipped_; }

 private:
  // LLVM asks through a const interface.
  mutable uint32_t skipped_ = 0;
};

const llvm::Target& nvptx() {
  static const llvm::Target* target = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    const llvm::Target* found =
        llvm::TargetRegistry::lookupTarget(llvm::Triple("nvptx64-nvidia-cuda"), error);
    TENON_CHECK(found != nullptr, "LLVM has no NVPTX target");
    // Pointers to shared memory take 32 bits; LLVM has no other way to say so.
    auto option = llvm::cl::getRegisteredOptions().find("nvptx-short-ptr");
    TENON_CHECK(option != llvm::cl::getRegisteredOptions().end(), "LLVM has lost the option nvptx-short-ptr");
    static_cast<llvm::cl::opt<bool>*>(option->second)->setValue(true);
    return found;
  }();
  return *target;
}

// A target machine is not thread-safe and takes a millisecond to make: one a thread and kind.
llvm::TargetMachine& target_machine(const Options& options) {
  unsigned isa = options.ptx_isa != 0 ? options.ptx_isa : options.target->ptx_isa;
  thread_local std::map<std::pair<std::string, unsigned>, std::unique_ptr<llvm::TargetMachine>> machines;
  auto& machine = machines[{std::string(options.target->name), isa}];
  if (machine == nullptr) {
    llvm::TargetOptions target_options;
    // No multiply and add become one that the passes did not join.
    target_options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    machine.reset(nvptx().createTargetMachine(
        llvm::Triple("nvptx64-nvidia-cuda"), std::string(options.target->name), "+ptx" + std::to_string(isa),
        target_options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  }
  return *machine;
}

// LLVM ends a module that has places with an empty section of debug information, of which ptxas wants none.
void drop_empty_section(std::string& ptx) {
  size_t begin = ptx.find("\t.section\t.debug_macinfo");
  if (begin == std::string::npos) return;
  size_t end = ptx.find('}', begin);
  TENON_CHECK(end != std::string::npos, "a section of debug information has no end");
  ptx.erase(begin, ptx.find('\n', end) - begin);
}

struct DiagnosticSink : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    internal_error("LLVM: " + text, __FILE__, __LINE__);
  }
};

// One compilation: a context of its own, so that threads share nothing.
class Session {
 public:
  Session(ir::TileModule& module, const Options& options) : options_(options) {
    context_.setDiagnosticHandler(std::make_unique<DiagnosticSink>());
    context_.setOptPassGate(gate_);
    module_ = std::make_unique<llvm::Module>(module.name, context_);
    llvm::TargetMachine& machine = target_machine(options);
    module_->setTargetTriple(machine.getTargetTriple());
    module_->setDataLayout(machine.createDataLayout());
    std::optional<LineInfo> line_info;
    if (options.line_info != nullptr) line_info.emplace(*module_, *options.line_info);
    for (const ir::TileKernel& kernel : module.kernels)
      compiled_.entries.push_back(
          Emitter(module, kernel, *module_, options, line_info ? &*line_info : nullptr).run());
    if (line_info) line_info->finish();
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(*module_, &stream))
      internal_error("LLVM refuses the module: " + broken, __FILE__, __LINE__);
  }

  std::string text() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_->print(stream, nullptr);
    return text;
  }

  Compiled emit() {
    llvm::TargetMachine& machine = target_machine(options_);
    {
      llvm::LoopAnalysisManager loops;
      llvm::FunctionAnalysisManager functions;
      llvm::CGSCCAnalysisManager sccs;
      llvm::ModuleAnalysisManager modules;
      llvm::PassBuilder builder(&machine);
      builder.registerModuleAnalyses(modules);
      builder.registerCGSCCAnalyses(sccs);
      builder.registerFunctionAnalyses(functions);
      builder.registerLoopAnalyses(loops);
      builder.crossRegisterProxies(loops, functions, sccs, modules);
      llvm::ModulePassManager passes;
      llvm::cantFail(builder.parsePassPipeline(passes, kPasses));
      passes.run(*module_, modules);
    }
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    bool refused =
        machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile, true);
    TENON_CHECK(!refused, "LLVM cannot write assembly for NVPTX");
    passes.run(*module_);
    compiled_.ptx = text.str().str();
    compiled_.skipped_passes = gate_.skipped();
    if (options_.line_info != nullptr) drop_empty_section(compiled_.ptx);
    return std::move(compiled_);
  }

 private:
  const Options& options_;
  SkipPasses gate_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  Compiled compiled_;
};

}  // namespace

std::string entry_name(const std::string& launch) {
  std::string name = launch;
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  return name;
}

Result<Compiled> compile(ir::TileModule& module, const Options& options) {
  DoingScope doing("code generation of " + module.name);
  return Session(module, options).emit();
}

Result<std::string> to_llvm_text(ir::TileModule& module, const Options& options) {
  DoingScope doing("code generation of " + module.name);
  return Session(module, options).text();
}

void warm_up() {
  ir::Kernel nothing;
  ir::TileModule module = ir::make_tile_module(nothing, "warm_up");
  ir::TileKernel kernel;
  kernel.name = "warm_up";
  kernel.body = module.regions.add({});
  module.kernels.push_back(kernel);
  ir::TileBuilder(module, kernel.body).yield({});
  Options options;
  options.target = &targets().front();
  static_cast<void>(compile(module, options));
}

}  // namespace tenon::codegen
