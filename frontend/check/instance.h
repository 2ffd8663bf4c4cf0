// What all parts of the checker share while they work on one instance of one kernel.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "frontend/check/node.h"
#include "frontend/check/scope.h"
#include "frontend/parse/ast.h"
#include "ir/tensor.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::frontend {

// A function and the module that its syntax tree lives in.
struct FunctionRef {
  const Module* module = nullptr;
  FunctionId id;

  const Function& operator*() const { return (*module)[id]; }
  const Function* operator->() const { return &(*module)[id]; }
};

class FunctionTable {
 public:
  // False: a function of that name is there already.
  bool add(FunctionRef function);
  // Null if there is none of that name.
  const FunctionRef* find(std::string_view name) const;
  const std::vector<std::string_view>& names() const { return names_; }
  // Kernels cannot be called, which is said where one is.
  void add_kernel(std::string_view name) { kernels_.insert(name); }
  bool is_kernel(std::string_view name) const { return kernels_.contains(name); }

 private:
  std::unordered_map<std::string_view, FunctionRef> functions_;
  std::vector<std::string_view> names_;
  std::set<std::string_view> kernels_;
};

// "1 subscript", "2 subscripts".
std::string counted(size_t count, std::string_view noun);

// Has a scalar signature: may be called inside of expressions.
bool is_shapeless(const Module& module, const Function& function);

// The definition of a tensor of indices or bools, for looking through it: the value of its element at `axes`.
struct DefinitionView {
  NodeId value;
  ir::AxisList axes;
};

// The values lower..upper of the index that an axis, from 0, stands for: the index is the axis plus `lower`.
// Invalid ids: the axis itself, up to its extent.
struct AxisRange {
  ir::IndexId lower;
  ir::IndexId upper;
};

// Beyond these a kernel is refused, so that no program exhausts memory or time.
inline constexpr size_t kMaxNodesPerStatement = 50'000;
inline constexpr size_t kMaxOpsPerKernel = 32'768;
inline constexpr size_t kMaxInstructionsPerKernel = 2'000'000;
inline constexpr size_t kMaxReductionNesting = 32;
inline constexpr size_t kMaxInlineDepth = 100;
inline constexpr size_t kMaxMonomials = 128;
inline constexpr uint16_t kMaxIndexDepth = 50;

// The mistakes that one run of the checker has reported, by kind and place.
using Reported = std::set<std::tuple<DiagnosticId, FileId, uint32_t, uint32_t>>;

struct Instance {
  static constexpr size_t kMostSuggestions = 100;

  Instance(const SourceManager& sources, Diagnostics& diagnostics, const FunctionTable& functions,
           Reported& reported)
      : sources(sources), diagnostics(diagnostics), functions(functions), reported(reported) {}
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const SourceManager& sources;
  Diagnostics& diagnostics;
  const FunctionTable& functions;
  Reported& reported;

  ir::Kernel kernel;
  Nodes nodes;
  Store<Variable> variables;
  SideTable<ir::Axis, AxisRange> axis_ranges;
  // Invalid value: not looked through.
  SideTable<ir::Tensor, DefinitionView> definitions;
  // A syntax mistake stands inside: statements may be missing.
  bool incomplete = false;
  // An error was reported.
  bool failed = false;
  // A limit was reached and reported: nothing more is to be built.
  bool gave_up = false;
  bool index_overflow_reported = false;
  // The call in the kernel's own text whose function is being looked into; invalid in the kernel itself.
  Span called_from;
  size_t instructions = 0;

  // `name`, or `name.1` if that is taken, and so on.
  std::string unique_name(std::string_view name);
  ir::TensorId add_tensor(std::string_view name, ElementType element, ir::IndexList shape,
                          ir::Tensor::Role role, Span span);
  ir::AxisId add_axis(std::string_view name, ir::IndexId extent, AxisRange range = {});
  // An index expression in the program's names.
  std::string text(ir::IndexId index) const;
  // "[M, N / 2]"; "a scalar" without dimensions.
  std::string shape_text(std::span<const ir::IndexId> shape) const;
  // Add, Sub, Mul, Div, Rem, Min or Max of index expressions; an invalid id where the result would grow
  // without bound or nest too deep.
  ir::IndexId index_op(ir::Opcode op, ir::IndexId a, ir::IndexId b);

  // Whether a mistake is still told which name may have been meant: that compares it with every other.
  bool suggests() const { return diagnostics.error_count() <= kMostSuggestions; }
  // A mistake in a function is met once at each call, but reported once.
  Diagnostic& report(DiagnosticId id, Span span, const auto&... args) {
    failed = true;
    if (!reported.emplace(id, span.file, span.begin, span.end).second) return repeated_;
    Diagnostic& diagnostic = diagnostics.report(id, span, args...);
    if (called_from.valid()) diagnostic.label(called_from, "called from here");
    return diagnostic;
  }

 private:
  // Takes the labels and notes of what is not reported again.
  Diagnostic repeated_;
  std::unordered_map<std::string, unsigned> taken_names_;
  // Levels of division, min and max in an index expression.
  SideTable<ir::IndexNode, uint16_t> index_depth_;
};

}  // namespace tenon::frontend
