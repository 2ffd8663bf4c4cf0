#include <fmt/format.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/device.h"
#include "emulator/parser.h"
#include "support/diagnostics.h"
#include "support/file.h"
#include "support/targets.h"
#include "tools/array_files.h"
#include "tools/choice.h"
#include "tools/command.h"
#include "tools/kernel_argument.h"

namespace tenon::tools {
namespace {

using Extents = std::array<uint32_t, 3>;

constexpr uint64_t kMostPtxBytes = uint64_t{256} << 20;

struct Options {
  std::string path;
  std::string kernel;
  std::string grid = "1";
  std::string block = "1";
  uint64_t shared_bytes = 0;
  std::vector<std::string> arguments;
  uint64_t seed = 0;
  std::string arch;
  unsigned threads = 0;
  std::string report;
  bool instructions = false;
  bool quiet = false;
};

// A buffer of the kernel on the device, or a scalar's place on the host.
struct Placed {
  KernelArgument argument;
  emulator::DeviceAddress address = 0;

  const void* value() const {
    return argument.by_value ? argument.array.bytes().data() : static_cast<const void*>(&address);
  }
  size_t value_bytes() const { return argument.by_value ? argument.array.bytes().size() : sizeof address; }
};

// "x,y,z"; what is left out is 1.
Result<Extents> parse_extents(std::string_view option, std::string_view text) {
  Extents extents = {1, 1, 1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (uint32_t& extent : extents) {
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent == 0) break;
    if (next == end) return extents;
    if (*next != ',') break;
    at = next + 1;
  }
  return fail(ErrorKind::kUsage, fmt::format("{} {}: expected one to three positive numbers, as in {} 64,2",
                                             option, text, option));
}

// The compute capability that a module asks for, or what `--arch` says.
Result<unsigned> capability_of(const std::string& ptx, const std::string& arch) {
  if (const Target* target = target_by_name(arch)) return target->sm;
  TENON_TRY_ASSIGN(emulator::PtxModule module, emulator::parse_ptx(ptx));
  const Target* target = target_for_capability(std::max(module.target_sm, 80u));
  return target != nullptr && module.target_sm <= target->sm ? target->sm : module.target_sm;
}

Result<const emulator::Program*> find_kernel(const emulator::Module& module, const std::string& name) {
  if (const emulator::Program* kernel = module.kernel(name)) return kernel;
  if (name.empty() && module.kernels().size() == 1) return module.kernels().front().get();
  std::vector<std::string_view> names;
  std::string list;
  for (const auto& kernel : module.kernels()) {
    names.push_back(kernel->name);
    list += (list.empty() ? "" : ", ") + kernel->name;
  }
  if (name.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("--kernel is missing; the module has {}", list.empty() ? "none" : list));
  std::string_view close = did_you_mean(name, names);
  return fail(ErrorKind::kUsage,
              fmt::format("the module has no kernel {}; {}", name,
                          close.empty() ? fmt::format("it has {}", list.empty() ? "none" : list)
                                        : fmt::format("did you mean {}?", close)));
}

Result<std::vector<Placed>> place_arguments(emulator::Device& device, const Options& options) {
  std::vector<Placed> placed;
  for (size_t i = 0; i < options.arguments.size(); ++i) {
    TENON_TRY_ASSIGN(KernelArgument argument, make_kernel_argument(options.arguments[i], i, options.seed));
    emulator::DeviceAddress address = 0;
    if (!argument.by_value) {
      std::span<const std::byte> bytes = std::as_const(argument.array).bytes();
      TENON_TRY_ASSIGN(address, device.allocate(bytes.size(), fmt::format("argument {}", i)));
      TENON_TRY(device.write(address, bytes.data(), bytes.size()));
    }
    placed.push_back({std::move(argument), address});
  }
  return placed;
}

// A value of the wrong width would be read wrongly, without a word.
Result<void> check_widths(const emulator::Program& kernel, const std::vector<Placed>& placed) {
  if (placed.size() != kernel.parameters.size())
    return fail(ErrorKind::kUsage, fmt::format("{} takes {} arguments, {} are given by --arg", kernel.name,
                                               kernel.parameters.size(), placed.size()));
  for (size_t i = 0; i < placed.size(); ++i)
    if (placed[i].value_bytes() != kernel.parameters[i].bytes)
      return fail(ErrorKind::kUsage,
                  fmt::format("argument {} of {} takes {} bytes, the one given has {}", i, kernel.name,
                              kernel.parameters[i].bytes, placed[i].value_bytes()));
  return {};
}

Result<void> write_outputs(emulator::Device& device, std::vector<Placed>& placed) {
  std::vector<OutputFile> files;
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].argument.output.empty()) continue;
    Array& array = placed[i].argument.array;
    TENON_TRY(device.read(array.bytes().data(), placed[i].address, array.bytes().size()));
    files.push_back({placed[i].argument.output, fmt::format("argument{}", i), &array});
  }
  return write_arrays(files);
}

Result<ExitStatus> emulate(const Options& options) {
  TENON_TRY_ASSIGN(Extents grid, parse_extents("--grid", options.grid));
  TENON_TRY_ASSIGN(Extents block, parse_extents("--block", options.block));
  TENON_TRY_ASSIGN(std::string ptx, read_file(options.path, kMostPtxBytes));
  TENON_TRY_ASSIGN(unsigned capability, capability_of(ptx, options.arch));
  emulator::Device device({.sm = capability, .threads = options.threads});
  TENON_TRY_ASSIGN(std::shared_ptr<emulator::Module> module, device.load_module(std::move(ptx)));
  TENON_TRY_ASSIGN(const emulator::Program* kernel, find_kernel(*module, options.kernel));
  TENON_TRY_ASSIGN(std::vector<Placed> placed, place_arguments(device, options));
  TENON_TRY(check_widths(*kernel, placed));
  std::vector<const void*> values;
  for (const Placed& argument : placed) values.push_back(argument.value());
  TENON_TRY_ASSIGN(
      emulator::LaunchReport report,
      device.launch(
          *kernel,
          {.grid = grid, .block = block, .dynamic_shared_bytes = options.shared_bytes, .arguments = values}));
  if (!options.report.empty())
    TENON_TRY(write_file(options.report, emulator::render_json(report, options.instructions)));
  if (!options.quiet) fmt::print("{}", emulator::render_text(report, options.instructions));
  if (!report.ok()) return kFailed;
  TENON_TRY(write_outputs(device, placed));
  return kOk;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.path, "The PTX module; - is the standard input")->required()->type_name("");
  app.add_option("--kernel", options.kernel, "The entry to launch; needed where there are several")
      ->type_name("NAME");
  app.add_option("--grid", options.grid, "Blocks, by default 1")->type_name("X[,Y[,Z]]")->group("Launch");
  app.add_option("--block", options.block, "Threads a block, by default 1")
      ->type_name("X[,Y[,Z]]")
      ->group("Launch");
  app.add_option("--shared", options.shared_bytes, "Dynamic shared memory a block")
      ->check(whole_number())
      ->type_name("BYTES")
      ->group("Launch");
  app.add_option("--arg", options.arguments, "One argument, in order; see below")
      ->type_name("ARGUMENT")
      ->allow_extra_args(false)
      ->group("Launch");
  app.add_option("--seed", options.seed, "Seed of random buffers")
      ->check(whole_number())
      ->type_name("N")
      ->group("Launch");
  std::vector<std::string> archs;
  for (const Target& target : targets()) archs.emplace_back(target.name);
  app.add_option("--arch", options.arch, "The device to emulate, by default the module's target")
      ->check(one_of(archs))
      ->type_name("ARCH")
      ->group("Device");
  app.add_option("--threads", options.threads, "Host threads, by default one a core")
      ->check(whole_number())
      ->type_name("N")
      ->group("Device");
  app.add_option("--report", options.report, "Write the report as JSON")->type_name("FILE")->group("Output");
  app.add_flag("--instructions", options.instructions, "Count every instruction in the report")
      ->group("Output");
  app.add_flag("--quiet", options.quiet, "Print no report")->group("Output");
}

}  // namespace

Command add_emulate(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("emulate", "Run a kernel of a PTX file on the emulated device, check and count");
  auto options = std::make_shared<Options>();
  add_options(*app, *options);
  app->footer(
      "Arguments:\n"
      "  in.npy               a buffer with the elements of a file\n"
      "  in.npy:out.npy       the same, written to out.npy afterwards\n"
      "  zeros:f32:32x64      a filled buffer; also ones, iota, random, integers, or a number\n"
      "  zeros:f32:64:y.npy   the same, written afterwards\n"
      "  f32:2.5              a value\n"
      "Example:\n"
      "  tenon emulate axpy.ptx --kernel axpy --grid 8 --block 128 \\\n"
      "    --arg f32:2.5 --arg x.npy --arg y.npy:z.npy --arg i32:1024\n"
      "Nothing is written where a check fails; the exit status is then 1.");
  return {app, [options] {
            Result<ExitStatus> status = emulate(*options);
            return status ? *status : failed(status.error());
          }};
}

}  // namespace tenon::tools
