#include "bench/common/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace tenon::bench {

// The prototypes of nvrtc.h; programs are opaque, results are 0 on success.
struct Nvrtc::Functions {
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(void** program, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(void** program) = nullptr;
  int (*compile)(void* program, int options, const char* const* texts) = nullptr;
  int (*ptx_size)(void* program, size_t* bytes) = nullptr;
  int (*ptx)(void* program, char* text) = nullptr;
  int (*log_size)(void* program, size_t* bytes) = nullptr;
  int (*log)(void* program, char* text) = nullptr;
};

namespace {

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                      "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12",
                                      "/usr/local/cuda/lib64/libnvrtc.so"};

// Versions before it have no cache to turn off.
constexpr int kFirstWithNoCache = 129;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void* open_library() {
  for (const char* name : kLibraries)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

}  // namespace

Result<Nvrtc> Nvrtc::open() {
  void* library = open_library();
  if (library == nullptr) return fail(ErrorKind::kMachine, "this machine has no libnvrtc");
  auto functions = std::make_unique<Functions>();
  bool found = find(library, "nvrtcVersion", functions->version) &&
               find(library, "nvrtcCreateProgram", functions->create) &&
               find(library, "nvrtcDestroyProgram", functions->destroy) &&
               find(library, "nvrtcCompileProgram", functions->compile) &&
               find(library, "nvrtcGetPTXSize", functions->ptx_size) &&
               find(library, "nvrtcGetPTX", functions->ptx) &&
               find(library, "nvrtcGetProgramLogSize", functions->log_size) &&
               find(library, "nvrtcGetProgramLog", functions->log);
  if (!found) return fail(ErrorKind::kMachine, "libnvrtc lacks a function that every version has");
  Nvrtc nvrtc;
  functions->version(&nvrtc.major_, &nvrtc.minor_);
  nvrtc.functions_ = functions.release();
  return nvrtc;
}

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_, minor_); }

Result<std::string> Nvrtc::compile(const std::string& source, const std::vector<std::string>& defines) const {
  std::vector<std::string> options = {"-arch=compute_80", "-default-device"};
  if (major_ * 10 + minor_ >= kFirstWithNoCache) options.emplace_back("-no-cache");
  for (const std::string& define : defines) options.push_back("-D" + define);
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());

  void* program = nullptr;
  if (functions_->create(&program, source.c_str(), "peer.cu", 0, nullptr, nullptr) != 0)
    return fail(ErrorKind::kMachine, "NVRTC creates no program");
  bool ok = functions_->compile(program, static_cast<int>(texts.size()), texts.data()) == 0;
  size_t bytes = 0;
  (ok ? functions_->ptx_size : functions_->log_size)(program, &bytes);
  std::string text(bytes, '\0');
  (ok ? functions_->ptx : functions_->log)(program, text.data());
  functions_->destroy(&program);
  while (text.ends_with('\0')) text.pop_back();
  if (!ok) return fail(ErrorKind::kUsage, "NVRTC refuses the peer:\n" + text);
  return text;
}

}  // namespace tenon::bench
