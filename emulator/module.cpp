#include "emulator/module.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/decoder.h"
#include "emulator/parser.h"

namespace tenon::emulator {
namespace {

Result<void> check_target(const PtxModule& ptx, unsigned sm) {
  // sm_90a code runs on sm_90 alone, sm_100f code on its family.
  const bool exact = ptx.target_suffix == "a";
  if (exact ? ptx.target_sm == sm : ptx.target_sm <= sm) return {};
  return fail(ErrorKind::kDevice, fmt::format("the module is for sm_{}{}, the emulated device is sm_{}",
                                              ptx.target_sm, ptx.target_suffix, sm));
}

bool in_global_memory(const Variable& variable) {
  return variable.space == StateSpace::kGlobal || variable.space == StateSpace::kConst;
}

uint64_t element_bits(const InitialValue& value, PtxType type) {
  if (value.kind == TokenKind::kFloat64 && type == PtxType::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
  }
  if (value.kind == TokenKind::kFloat32 && type == PtxType::kF64) {
    return std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value.bits))));
  }
  return value.bits;
}

}  // namespace

Module::~Module() {
  for (const auto& [name, variable] : variables_) {
    // It cannot fail: the module owns them.
    static_cast<void>(memory_->free(variable.address));
  }
}

Result<std::shared_ptr<Module>> Module::load(std::string text, unsigned sm,
                                             std::shared_ptr<GlobalMemory> memory, uint64_t parameter_address,
                                             InstructionSet instruction_set) {
  TENON_TRY_ASSIGN(const PtxModule ptx, parse_ptx(std::move(text)));
  TENON_TRY(check_target(ptx, sm));
  std::shared_ptr<Module> module(new Module(std::move(memory)));
  TENON_TRY(module->place_variables(ptx));
  TENON_TRY(module->initialise_variables(ptx));
  std::map<std::string_view, uint64_t> addresses;
  for (const auto& [name, variable] : module->variables_) addresses[name] = variable.address;
  DecodeContext context;
  context.module = &ptx;
  context.addresses = &addresses;
  context.parameter_address = parameter_address;
  context.lane_ops = lane_ops(instruction_set);
  for (const Function& function : ptx.functions) {
    if (!function.is_entry || !function.has_body) continue;
    TENON_TRY_ASSIGN(Program program, Decoder(context).run(function));
    module->kernels_.push_back(std::make_unique<const Program>(std::move(program)));
  }
  return module;
}

Result<void> Module::place_variables(const PtxModule& ptx) {
  for (const Variable& variable : ptx.variables) {
    if (!in_global_memory(variable)) continue;
    const std::string name(variable.name);
    if (variables_.contains(name)) {
      return std::unexpected(ptx_error(variable.position, fmt::format("'{}' is declared twice", name)));
    }
    if (variable.external) {
      return std::unexpected(
          ptx_error(variable.position, fmt::format("the module does not define '{}'", name)));
    }
    TENON_TRY_ASSIGN(const DeviceAddress address,
                     memory_->allocate(variable.bytes(), name, variable.space == StateSpace::kConst));
    variables_[name] = {address, variable.bytes()};
  }
  return {};
}

// Variables without an initialiser are zero, by the PTX ISA.
Result<void> Module::initialise_variables(const PtxModule& ptx) {
  for (const Variable& variable : ptx.variables) {
    if (!in_global_memory(variable) || variable.bytes() == 0) continue;
    const unsigned size = byte_size(variable.type);
    std::vector<std::byte> bytes(variable.bytes());
    for (size_t i = 0; i < variable.initialiser.size(); ++i) {
      const InitialValue& value = variable.initialiser[i];
      uint64_t bits = element_bits(value, variable.type);
      if (value.kind == TokenKind::kIdentifier) {
        const auto found = variables_.find(value.symbol);
        if (found == variables_.end()) {
          return std::unexpected(
              ptx_error(value.position, fmt::format("unknown variable '{}'", value.symbol)));
        }
        bits += found->second.address;
      }
      std::memcpy(bytes.data() + i * size, &bits, std::min<size_t>(size, sizeof bits));
    }
    memory_->initialise(variables_.find(variable.name)->second.address, bytes.data(), bytes.size());
  }
  return {};
}

const Program* Module::kernel(std::string_view name) const {
  for (const auto& kernel : kernels_) {
    if (kernel->name == name) return kernel.get();
  }
  return nullptr;
}

Result<std::pair<DeviceAddress, uint64_t>> Module::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end())
    return fail(ErrorKind::kUsage, fmt::format("the module has no variable '{}'", name));
  return std::pair(found->second.address, found->second.bytes);
}

}  // namespace tenon::emulator
