#include "frontend/parse/ast.h"

#include <array>

namespace tenon::frontend {
namespace {

constexpr std::array<std::string_view, 3> kUnaryOps = {"-", "!", "~"};
constexpr std::array<std::string_view, 18> kBinaryOps = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "|",
                                                         "^",  "&",  "<<", ">>", "+", "-",  "*", "/",  "%"};
constexpr std::array<std::string_view, 8> kReductions = {"sum", "prod", "max",    "min",
                                                         "any", "all",  "argmax", "argmin"};
constexpr std::array<std::string_view, 4> kAssignOps = {"=", "+=", "max=", "min="};
constexpr std::array<std::string_view, 5> kGenericKinds = {"float", "int", "number", "any", "dim"};

static_assert(static_cast<size_t>(BinaryOp::kRemainder) + 1 == kBinaryOps.size());
static_assert(static_cast<size_t>(ReductionKind::kArgmin) + 1 == kReductions.size());
static_assert(static_cast<size_t>(GenericKind::kDim) + 1 == kGenericKinds.size());

}  // namespace

std::string_view spelling(UnaryOp op) { return kUnaryOps[static_cast<size_t>(op)]; }
std::string_view spelling(BinaryOp op) { return kBinaryOps[static_cast<size_t>(op)]; }
std::string_view spelling(ReductionKind kind) { return kReductions[static_cast<size_t>(kind)]; }
std::string_view spelling(AssignOp op) { return kAssignOps[static_cast<size_t>(op)]; }
std::string_view spelling(GenericKind kind) { return kGenericKinds[static_cast<size_t>(kind)]; }

}  // namespace tenon::frontend
