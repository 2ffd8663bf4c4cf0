// The compiled kernel as plain data: all that crosses from the compiler to the runtime. It can be copied
// between threads, printed (`--emit json`), stored and read back; nothing in it points anywhere.
//
// A launch goes: bind the symbols from the arguments' shapes and scalars; check every shape and clause; then
// for each step, in order, take the first variant whose guard holds and start its launches, in order, on one
// stream.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/size_expr.h"
#include "support/element_type.h"
#include "support/ids.h"
#include "support/result.h"

namespace tenon::runtime {

struct Parameter;
using ParameterId = Id<Parameter>;

enum class SymbolKind : uint8_t {
  // Bound from the axes whose shape expression is this symbol alone (results too, where they are given), else
  // by name.
  kDimension,
  // The value of a scalar parameter of integer, bool or index type.
  kScalar,
};

// "dimension", "scalar".
std::string_view name(SymbolKind kind);

struct Symbol {
  std::string name;
  SymbolKind kind = SymbolKind::kDimension;
  // kScalar: the parameter that holds the value.
  ParameterId parameter;
  // Fixed when compiling (`--set`, or a literal size); a launch that brings another value is refused.
  std::optional<int64_t> fixed;
};

enum class Role : uint8_t { kInput, kResult, kInout };
// "input", "result", "inout".
std::string_view name(Role role);

struct Parameter {
  std::string name;
  ElementType type = ElementType::kF32;
  Role role = Role::kInput;
  // Elements an axis; empty for a scalar.
  std::vector<SizeExpr> shape;
  // Strides come at launch, the last being 1. Reserved: no program has it set yet.
  bool strided = false;
  // As the source has it, for messages: "x: f32[M, N]".
  std::string source;

  // Given by value. Every other parameter is a device pointer, a scalar result or inout too (to one element).
  bool by_value() const { return role == Role::kInput && shape.empty(); }
};

// A condition on the sizes without which a launch is refused.
struct Clause {
  SizeExpr condition;
  // As the source has it: "K % 8 == 0".
  std::string text;
  // Not written by the user, but needed by an access: `text` is the goal, `reason` says which access needs
  // it.
  bool implicit = false;
  std::string reason;
};

// Device memory that lives for one launch; not initialised. Starts at a multiple of kWorkspaceAlignment
// bytes.
struct WorkspaceBuffer {
  std::string name;
  ElementType type = ElementType::kF32;
  // In bytes; a size of 0 is fine.
  SizeExpr bytes;
};
inline constexpr uint32_t kWorkspaceAlignment = 256;

// The address of `parameter` is a multiple of `bytes`, a power of two.
struct Alignment {
  ParameterId parameter;
  uint32_t bytes = 1;

  bool operator==(const Alignment&) const = default;
};

// Holds if every condition and every alignment holds; an empty guard always does. A condition that faults
// does not.
struct Guard {
  std::vector<SizeExpr> conditions;
  std::vector<Alignment> alignments;

  bool always() const { return conditions.empty() && alignments.empty(); }
};

// The type of a kernel parameter in PTX.
enum class PtxType : uint8_t { kB8, kB16, kB32, kB64, kF32, kF64 };
std::string_view name(PtxType type);
unsigned byte_size(PtxType type);

enum class ArgumentKind : uint8_t {
  // The device address of `parameter`; kB64.
  kPointer,
  // The value of the by-value `parameter`, as its bytes.
  kScalar,
  // The device address of a buffer of Program::workspace, at index `workspace`; kB64.
  kWorkspace,
  // The device address of a buffer of the variant's own workspace, at index `workspace`; kB64.
  kVariantWorkspace,
  // `value` as kB32 or kB64. One that does not fit refuses the launch (a guard must have excluded it).
  kSize,
  // The two halves of a division by `value`, each kB32; see MagicDivisor.
  kMagicMultiplier,
  kMagicShift,
};
// "pointer", "scalar", "workspace", "variant_workspace", "size", "magic_multiplier", "magic_shift".
std::string_view name(ArgumentKind kind);

struct Argument {
  ArgumentKind kind = ArgumentKind::kPointer;
  PtxType type = PtxType::kB64;
  // kPointer, kScalar.
  ParameterId parameter = {};
  // kWorkspace, kVariantWorkspace.
  uint32_t workspace = 0;
  // kSize, kMagicMultiplier, kMagicShift.
  SizeExpr value = {};

  static Argument pointer(ParameterId parameter);
  static Argument scalar(ParameterId parameter, PtxType type);
  static Argument workspace_buffer(uint32_t index);
  static Argument variant_workspace_buffer(uint32_t index);
  static Argument size(SizeExpr value, PtxType type);
  static Argument magic_multiplier(SizeExpr divisor);
  static Argument magic_shift(SizeExpr divisor);
};

// Unsigned division by a number known at launch. For 0 <= n < 2^31 and every divisor d >= 1,
//   n / d = (mulhi_u32(n, multiplier) + n) >> shift
// in 32-bit arithmetic (PTX: mad.hi.u32, shr.u32); for d <= 2^31 also for n < 2^32 where the sum has 33 bits.
// A divisor below 1 gives the one for 1: the domain is empty and nothing is divided. Source: Granlund and
// Montgomery, "Division by Invariant Integers using Multiplication", section 4, PLDI 1994.
struct MagicDivisor {
  uint32_t multiplier = 1;
  uint32_t shift = 0;
};
MagicDivisor magic_divisor(Int128 divisor);

struct Launch {
  // The name of the entry in the variant's PTX.
  std::string entry;
  // Blocks, in one dimension. 0: the launch is skipped. More than kMaxGrid refuses.
  SizeExpr grid;
  // Threads a block.
  uint32_t block = 1;
  // Bytes of dynamic shared memory a block.
  SizeExpr dynamic_shared;
  // In the order of the entry's parameters.
  std::vector<Argument> arguments;
};
inline constexpr int64_t kMaxGrid = 2147483647;

// A variant that has been lowered to PTX.
struct LoweredVariant {
  // One PTX module, complete with its header, in which every launch's entry is.
  std::string ptx;
  // Scratch of this variant alone, such as the partial results of a split reduction.
  std::vector<WorkspaceBuffer> workspace;
  std::vector<Launch> launches;
};

struct Variant {
  std::string name;
  Guard guard;
  // The Schedule in its text form.
  std::string schedule;
  // Absent until lowered; the runtime then asks a VariantSource.
  std::optional<LoweredVariant> code;
  // What was decided, for `explain`.
  std::vector<std::string> remarks;
};

struct Step {
  std::string name;
  // In order of preference; the last one's guard accepts whatever the clauses let through.
  std::vector<Variant> variants;
  std::vector<std::string> remarks;
};

// What a generic stands for in this instance: T = f16.
struct GenericType {
  std::string name;
  ElementType type = ElementType::kF32;
};

struct Program {
  // The kernel.
  std::string name;
  // A name of support/targets.def.
  std::string target;
  std::vector<GenericType> generics;
  Store<Symbol> symbols;
  // In source order, results after the others.
  Store<Parameter> parameters;
  std::vector<Clause> clauses;
  // Tensors that one step hands to a later one.
  std::vector<WorkspaceBuffer> workspace;
  std::vector<Step> steps;
  std::vector<std::string> remarks;
};

// Lowers a variant that a launch needs and that the program has no code for. Called by any thread, at most
// once at a time for one variant; the result is kept.
using VariantSource = std::function<Result<LoweredVariant>(uint32_t step, uint32_t variant)>;

// The symbols' names by index, for to_text of a SizeExpr. They point into `program`.
std::vector<std::string_view> symbol_names(const Program& program);
// "N % 4 == 0 && x on 16 bytes", or "always".
std::string to_text(const Guard& guard, const Program& program);

// Whether the record is consistent: indices in range, argument types that fit, alignments that are powers of
// two, at least one variant a step. The Error says what is not. Programs read from elsewhere are checked by
// this before they are used.
Result<void> verify(const Program& program);
// The same for a variant that a VariantSource brought.
Result<void> verify(const LoweredVariant& code, const Program& program);

// A JSON object: name, target, generics, symbols, parameters, clauses, workspace, steps[].variants[].{guard,
// launches}. A size is a number, or an object with its `text` and its `postfix` form. Ends in a newline. The
// same text for the same program, always.
std::string to_json(const Program& program);
Result<Program> parse_program(std::string_view json);

}  // namespace tenon::runtime
