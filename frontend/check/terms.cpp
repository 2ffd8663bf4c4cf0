#include "frontend/check/terms.h"

#include <algorithm>
#include <unordered_set>

#include "support/check.h"
#include "support/integer_math.h"

namespace tenon::frontend {
namespace {

using ir::IndexKind;
using ir::Opcode;
using prove::ConditionId;
using prove::TermId;

// Definitions of definitions beyond this depth stay opaque.
constexpr unsigned kMaxLookThroughDepth = 50;

// Integers whose operations cannot be told from those of mathematical integers once a value is there;
// operations of machine integers may wrap.
bool has_integer_range(ElementType type) { return is_integer(type); }

// Whether every value of `from` is a value of `to`.
bool contains(ElementType to, ElementType from) {
  if (!is_integer(to) || !is_integer(from)) return false;
  if (is_signed(to) == is_signed(from)) return bit_width(to) >= bit_width(from);
  return is_signed(to) && bit_width(to) > bit_width(from);
}

}  // namespace

TermId Terms::atom(const ir::IndexNode& node, ir::IndexId id) {
  prove::TermStore& t = store();
  switch (node.kind) {
    case IndexKind::kSymbol: {
      const ir::Symbol& symbol = instance_.kernel.symbols[ir::SymbolId(node.reference)];
      const TermId term =
          t.symbol(symbol.name, symbol.kind == ir::Symbol::Kind::kDimension ? prove::SymbolKind::kDimension
                                                                            : prove::SymbolKind::kScalar);
      symbol_atoms_[*t.single_atom(term)] = id;
      return term;
    }
    case IndexKind::kAxis: {
      const ir::AxisId axis(node.reference);
      const AxisRange range = instance_.axis_ranges[axis];
      const TermId lower = range.lower.valid() ? term(range.lower) : t.constant(0);
      const TermId upper =
          range.upper.valid() ? term(range.upper) : t.add(lower, term(instance_.kernel.axes[axis].extent));
      const TermId symbol =
          t.symbol(instance_.kernel.axes[axis].name, prove::SymbolKind::kIndex, {lower, upper});
      axis_symbols_[axis] = symbol;
      return t.sub(symbol, lower);
    }
    case IndexKind::kFloorDiv:
      return t.floor_div(term(node.a), term(node.b));
    case IndexKind::kFloorMod:
      return t.floor_mod(term(node.a), term(node.b));
    case IndexKind::kMin:
      return t.min(term(node.a), term(node.b));
    case IndexKind::kMax:
      return t.max(term(node.a), term(node.b));
    default:
      TENON_UNREACHABLE("the checker's index expressions hold no values, comparisons or logic");
  }
}

TermId Terms::term(ir::IndexId index) {
  if (TermId known = index_terms_[index]; known.valid()) return known;
  prove::TermStore& t = store();
  const ir::IndexNode node = instance_.kernel.index[index];
  TermId result = t.constant(0);
  if (node.kind == IndexKind::kPolynomial) {
    for (const ir::Monomial& monomial : node.terms) {
      TermId product = t.constant(monomial.coefficient);
      for (ir::IndexId factor : monomial.factors) product = t.mul(product, term(factor));
      result = t.add(result, product);
    }
  } else {
    result = atom(node, index);
  }
  index_terms_[index] = result;
  return result;
}

TermId Terms::term(NodeId node) {
  if (instance_.nodes[node].is_bool()) {
    const ConditionId holds = condition(node);
    return store().select(holds, store().constant(1), store().constant(0));
  }
  compute(node);
  return node_terms_[node];
}

ConditionId Terms::condition(NodeId node) {
  compute(node);
  return node_conditions_[node];
}

void Terms::compute(NodeId root) {
  auto known = [&](NodeId id) { return node_terms_[id].valid() || node_conditions_[id].valid(); };
  if (known(root)) return;
  std::unordered_set<NodeId> seen{root};
  std::vector<NodeId> pending{root};
  for (size_t next = 0; next < pending.size(); ++next) {
    if (instance_.nodes[pending[next]].kind == NodeKind::kReduce) continue;
    instance_.nodes.for_each_operand(pending[next], [&](NodeId operand) {
      if (!known(operand) && seen.insert(operand).second) pending.push_back(operand);
    });
  }
  std::sort(pending.begin(), pending.end());
  for (NodeId id : pending) compute_one(id);
}

void Terms::compute_one(NodeId id) {
  if (instance_.nodes[id].is_bool()) {
    node_conditions_[id] = bool_condition(id);
  } else {
    node_terms_[id] = value_term(id);
  }
}

TermId Terms::opaque_operation(NodeId id, std::string_view name) {
  const Node node = instance_.nodes[id];
  std::vector<TermId> arguments;
  for (NodeId operand : node.operands)
    if (operand.valid()) arguments.push_back(term(operand));
  const prove::Range range =
      node.type && has_integer_range(*node.type) ? prove::type_range(store(), *node.type) : prove::Range{};
  return store().opaque(name, arguments, range, prove::OpaqueStyle::kArguments);
}

TermId Terms::index_operation(const Node& node) {
  prove::TermStore& t = store();
  const TermId a = term(node.operands[0]);
  const TermId b = node.operands[1].valid() ? term(node.operands[1]) : TermId();
  switch (node.op) {
    case Opcode::kAdd:
      return t.add(a, b);
    case Opcode::kSub:
      return t.sub(a, b);
    case Opcode::kMul:
      return t.mul(a, b);
    case Opcode::kDiv:
      return t.floor_div(a, b);
    case Opcode::kRem:
      return t.floor_mod(a, b);
    case Opcode::kMin:
      return t.min(a, b);
    case Opcode::kMax:
      return t.max(a, b);
    case Opcode::kNeg:
      return t.negate(a);
    case Opcode::kAbs:
      return t.max(a, t.negate(a));
    default:
      return {};
  }
}

TermId Terms::value_term(NodeId id) {
  prove::TermStore& t = store();
  const Node node = instance_.nodes[id];
  switch (node.kind) {
    case NodeKind::kIndex:
      return term(node.index);
    case NodeKind::kConstant: {
      const bool plain = is_integer(*node.type) && (*node.type != ElementType::kU64 || node.bits >> 63 == 0);
      if (!plain) return t.opaque(fmt::format("{}#{:x}", name(*node.type), node.bits));
      const unsigned unused = 64 - bit_width(*node.type);
      const auto shifted = static_cast<int64_t>(node.bits << unused);
      return t.constant(is_signed(*node.type) ? shifted >> unused : static_cast<int64_t>(node.bits));
    }
    case NodeKind::kOp: {
      if (node.op == Opcode::kSelect)
        return t.select(condition(node.operands[0]), term(node.operands[1]), term(node.operands[2]));
      if (node.is_index()) {
        if (const TermId result = index_operation(node); result.valid()) return result;
      }
      return opaque_operation(id, ir::row(node.op).mnemonic);
    }
    case NodeKind::kCast:
      return cast_term(node);
    case NodeKind::kRead:
      return read_term(id);
    case NodeKind::kReduce:
      return reduce_term(id);
    default:
      return t.opaque(fmt::format("unknown#{}", id.index()));
  }
}

TermId Terms::cast_term(const Node& node) {
  prove::TermStore& t = store();
  const ElementType from = *instance_.nodes[node.operands[0]].type;
  const ElementType to = *node.type;
  const TermId operand = term(node.operands[0]);
  if (from == ElementType::kBool && is_integer(to)) return operand;
  if (to == ElementType::kIndex && is_integer(from)) {
    if (bit_width(from) < 64) return operand;
    return t.min(t.max(operand, t.constant(-kIndexLimit)), t.constant(kIndexLimit));
  }
  if (contains(to, from)) return operand;
  prove::Range range;
  if (to == ElementType::kIndex) {
    range = {t.constant(-kIndexLimit), t.constant(kIndexLimit + 1)};
  } else if (is_integer(to)) {
    range = prove::type_range(t, to);
    if (is_integer(from) && holds(t.in_range(operand, range.lo, range.hi))) return operand;
  }
  return t.opaque(name(to), std::vector{operand}, range, prove::OpaqueStyle::kArguments);
}

std::vector<TermId> Terms::subscript_terms(const Read& read) {
  std::vector<TermId> subscripts;
  for (NodeId subscript : read.subscripts) subscripts.push_back(term(subscript));
  return subscripts;
}

std::optional<prove::Substitution> Terms::look_through(NodeId read_id) {
  const Read& read = instance_.nodes.read_of(read_id);
  const DefinitionView& view = instance_.definitions[read.tensor];
  if (!view.value.valid() || read.fallback.valid() || look_through_depth_ == kMaxLookThroughDepth)
    return std::nullopt;
  // Makes the symbols of the definition's axes too.
  ++look_through_depth_;
  compute(view.value);
  --look_through_depth_;
  prove::Substitution replacements;
  for (size_t i = 0; i < view.axes.size(); ++i)
    if (const TermId symbol = axis_symbols_[view.axes[i]]; symbol.valid())
      replacements[*store().single_atom(symbol)] = term(read.subscripts[i]);
  return replacements;
}

TermId Terms::read_term(NodeId id) {
  const Read& read = instance_.nodes.read_of(id);
  const ir::Tensor& tensor = instance_.kernel.tensors[read.tensor];
  if (auto replacements = look_through(id))
    return store().substitute(term(instance_.definitions[read.tensor].value), *replacements);
  std::vector<TermId> arguments = subscript_terms(read);
  std::string label = tensor.name;
  if (read.fallback.valid()) {
    arguments.push_back(term(read.fallback));
    label += " with default";
  }
  const prove::Range range =
      has_integer_range(tensor.element) ? prove::type_range(store(), tensor.element) : prove::Range{};
  return store().opaque(label, arguments, range,
                        arguments.empty() ? prove::OpaqueStyle::kName : prove::OpaqueStyle::kSubscripts);
}

ConditionId Terms::read_condition(NodeId id) {
  const Read& read = instance_.nodes.read_of(id);
  if (auto replacements = look_through(id))
    return store().substitute(condition(instance_.definitions[read.tensor].value), *replacements);
  std::vector<TermId> arguments = subscript_terms(read);
  std::string label = instance_.kernel.tensors[read.tensor].name;
  if (read.fallback.valid()) {
    arguments.push_back(term(read.fallback));
    label += " with default";
  }
  return store().opaque_condition(
      label, arguments, arguments.empty() ? prove::OpaqueStyle::kName : prove::OpaqueStyle::kSubscripts);
}

ConditionId Terms::bool_condition(NodeId id) {
  prove::TermStore& t = store();
  const Node node = instance_.nodes[id];
  if (node.kind == NodeKind::kConstant) return t.boolean(node.bits != 0);
  if (node.kind == NodeKind::kRead) return read_condition(id);
  if (node.kind == NodeKind::kReduce)
    return t.opaque_condition(reduction_name(id), free_axes(id), prove::OpaqueStyle::kArguments);
  if (node.kind != NodeKind::kOp)
    return t.opaque_condition(fmt::format("unknown#{}", id.index()), free_axes(id));
  auto of = [&](int position) { return condition(node.operands[static_cast<size_t>(position)]); };
  if (node.op == Opcode::kNot) return t.logical_not(of(0));
  if (node.op == Opcode::kSelect)
    return t.logical_or(t.logical_and(of(0), of(1)), t.logical_and(t.logical_not(of(0)), of(2)));
  const ElementType operand_type = *instance_.nodes[node.operands[0]].type;
  if (operand_type == ElementType::kBool) {
    const ConditionId both = t.logical_and(of(0), of(1));
    const ConditionId neither = t.logical_and(t.logical_not(of(0)), t.logical_not(of(1)));
    switch (node.op) {
      case Opcode::kAnd:
        return both;
      case Opcode::kOr:
        return t.logical_or(of(0), of(1));
      case Opcode::kEq:
        return t.logical_or(both, neither);
      case Opcode::kXor:
      case Opcode::kNe:
        return t.logical_not(t.logical_or(both, neither));
      default:
        break;
    }
  }
  std::vector<TermId> operands;
  for (NodeId operand : node.operands)
    if (operand.valid()) operands.push_back(term(operand));
  if (has_integer_range(operand_type)) {
    switch (node.op) {
      case Opcode::kEq:
        return t.eq(operands[0], operands[1]);
      case Opcode::kNe:
        return t.ne(operands[0], operands[1]);
      case Opcode::kLt:
        return t.lt(operands[0], operands[1]);
      case Opcode::kLe:
        return t.le(operands[0], operands[1]);
      case Opcode::kGt:
        return t.gt(operands[0], operands[1]);
      case Opcode::kGe:
        return t.ge(operands[0], operands[1]);
      default:
        break;
    }
  }
  return t.opaque_condition(ir::row(node.op).mnemonic, operands, prove::OpaqueStyle::kArguments);
}

std::vector<TermId> Terms::free_axes(NodeId id) {
  const std::vector<NodeId> inside = instance_.nodes.reachable(std::vector{id}, true);
  std::vector<ir::AxisId> used;
  std::vector<ir::AxisId> bound;
  for (NodeId node_id : inside) {
    const Node& node = instance_.nodes[node_id];
    if (node.kind == NodeKind::kReduce) {
      const ReduceDetail& reduction = instance_.nodes.reduction_of(node_id);
      bound.insert(bound.end(), reduction.axes.begin(), reduction.axes.end());
    }
    if (node.kind != NodeKind::kIndex) continue;
    instance_.kernel.index.for_each_atom(node.index, [&](ir::IndexId atom) {
      const ir::IndexNode& leaf = instance_.kernel.index[atom];
      if (leaf.kind == IndexKind::kAxis) used.push_back(ir::AxisId(leaf.reference));
    });
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<TermId> terms;
  for (ir::AxisId axis : used)
    if (std::find(bound.begin(), bound.end(), axis) == bound.end())
      terms.push_back(term(instance_.kernel.index.axis(axis)));
  return terms;
}

std::string Terms::reduction_name(NodeId id) {
  constexpr size_t kMaxLength = 40;
  std::string text(instance_.sources.text(instance_.nodes[id].span));
  if (text.size() > kMaxLength) text = text.substr(0, kMaxLength) + "...";
  auto [entry, is_new] = reduction_names_.try_emplace(text, id);
  return is_new || entry->second == id ? text : fmt::format("{} #{}", text, id.index());
}

TermId Terms::reduce_term(NodeId id) {
  const Node node = instance_.nodes[id];
  const ReduceDetail& reduction = instance_.nodes.reduction_of(id);
  const std::vector<TermId> arguments = free_axes(id);
  prove::Range range;
  if (reduction.kind == ir::MonoidKind::kArgMax || reduction.kind == ir::MonoidKind::kArgMin) {
    // The range holds wherever the value is used, so no guard may help to find it.
    release_guards();
    range = prove::argmax_range(context_, term(instance_.kernel.axes[reduction.axes[0]].extent),
                                !reduction.predicate.valid());
  } else if (node.type && has_integer_range(*node.type)) {
    range = prove::type_range(store(), *node.type);
  }
  return store().opaque(reduction_name(id), arguments, range, prove::OpaqueStyle::kArguments);
}

void Terms::assume(ConditionId fact, prove::FactKind kind) {
  release_guards();
  context_.assume(fact, kind);
}

void Terms::release_guards() {
  for (; !held_guards_.empty(); held_guards_.pop_back()) context_.pop();
}

void Terms::hold_guards(GuardId guard) {
  std::vector<GuardId> chain;
  for (; guard.valid(); guard = instance_.nodes[guard].outer)
    if (!instance_.nodes[instance_.nodes[guard].condition].is_error()) chain.push_back(guard);
  std::reverse(chain.begin(), chain.end());
  // Making a condition may release guards: all of them first.
  for (GuardId id : chain) condition(instance_.nodes[id].condition);
  size_t common = 0;
  while (common < chain.size() && common < held_guards_.size() && chain[common] == held_guards_[common])
    ++common;
  for (; held_guards_.size() > common; held_guards_.pop_back()) context_.pop();
  for (size_t i = common; i < chain.size(); ++i) {
    const Guard& fact = instance_.nodes[chain[i]];
    const ConditionId holds = condition(fact.condition);
    context_.push();
    context_.assume(fact.negated ? store().logical_not(holds) : holds);
    held_guards_.push_back(chain[i]);
  }
}

bool Terms::holds(ConditionId goal, GuardId guard) {
  hold_guards(guard);
  return context_.holds(goal);
}

prove::Verdict Terms::prove(ConditionId goal, GuardId guard) {
  hold_guards(guard);
  return context_.prove(goal);
}

bool Terms::equal(ir::IndexId a, ir::IndexId b) {
  if (a == b) return true;
  const ConditionId goal = store().eq(term(a), term(b));
  return holds(goal);
}

std::optional<ir::IndexId> Terms::to_index(TermId id) {
  ir::IndexPool& pool = instance_.kernel.index;
  const prove::Polynomial polynomial = store().polynomial(id);
  ir::IndexId sum = pool.constant(0);
  for (const prove::Monomial& monomial : polynomial.monomials) {
    ir::IndexId product = pool.constant(monomial.coefficient);
    for (prove::AtomId atom_id : monomial.atoms()) {
      const prove::Atom atom = store().atom(atom_id);
      std::optional<ir::IndexId> factor;
      if (atom.kind == prove::AtomKind::kSymbol) {
        if (auto known = symbol_atoms_.find(atom_id); known != symbol_atoms_.end()) factor = known->second;
      } else if (atom.kind == prove::AtomKind::kDiv || atom.kind == prove::AtomKind::kMin ||
                 atom.kind == prove::AtomKind::kMax) {
        const std::optional<ir::IndexId> a = to_index(atom.operands[0]);
        const std::optional<ir::IndexId> b = to_index(atom.operands[1]);
        if (!a || !b) return std::nullopt;
        const Opcode op = atom.kind == prove::AtomKind::kDiv   ? Opcode::kDiv
                          : atom.kind == prove::AtomKind::kMin ? Opcode::kMin
                                                               : Opcode::kMax;
        const ir::IndexId result = instance_.index_op(op, *a, *b);
        if (result.valid()) factor = result;
      }
      if (!factor) return std::nullopt;
      product = instance_.index_op(Opcode::kMul, product, *factor);
      if (!product.valid()) return std::nullopt;
    }
    sum = instance_.index_op(Opcode::kAdd, sum, product);
    if (!sum.valid()) return std::nullopt;
  }
  return sum;
}

std::optional<ir::IndexId> Terms::to_index(ConditionId id) {
  ir::IndexPool& pool = instance_.kernel.index;
  const prove::Condition condition = store().condition(id);
  switch (condition.kind) {
    case prove::ConditionKind::kTrue:
      return pool.constant(1);
    case prove::ConditionKind::kFalse:
      return pool.constant(0);
    case prove::ConditionKind::kNonNegative:
    case prove::ConditionKind::kZero:
    case prove::ConditionKind::kNonZero: {
      const std::optional<ir::IndexId> value = to_index(condition.term);
      if (!value) return std::nullopt;
      const ir::IndexId zero = pool.constant(0);
      if (condition.kind == prove::ConditionKind::kNonNegative) return pool.less_equal(zero, *value);
      const ir::IndexId equal = pool.equal(*value, zero);
      return condition.kind == prove::ConditionKind::kZero ? equal : pool.logical_not(equal);
    }
    case prove::ConditionKind::kAnd:
    case prove::ConditionKind::kOr: {
      std::optional<ir::IndexId> result;
      for (ConditionId operand : condition.operands) {
        const std::optional<ir::IndexId> part = to_index(operand);
        if (!part) return std::nullopt;
        if (!result) {
          result = part;
        } else {
          result = condition.kind == prove::ConditionKind::kAnd ? pool.logical_and(*result, *part)
                                                                : pool.logical_or(*result, *part);
        }
      }
      return result;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::frontend
