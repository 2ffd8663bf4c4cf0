#include "ir/verifier_body.h"

#include <fmt/format.h>

#include <vector>

#include "ir/type_rules.h"

namespace tenon::ir {
namespace {

class BodyVerifier {
 public:
  BodyVerifier(const Body& body, const BodyContext& context) : body_(body), context_(context) {}

  void verify() {
    for (uint32_t i = 0; i < body_.size(); ++i) {
      at_ = ValueId(i);
      instruction(body_[at_]);
    }
  }

 private:
  void report(std::string message) { context_.report(at_, std::move(message)); }

  void instruction(const Instruction& instruction) {
    if (row(instruction.op).stage != Stage::kBody) return report("is no scalar operation");
    std::vector<ElementType> types;
    if (!operands(instruction, types)) return;
    if (auto error = type_error(instruction.op, types, instruction.type)) report(*error);
    leaf(instruction);
    unused_fields(instruction);
    if (instruction.approx && !context_.kernel.allows(kApprox))
      report("is approximate, which the kernel does not allow");
  }

  bool operands(const Instruction& instruction, std::vector<ElementType>& types) {
    bool ended = false;
    for (ValueId operand : instruction.operands) {
      if (!operand.valid()) {
        ended = true;
        continue;
      }
      if (ended) return report("has an operand behind a missing one"), false;
      if (operand >= at_)
        return report(fmt::format("uses %{}, which does not come before it", operand.index())), false;
      types.push_back(body_.type(operand));
    }
    return true;
  }

  void leaf(const Instruction& instruction) {
    switch (instruction.op) {
      case Opcode::kConst:
        return constant(instruction);
      case Opcode::kArg:
        return argument(instruction);
      case Opcode::kIndex:
        return expression(instruction.index);
      case Opcode::kRead:
        return read(instruction);
      default:
        return;
    }
  }

  void constant(const Instruction& instruction) {
    unsigned width = instruction.type == ElementType::kBool ? 1 : bit_width(instruction.type);
    if (width < 64 && instruction.bits >> width != 0)
      report(fmt::format("has bits {:#x}, more than {} has", instruction.bits, name(instruction.type)));
  }

  void argument(const Instruction& instruction) {
    if (context_.arguments.empty()) return report("stands outside a monoid");
    if (instruction.bits >= context_.arguments.size())
      return report(fmt::format("is argument {} of {}", instruction.bits, context_.arguments.size()));
    ElementType type = context_.arguments[instruction.bits];
    if (type != instruction.type)
      report(fmt::format("is {}, but the state has {} there", name(instruction.type), name(type)));
  }

  void expression(IndexId id) {
    if (!context_.has_axis) return report("stands in a monoid");
    std::string error = index_error(context_.kernel, id, context_.has_axis, &body_, at_.index());
    if (!error.empty()) report(error);
  }

  void read(const Instruction& instruction) {
    if (!context_.read_error) return report("stands in a monoid");
    const Store<Tensor>& tensors = context_.kernel.tensors;
    if (!instruction.tensor.valid() || instruction.tensor.index() >= tensors.size())
      return report("reads no tensor");
    const Tensor& tensor = tensors[instruction.tensor];
    if (std::string error = context_.read_error(instruction.tensor); !error.empty()) report(error);
    if (instruction.type != tensor.element)
      report(fmt::format("is {}, but %{} has {}", name(instruction.type), tensor.name, name(tensor.element)));
    if (instruction.subscripts.size() != tensor.shape.size())
      report(fmt::format("has {} subscripts, but %{} has {} dimensions", instruction.subscripts.size(),
                         tensor.name, tensor.shape.size()));
    for (IndexId subscript : instruction.subscripts) expression(subscript);
  }

  void unused_fields(const Instruction& instruction) {
    bool bits = instruction.op == Opcode::kConst || instruction.op == Opcode::kArg;
    if (!bits && instruction.bits != 0) report("has bits of its own");
    if (instruction.op != Opcode::kIndex && instruction.index.valid())
      report("has an index expression of its own");
    if (instruction.op != Opcode::kRead && (instruction.tensor.valid() || !instruction.subscripts.empty()))
      report("has an access of its own");
  }

  const Body& body_;
  const BodyContext& context_;
  ValueId at_;
};

}  // namespace

void verify_body(const Body& body, const BodyContext& context) { BodyVerifier(body, context).verify(); }

std::string index_error(const Kernel& kernel, IndexId id, const std::function<bool(AxisId)>& has_axis,
                        const Body* body, uint32_t values) {
  if (!id.valid() || id.index() >= kernel.index.size()) return "has no index expression";
  std::string error;
  kernel.index.for_each_atom(id, [&](IndexId atom) {
    if (!error.empty()) return;
    const IndexNode& node = kernel.index[atom];
    if (node.kind == IndexKind::kSymbol) {
      if (node.reference >= kernel.symbols.size()) {
        error = "mentions a symbol that there is not";
      } else if (const Symbol& symbol = kernel.symbols[SymbolId(node.reference)]; symbol.fixed) {
        error = fmt::format("mentions {}, which is fixed to {}", symbol.name, *symbol.fixed);
      }
    } else if (node.kind == IndexKind::kAxis) {
      if (!has_axis || !has_axis(AxisId(node.reference)))
        error = "mentions an axis that is not of its domain";
    } else if (body == nullptr) {
      error = "mentions a value of a body";
    } else if (node.reference >= values) {
      error = fmt::format("mentions %{}, which does not come before it", node.reference);
    } else if (body->type(ValueId(node.reference)) != ElementType::kIndex) {
      error = fmt::format("mentions %{}, which is {} and not index", node.reference,
                          name(body->type(ValueId(node.reference))));
    }
  });
  return error;
}

}  // namespace tenon::ir
