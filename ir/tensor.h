// Tensor IR: what a kernel computes, as operations on whole tensors over symbolic shapes. An operation is an
// iteration domain (parallel and reduction axes, all from 0, with an optional predicate), a scalar body, and
// results. Values are in SSA form: a tensor is defined by one operation, before its uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/body.h"
#include "ir/index.h"
#include "ir/monoid.h"
#include "support/ids.h"
#include "support/source.h"

namespace tenon::ir {

// A name whose value is known at launch: a dimension, or an index-typed scalar parameter.
struct Symbol {
  enum class Kind : uint8_t { kDimension, kScalar };
  std::string name;
  Kind kind = Kind::kDimension;
  // Fixed when compiling (--set); expressions then hold the constant, the launch still checks it.
  std::optional<int64_t> fixed;
  Span span;
};

// An iteration variable 0 .. extent-1.
struct Axis {
  std::string name;
  // Mentions symbols only.
  IndexId extent;
};

struct Tensor {
  enum class Role : uint8_t { kInput, kResult, kLocal };
  std::string name;
  ElementType element = ElementType::kF32;
  // Mention symbols only; empty is a scalar.
  IndexList shape;
  Role role = Role::kLocal;
  Span span;

  // Launches are given the value itself, which is then no memory, unless it is the input of an inout
  // parameter: see `by_value`.
  bool scalar_input() const { return role == Role::kInput && shape.empty(); }
};

// A parameter as the caller sees it. An inout parameter has two tensors: its value at launch and its new
// value.
struct Parameter {
  std::string name;
  TensorId input;   // invalid for a result
  TensorId output;  // invalid for a plain input
  // An index-typed scalar parameter is also a symbol.
  SymbolId symbol;
  Span span;

  TensorId tensor() const { return input.valid() ? input : output; }
  bool inout() const { return input.valid() && output.valid(); }
};

struct OpOutput {
  TensorId tensor;
  // kMap: one value. kReduce: the lifted state, one value a slot of the monoid.
  ValueList values;
  // kReduce only. Its result is converted to nothing: the tensor has the monoid's result type.
  SharedMonoid monoid;
};

struct TensorOp {
  Opcode op = Opcode::kMap;
  // The results' dimensions, in order.
  AxisList parallel;
  // Empty for kMap.
  AxisList reduction;
  Body body;
  // kReduce: a bool of the body; elements where it is false are left out. Invalid: none are.
  ValueId predicate;
  std::vector<OpOutput> outputs;
  // Where the operation stands in the source; a fused one has several.
  SmallVector<Span, 1> spans;
};
using TensorOpId = Id<TensorOp>;

// Operations that become one step; in program order. Tensors that only the group uses exist in it alone.
struct Group {
  std::string name;
  std::vector<TensorOpId> ops;
};

enum Permission : uint8_t { kApprox = 1, kFlush = 2, kTf32 = 4, kNarrow = 8, kF8 = 16 };

struct WhereClause {
  // Holds where it is not 0; mentions symbols only.
  IndexId condition;
  std::string text;
  // Added by the bounds prover, not written by the user.
  bool implicit = false;
  Span span;
};

struct Kernel {
  std::string name;
  Span span;
  uint8_t permissions = 0;
  IndexPool index;
  Store<Symbol> symbols;
  Store<Axis> axes;
  Store<Tensor> tensors;
  std::vector<Parameter> parameters;
  std::vector<WhereClause> where;
  // In program order; a deleted operation has no outputs.
  Store<TensorOp> ops;
  // Empty until grouping.
  std::vector<Group> groups;

  bool allows(Permission permission) const { return (permissions & permission) != 0; }
};

// The kernels of one source file, in source order.
struct Module {
  std::vector<Kernel> kernels;
};

// Whether launches are given the tensor's value, so that reading it is no access to memory.
bool by_value(const Kernel& kernel, TensorId tensor);

// Product of the extents.
IndexId element_count(Kernel& kernel, std::span<const IndexId> shape);

// A size, or another expression over symbols, as text of the source language.
std::string size_text(const Kernel& kernel, IndexId size);

// The operation that defines each tensor; invalid for inputs.
SideTable<Tensor, TensorOpId> defining_ops(const Kernel& kernel);

}  // namespace tenon::ir
