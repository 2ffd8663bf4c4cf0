// What a name means where it stands.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/check/node.h"
#include "support/ids.h"

namespace tenon::frontend {

// A tensor or scalar that a program names: a parameter, a result or a local. Scalars have rank 0.
struct Variable {
  std::string name;
  // Of its tensor: `softmax.e` for the local `e` of an inlined softmax.
  std::string tensor_name;
  // Where the name was introduced.
  Span span;
  // Where the type of a parameter begins.
  uint32_t type_begin = 0;
  ElementType element = ElementType::kF32;
  ir::IndexList shape;
  ir::Tensor::Role role = ir::Tensor::Role::kLocal;
  bool inout = false;
  // Its type was written down: a parameter, a result or a declared local.
  bool declared = false;
  // Its definition stands before the statement in work, or it needs none.
  bool defined = false;
  // Its definition had a mistake; whoever reads it stays silent.
  bool poisoned = false;
  // What a read sees; invalid before the definition.
  ir::TensorId value;
  // The tensor that the definition has to fill; invalid for locals until then.
  ir::TensorId target;
  // Where it is defined.
  Span definition;
};
using VariableId = Id<Variable>;

enum class EntityKind : uint8_t {
  // A mistake, reported where the name was introduced.
  kPoison,
  // An index value known without reading memory: a dimension, an index, an index scalar, or a name for such a
  // value.
  kIndex,
  kVariable,
  // A scalar of an inlined function.
  kValue,
  // A generic that stands for an element type.
  kType,
};

struct Entity {
  EntityKind kind = EntityKind::kPoison;
  ir::IndexId index;
  VariableId variable;
  NodeId value;
  ElementType type = ElementType::kF32;
  Span span;
  // "a dimension", "an index", "a parameter": for messages.
  std::string_view what = "a name";
};

class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}

  // A name that is there already keeps its meaning.
  void add(std::string_view name, Entity entity);
  // A name that is there already changes its meaning.
  void set(std::string_view name, Entity entity);
  // In this scope and those around it; null if it is unknown.
  const Entity* find(std::string_view name) const;
  const Scope* outer() const { return outer_; }
  // Of this scope and those around it, in order of introduction.
  std::vector<std::string_view> visible_names() const;

 private:
  const Scope* outer_;
  std::unordered_map<std::string_view, Entity> names_;
  std::vector<std::string_view> order_;
};

}  // namespace tenon::frontend
