#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::Opcode;
using ir::TileValueId;

Emitter::Emitter(ir::TileModule& module, const ir::TileKernel& kernel, llvm::Module& llvm_module,
                 const Options& options, LineInfo* line_info)
    : module_(module),
      kernel_(kernel),
      llvm_module_(llvm_module),
      context_(llvm_module.getContext()),
      options_(options),
      line_info_(line_info),
      b_(context_) {}

int32_t Emitter::register_count(TileValueId value) const {
  const ir::TileType& type = module_.values[value].type;
  if (type.axes.empty()) return 1;
  TENON_CHECK(type.layout.has_value(), "a tile has no layout");
  return type.layout->register_count();
}

llvm::Value* Emitter::value_at(TileValueId value, const ir::TileType& at, int32_t reg) {
  const ir::TileType& type = module_.values[value].type;
  if (type.axes.empty()) return register_of(value, 0);
  if (type.axes == at.axes) {
    TENON_CHECK(type.layout == at.layout, "two tiles meet in different layouts");
    return register_of(value, reg);
  }
  TENON_CHECK(*type.layout == at.layout->project(type.axes), "a tile is not in the projected layout");
  const ir::Layout* layout = canonical(*at.layout);
  auto key = std::pair(layout, type.axes);
  auto found = projections_.find(key);
  if (found == projections_.end())
    found = projections_.emplace(key, layout->projected_registers(type.axes)).first;
  return register_of(value, found->second[reg]);
}

llvm::Value* Emitter::register_of(TileValueId value, int32_t reg) {
  if (ir::IndexId index = index_of(value); index.valid()) {
    const ir::TileType& type = module_.values[value].type;
    const ir::Layout* layout = type.layout ? canonical(*type.layout) : nullptr;
    return to_type(emit_index(index, layout, reg), b_.getInt64Ty());
  }
  TENON_CHECK(!values_[value].empty(), "a tile is used before it is computed");
  return values_[value][reg];
}

void Emitter::set(TileValueId value, Registers registers) {
  auto [begin, end] = emitted_now(register_count(value));
  TENON_CHECK(static_cast<int32_t>(registers.size()) == end - begin, "a tile has the wrong registers");
  if (begin == 0) {
    values_[value] = std::move(registers);
  } else {
    values_[value].insert(values_[value].end(), registers.begin(), registers.end());
  }
}

ir::IndexId Emitter::index_of(TileValueId value) const {
  ir::TileOpId definition = module_.values[value].definition;
  if (!definition.valid() || module_.ops[definition].op != Opcode::kIndex) return {};
  return module_.ops[definition].index;
}

llvm::Type* Emitter::type_of(ElementType element) {
  switch (element) {
    case ElementType::kF64:
      return b_.getDoubleTy();
    case ElementType::kF32:
      return b_.getFloatTy();
    case ElementType::kF16:
      return b_.getHalfTy();
    case ElementType::kBF16:
      return b_.getBFloatTy();
    case ElementType::kBool:
      return b_.getInt1Ty();
    default:
      return b_.getIntNTy(bit_width(element));
  }
}

llvm::Type* Emitter::memory_type(ElementType element) {
  return element == ElementType::kBool ? b_.getInt8Ty() : type_of(element);
}

llvm::Constant* Emitter::constant(ElementType element, uint64_t bits) {
  llvm::Type* type = type_of(element);
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(
        type, llvm::APInt(bit_width(element), bits).zextOrTrunc(type->getIntegerBitWidth()));
  return llvm::ConstantFP::get(context_,
                               llvm::APFloat(type->getFltSemantics(), llvm::APInt(bit_width(element), bits)));
}

const ir::Layout* Emitter::canonical(const ir::Layout& layout) {
  for (const auto& known : layouts_)
    if (*known == layout) return known.get();
  layouts_.push_back(std::make_unique<ir::Layout>(layout));
  return layouts_.back().get();
}

llvm::Value* Emitter::argument(const EntryArgument& what, llvm::Type* type) {
  for (const auto& [known, value] : arguments_) {
    if (known.kind == what.kind && known.tensor == what.tensor && known.index == what.index &&
        known.bytes == what.bytes)
      return value.get();
  }
  arguments_.emplace_back(what, std::make_unique<llvm::Argument>(type));
  return arguments_.back().second.get();
}

llvm::Value* Emitter::intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Value*> operands) {
  return b_.CreateIntrinsic(id, {}, llvm::ArrayRef<llvm::Value*>(operands.begin(), operands.size()));
}

}  // namespace tenon::codegen
