// A kernel held against its meaning: compiled, run on the emulated device, and compared with the reference
// interpreter, which ran the checker's output before any pass saw it. The only tolerance is the interpreter's
// bounds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/compiler.h"
#include "emulator/driver_api.h"
#include "ir/interpreter.h"
#include "runtime/binding.h"
#include "runtime/device.h"
#include "runtime/host_launch.h"
#include "runtime/loaded_program.h"
#include "support/array.h"
#include "support/source.h"

namespace tenon::conformance {

// The values of a kernel's symbols, dimensions and index scalars, by name.
using Sizes = std::map<std::string, int64_t>;

// "M = 3, N = 4".
std::string to_text(const Sizes& sizes);

// A source file and the kernels in it, as the checker gives them.
class SourceProgram {
 public:
  SourceProgram(std::string name, std::string text, const frontend::CheckOptions& options);

  const SourceManager& sources() const { return sources_; }
  const std::vector<ir::Kernel>& kernels() const { return checked_.module.kernels; }
  // The kernel of that name; null if the file has none that checks.
  const ir::Kernel* kernel(std::string_view name) const;
  // What the checker said, as a terminal shows it; empty if it had no objection.
  const std::string& complaints() const { return complaints_; }

 private:
  SourceManager sources_;
  frontend::CheckResult checked_;
  std::string complaints_;
};

// Reads a file of the repository, by its path from the root.
std::string read_text(const std::string& path);

// An emulated device, opened through the driver table. One lives at a time.
class Machine {
 public:
  explicit Machine(unsigned sm = 80);

  const std::shared_ptr<runtime::Device>& device() const { return device_; }
  std::vector<emulator::LaunchReport> take_reports() { return installation_->take_reports(); }

 private:
  std::unique_ptr<emulator::Installation> installation_;
  std::shared_ptr<runtime::Device> device_;
};

enum class Fill : uint8_t {
  kRandom,
  // Integers in -4..4: any order of a sum gives the same bits.
  kSmallIntegers,
};

// Inputs and what a right program makes of them.
struct Case {
  Sizes sizes;
  Fill fill = Fill::kRandom;
  // By parameter; results are absent.
  std::vector<std::optional<Array>> inputs;
  std::vector<ir::BoundedArray> expected;
  std::string text;
};

struct Outcome {
  // Why the result is wrong, or the launch failed; empty if all is well.
  std::string failure;
  // The launch was refused, as a variant is whose guard does not hold.
  bool refused = false;
  int64_t elements = 0;
  // Elements of which the reference promises nothing.
  int64_t ambiguous = 0;
  // The variant of each step that ran.
  std::vector<uint32_t> variants = {};
  // By parameter, after the launch.
  std::vector<std::optional<Array>> arrays = {};
  std::vector<emulator::LaunchReport> reports = {};

  bool ok() const { return failure.empty() && !refused; }
};

class Subject {
 public:
  // `program` and `machine` outlive it. The target is sm_80 if `options` name none; every pass is verified.
  Subject(const SourceProgram& program, const ir::Kernel& kernel, Machine& machine,
          api::CompilerOptions options = {});

  const ir::Kernel& kernel() const { return reference_; }
  const runtime::Program& program() const { return compiled_->program(); }
  const api::CompiledKernel& compiled() const { return *compiled_; }
  // Whether small integers go through it exactly: there are no functions and no divisions.
  bool exact_on_integers() const { return exact_on_integers_; }

  // Whether the kernel's clauses hold and no shape is negative or too large.
  bool accepts(const Sizes& sizes) const { return bind(sizes).has_value(); }
  // By step, the variants whose guards hold for buffers at aligned addresses, the one that is chosen first;
  // nothing where the sizes are not accepted.
  std::vector<std::vector<uint32_t>> admitted_variants(const Sizes& sizes) const;

  // Empty where the sizes are not accepted. Parameters named in `given` have those values, the others are
  // filled by the seed.
  std::optional<Case> make_case(const Sizes& sizes, Fill fill, uint64_t seed,
                                const std::map<std::string, Array>& given = {}) const;
  Outcome run(const Case& trial, const runtime::HostLaunchOptions& options = {});
  // Runs the tensor kernel as the passes left it, by the interpreter. Returns how its results miss the
  // bounds;
  // "" where they do not.
  std::string check_tensor_stage(const Case& trial) const;
  // Runs the variants of an outcome that is ok by the tile interpreter. Returns how its results differ from
  // the device's in any bit (a NaN is any NaN); "" where they do not.
  std::string check_tile_stage(const Case& trial, const Outcome& device) const;

 private:
  struct Bound {
    runtime::Binding binding;
    // Buffers far from each other, aligned as a driver's are.
    std::vector<runtime::LaunchArgument> arguments;
  };
  std::optional<Bound> bind(const Sizes& sizes) const;
  std::vector<runtime::NamedSize> named_sizes(const Sizes& sizes) const;
  ir::Kernel reference_;
  Machine& machine_;
  std::shared_ptr<const api::CompiledKernel> compiled_;
  std::unique_ptr<runtime::LoadedProgram> loaded_;
  bool exact_on_integers_ = false;
};

}  // namespace tenon::conformance
