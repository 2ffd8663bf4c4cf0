// The C++ interface of Tenon: compile a kernel from source text, look at it, run it on host arrays, launch it
// on device pointers. C++17, no other header needed. Nothing is thrown but std::bad_alloc. Everything is
// thread-safe: several threads may use one Kernel or Device at the same time, and what says otherwise is
// marked.
//
//   tenon::Expected<tenon::Kernel> kernel = tenon::Kernel::compile(R"(
//     kernel axpy(a: f32, x: f32[N], y: f32[N]) -> (z: f32[N]) { z[i] = a * x[i] + y[i] }
//   )");
//   if (!kernel) return report(kernel.failure().message);
//   tenon::Expected<tenon::Device> device = tenon::Device::open();
//   tenon::Status done = kernel->run(*device, {{"a", tenon::Scalar(2.5f)},
//                                              {"x", tenon::HostTensor(x.data(), {n})},
//                                              {"y", tenon::HostTensor(y.data(), {n})},
//                                              {"z", tenon::HostTensor(z.data(), {n})}});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define TENON_API __attribute__((visibility("default")))

// Of this header. What is written for one minor version need not compile or run with another.
#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0

namespace tenon {

// Of the library that is loaded: "0.1.0".
TENON_API std::string_view version();

// The element types of the language, in its order. A bool takes a byte; index is a signed 64-bit integer.
enum class DataType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  kIndex,
};

// "f32", "bf16", "index".
TENON_API std::string_view name(DataType type);
// Bytes of one element.
TENON_API size_t byte_size(DataType type);

// The data type that has the layout of a C++ type. f16, bf16 and f8 have no C++ type: name them.
template <class T>
constexpr DataType data_type_of() {
  static_assert(std::is_arithmetic_v<T>, "only arithmetic types have a data type; name it for others");
  if constexpr (std::is_same_v<T, bool>) return DataType::kBool;
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "float and double only");
    return sizeof(T) == 8 ? DataType::kF64 : DataType::kF32;
  }
  constexpr DataType kFirst = std::is_signed_v<T> ? DataType::kI64 : DataType::kU64;
  constexpr int kNarrower = sizeof(T) == 8 ? 0 : sizeof(T) == 4 ? 1 : sizeof(T) == 2 ? 2 : 3;
  return static_cast<DataType>(static_cast<int>(kFirst) + kNarrower);
}

// What went wrong, by who can do something about it.
enum class FailureKind : uint8_t {
  // The program has mistakes; Failure::messages lists them.
  kProgram,
  // The call makes no sense: an unknown kernel, parameter or size name.
  kUsage,
  // The arguments do not fit the kernel: a rank, type, size, clause, alignment or overlap.
  kRefused,
  // The driver or the device failed. After an illegal address and the like the device is lost; later calls
  // say so.
  kDevice,
  // Out of memory, or a missing file.
  kMachine,
};

enum class MessageSeverity : uint8_t { kError, kWarning, kRemark };

// One mistake, warning or remark about a program.
struct Message {
  MessageSeverity severity = MessageSeverity::kError;
  // Stable, as "E0301".
  std::string code;
  std::string text;
  // Where: the name given at compilation, and one-based line and column in code points; line 0 where there is
  // no place.
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  // As a terminal shows it, with the source line, a caret range, labels, notes and fixes.
  std::string rendered;
};

struct Failure {
  FailureKind kind = FailureKind::kMachine;
  // Complete by itself; several lines where there is more to say, without a newline at the end.
  std::string message;
  std::vector<Message> messages;
};

// A value, or why there is none. Asking for the one that is not there ends the process.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return *require(std::get_if<0>(&state_)); }
  const T& value() const& { return *require(std::get_if<0>(&state_)); }
  T&& value() && { return std::move(*require(std::get_if<0>(&state_))); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Failure& failure() const { return *require(std::get_if<1>(&state_)); }

 private:
  template <class Pointer>
  static Pointer require(Pointer pointer) {
    if (pointer == nullptr) std::abort();
    return pointer;
  }

  std::variant<T, Failure> state_;
};

// Success holds a std::monostate.
using Status = Expected<std::monostate>;

// Elements an axis; empty for a scalar.
using Shape = std::vector<int64_t>;

struct NamedValue {
  std::string name;
  int64_t value = 0;
};
struct NamedType {
  std::string name;
  DataType type = DataType::kF32;
};

struct CompileOptions {
  // The kernel of the source to compile; may be empty where there is only one.
  std::string kernel;
  // "sm_80", "sm_90a", ...; empty: sm_80, which runs on every later device.
  std::string target;
  // What each generic stands for (T = f16). All must be given.
  std::vector<NamedType> types;
  // Dimensions fixed in the compiled kernel (N = 4096), and every `dim` generic.
  std::vector<NamedValue> sizes;
  // What is said about schedules, as VariantInfo::schedule does (`k = serial repeat(32)`); the rest is
  // chosen.
  std::string schedule;
  // Source lines in the PTX, for profilers and debuggers.
  bool line_info = false;
  // What messages call the source text.
  std::string file_name = "<string>";
};

enum class ParameterRole : uint8_t { kInput, kResult, kInout };

struct ParameterInfo {
  std::string name;
  DataType type = DataType::kF32;
  ParameterRole role = ParameterRole::kInput;
  size_t rank = 0;
  // As in the source: "x: f32[M, N]".
  std::string source;
  // The extent of each axis as text: "N", "2*N + 1", "64".
  std::vector<std::string> shape;
  // A scalar input, passed as a Scalar. Every other parameter is a tensor, of rank 0 perhaps.
  bool by_value = false;
};

struct SizeInfo {
  std::string name;
  // Fixed when compiling.
  std::optional<int64_t> fixed;
  // Stands alone on an axis of some parameter, whose shape then gives it; otherwise LaunchOptions::sizes
  // must.
  bool bound_by_shape = true;
};

struct VariantInfo {
  std::string name;
  // When it is taken: "N % 4 == 0 && x on 16 bytes", or "always".
  std::string guard;
  // The choices behind it: tile sizes, what each thread does.
  std::string schedule;
};

struct StepInfo {
  std::string name;
  // In order of preference; the last takes whatever the conditions let through.
  std::vector<VariantInfo> variants;
  // What was decided and why, for people.
  std::vector<std::string> remarks;
};

// The value of a scalar parameter.
class Scalar {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit Scalar(T value) : Scalar(&value, data_type_of<T>()) {}
  // From byte_size(type) bytes, for the types that C++ does not have.
  Scalar(const void* value, DataType type) : type_(type) {
    std::memcpy(bytes_.data(), value, byte_size(type));
  }

  DataType type() const { return type_; }
  const unsigned char* bytes() const { return bytes_.data(); }

 private:
  DataType type_;
  std::array<unsigned char, 8> bytes_{};
};

// A contiguous row-major tensor in the host's memory, not owned. One made from a pointer to const is for
// inputs only.
class HostTensor {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  HostTensor(T* data, Shape shape)
      : HostTensor(data, data_type_of<std::remove_const_t<T>>(), std::move(shape)) {}
  HostTensor(void* data, DataType type, Shape shape)
      : data_(data), writable_(data), type_(type), shape_(std::move(shape)) {}
  HostTensor(const void* data, DataType type, Shape shape)
      : data_(data), type_(type), shape_(std::move(shape)) {}

  const void* data() const { return data_; }
  // Null for a tensor that is for inputs only.
  void* writable() const { return writable_; }
  DataType type() const { return type_; }
  const Shape& shape() const { return shape_; }

 private:
  const void* data_;
  void* writable_ = nullptr;
  DataType type_;
  Shape shape_;
};

// A contiguous row-major tensor in a device's memory, not owned. `address` is a CUdeviceptr.
struct DeviceTensor {
  uint64_t address = 0;
  DataType type = DataType::kF32;
  Shape shape;
};

// An argument by the name of its parameter; their order does not matter.
struct HostArgument {
  std::string name;
  std::variant<HostTensor, Scalar> value;
};
struct DeviceArgument {
  std::string name;
  std::variant<DeviceTensor, Scalar> value;
};

struct LaunchOptions {
  // Dimensions that no shape gives.
  std::vector<NamedValue> sizes;
  // A CUstream of the device's primary context (a cudaStream_t is one); null is the null stream.
  void* stream = nullptr;
  // Scratch memory on the device, of at least Kernel::workspace_bytes, at a multiple of 256, that nothing
  // else uses until the launch is done. 0: Tenon keeps its own for each stream.
  uint64_t workspace = 0;
  size_t workspace_bytes = 0;
};

// A GPU, or an emulated device. A handle: copies mean the same device. Memory and streams are the primary
// context's, which a process has once for each GPU, and once for each target emulated.
class TENON_API Device {
 public:
  // GPU 0 where the driver finds one, else the emulated device.
  static Expected<Device> open();
  // A GPU, through libcuda.so.1.
  static Expected<Device> cuda(int ordinal = 0);
  // The emulated device, as a GPU of `target` would be. Runs PTX on the host's cores and checks every access.
  static Expected<Device> emulated(std::string_view target = "sm_80");

  const std::string& name() const;
  // "sm_80": the target to compile for.
  const std::string& target() const;
  bool is_emulated() const;

  // Memory of the device, for hosts that have no allocator of their own. Not initialised; 0 bytes give
  // address 0.
  Expected<uint64_t> allocate(size_t bytes);
  Status release(uint64_t address);
  Status copy_to_device(uint64_t to, const void* from, size_t bytes);
  Status copy_to_host(void* to, uint64_t from, size_t bytes);
  // Waits for all launches; a fault in one comes back here.
  Status synchronize();

  // What the checks of the emulated devices of this process found since the last call, each as text: which
  // kernel and thread, what it did, and to which memory. Empty for a GPU.
  std::vector<std::string> take_faults();

  // A CUstream that does not wait for the null stream, for hosts that have none of their own.
  Expected<void*> create_stream();
  // For streams of create_stream alone.
  Status destroy_stream(void* stream);
  // Waits for the device and frees the scratch memory kept for launches on `stream`, on which nobody launches
  // meanwhile. Call it before a stream of your own is destroyed; destroy_stream does.
  void release_workspace(void* stream);

  struct Impl;
  explicit Device(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl>& impl() const;

 private:
  std::shared_ptr<Impl> impl_;
};

// A compiled kernel for one target. A handle: copies mean the same kernel. Variants are compiled when a
// launch first takes them, and kept. Dropping the last handle waits for the devices it was launched on.
class TENON_API Kernel {
 public:
  // All mistakes of the program come back at once, in Failure::messages.
  static Expected<Kernel> compile(std::string_view source, const CompileOptions& options = {});

  const std::string& name() const;
  const std::string& target() const;
  // In source order, results last.
  const std::vector<ParameterInfo>& parameters() const;
  const std::vector<SizeInfo>& sizes() const;
  // The `where` clauses and implicit checks that a launch must meet, as source text.
  const std::vector<std::string>& conditions() const;
  const std::vector<StepInfo>& steps() const;
  // Warnings and remarks of the compilation.
  const std::vector<Message>& messages() const;

  // The PTX of every variant that a launch can reach. Its comments tell how to launch it by hand.
  Expected<std::string> ptx() const;
  // The program record as JSON: sizes, clauses, steps, variants, guards, launches, PTX.
  Expected<std::string> record() const;

  // The shapes of the results, in order, for these arguments; only their shapes, types and scalars matter,
  // and results may be left out.
  Expected<std::vector<Shape>> result_shapes(const std::vector<HostArgument>& arguments,
                                             const LaunchOptions& options = {}) const;
  Expected<std::vector<Shape>> result_shapes(const std::vector<DeviceArgument>& arguments,
                                             const LaunchOptions& options = {}) const;

  // Copies the inputs to the device, runs the kernel on the null stream, waits for the device, and copies
  // results and inouts back; on failure those may hold anything. Checks all that a launch checks, on the
  // host's addresses. Of the options only the sizes are used.
  Status run(Device device, const std::vector<HostArgument>& arguments,
             const LaunchOptions& options = {}) const;

  // Starts the kernel on the stream and returns; a fault while it runs comes back from a later call. Refused
  // with a message: arguments of a wrong rank or type, sizes that do not agree, a clause that does not hold,
  // misaligned or null buffers, a result that overlaps another parameter.
  Status launch(Device device, const std::vector<DeviceArgument>& arguments,
                const LaunchOptions& options = {}) const;

  // Compiles every variant and loads it on the device now, so that no launch waits for that.
  Status warm_up(Device device) const;

  // Bytes of scratch memory that such a launch needs.
  Expected<size_t> workspace_bytes(Device device, const std::vector<DeviceArgument>& arguments,
                                   const LaunchOptions& options = {}) const;

  struct Impl;
  explicit Kernel(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tenon
