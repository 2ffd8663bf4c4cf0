#include "runtime/loaded_program.h"

#include <fmt/format.h>

#include <utility>

#include "support/targets.h"

namespace tenon::runtime {
namespace {

// PTX for sm_80 runs on every later device; that for sm_90a on sm_90 alone.
bool runs_on(const Target& target, unsigned capability) {
  return target.name.ends_with('a') ? capability == target.sm : capability >= target.sm;
}

Result<void> check_target(const Program& program, const DeviceProperties& device) {
  const Target* target = target_by_name(program.target);
  if (runs_on(*target, device.capability)) return {};
  return fail(ErrorKind::kDevice, fmt::format("kernel `{}` is compiled for {}, but {} is sm_{}", program.name,
                                              program.target, device.name, device.capability));
}

}  // namespace

Result<std::unique_ptr<LoadedProgram>> LoadedProgram::create(std::shared_ptr<Device> device,
                                                             std::shared_ptr<const Program> program,
                                                             VariantSource source) {
  TENON_TRY(verify(*program));
  TENON_TRY(check_target(*program, device->properties()));
  return std::unique_ptr<LoadedProgram>(
      new LoadedProgram(std::move(device), std::move(program), std::move(source)));
}

LoadedProgram::LoadedProgram(std::shared_ptr<Device> device, std::shared_ptr<const Program> program,
                             VariantSource source)
    : device_(std::move(device)), program_(std::move(program)), source_(std::move(source)) {
  for (const Step& step : program_->steps) slots_.emplace_back(step.variants.size());
}

Result<LoadedVariant*> LoadedProgram::variant(uint32_t step, uint32_t index) {
  Slot& slot = slots_[step][index];
  if (LoadedVariant* ready = slot.ready.load(std::memory_order_acquire)) return ready;
  std::lock_guard lock(slot.mutex);
  if (slot.variant == nullptr) {
    TENON_TRY_ASSIGN(slot.variant, load(step, index));
    slot.ready.store(slot.variant.get(), std::memory_order_release);
  }
  return slot.variant.get();
}

Result<std::unique_ptr<LoadedVariant>> LoadedProgram::load(uint32_t step, uint32_t index) {
  auto loaded = std::make_unique<LoadedVariant>();
  TENON_TRY_ASSIGN(loaded->code, lowered(step, index));
  std::string what =
      fmt::format("variant {} of kernel `{}`", program_->steps[step].variants[index].name, program_->name);
  TENON_TRY_ASSIGN(loaded->module, Module::load(*device_, loaded->code.ptx, what));
  loaded->entries = std::vector<LoadedVariant::Entry>(loaded->code.launches.size());
  for (size_t i = 0; i < loaded->entries.size(); ++i) {
    TENON_TRY_ASSIGN(loaded->entries[i].function, loaded->module.function(loaded->code.launches[i].entry));
  }
  return loaded;
}

Result<LoweredVariant> LoadedProgram::lowered(uint32_t step, uint32_t index) const {
  const Variant& variant = program_->steps[step].variants[index];
  if (variant.code) return *variant.code;
  if (!source_)
    return fail(ErrorKind::kMachine,
                fmt::format("kernel `{}` comes without variant {}, and there is no compiler to ask",
                            program_->name, variant.name));
  TENON_TRY_ASSIGN(LoweredVariant code, source_(step, index));
  TENON_TRY(verify(code, *program_));
  return code;
}

}  // namespace tenon::runtime
