#include "tools/traffic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "passes/analysis/access.h"
#include "passes/analysis/moved_bytes.h"

namespace tenon::tools {
namespace {

// In order of first use.
struct Traffic {
  std::vector<ir::TensorId> read;
  std::vector<ir::TensorId> written;
};

void add_once(std::vector<ir::TensorId>& tensors, std::set<ir::TensorId>& seen, ir::TensorId id) {
  if (seen.insert(id).second) tensors.push_back(id);
}

// What `ops` read from memory and do not define, and what they define that is a result or in
// `used_elsewhere`.
Traffic traffic_of(const ir::Kernel& kernel, const std::vector<ir::TensorOpId>& ops,
                   const std::set<ir::TensorId>& used_elsewhere) {
  std::set<ir::TensorId> defined;
  for (ir::TensorOpId id : ops)
    for (const ir::OpOutput& output : kernel.ops[id].outputs) defined.insert(output.tensor);
  Traffic traffic;
  std::set<ir::TensorId> seen;
  for (ir::TensorOpId id : ops) {
    for (const ir::Instruction& instruction : kernel.ops[id].body)
      if (instruction.op == ir::Opcode::kRead && !defined.contains(instruction.tensor) &&
          !by_value(kernel, instruction.tensor))
        add_once(traffic.read, seen, instruction.tensor);
    for (const ir::OpOutput& output : kernel.ops[id].outputs)
      if (kernel.tensors[output.tensor].role == ir::Tensor::Role::kResult ||
          used_elsewhere.contains(output.tensor))
        add_once(traffic.written, seen, output.tensor);
  }
  return traffic;
}

ir::IndexId bytes_of(ir::Kernel& kernel, ir::TensorId id) {
  const ir::Tensor& tensor = kernel.tensors[id];
  return kernel.index.scale(ir::element_count(kernel, tensor.shape), byte_size(tensor.element));
}

std::string bytes_text(ir::Kernel& kernel, ir::TensorId id) {
  return fmt::format("{} ({} bytes)", kernel.tensors[id].name, ir::size_text(kernel, bytes_of(kernel, id)));
}

std::string list_text(ir::Kernel& kernel, const std::vector<ir::TensorId>& tensors) {
  std::vector<std::string> texts;
  for (ir::TensorId id : tensors) texts.push_back(bytes_text(kernel, id));
  return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string text_of(const ir::Kernel& kernel, const Traffic& traffic) {
  // Sizes are expressions of the kernel's pool, which grows.
  ir::Kernel scratch = kernel;
  return fmt::format("reads {}, writes {}", list_text(scratch, traffic.read),
                     list_text(scratch, traffic.written));
}

// The tensors that operations outside of the group read.
std::set<ir::TensorId> read_elsewhere(const ir::Kernel& kernel, const ir::Group& group) {
  std::set<ir::TensorOpId> own(group.ops.begin(), group.ops.end());
  std::set<ir::TensorId> read;
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) {
    if (own.contains(ir::TensorOpId(i))) continue;
    for (const ir::Instruction& instruction : kernel.ops[ir::TensorOpId(i)].body)
      if (instruction.op == ir::Opcode::kRead) read.insert(instruction.tensor);
  }
  return read;
}

Traffic traffic_of(const ir::Kernel& kernel, const ir::Group& group) {
  return traffic_of(kernel, group.ops, read_elsewhere(kernel, group));
}

// ", 1.50 times the least" where both are numbers or the same; else nothing. What is read in part only may be
// less than the tensors hold, and is not compared.
std::string ratio_text(ir::Kernel& kernel, const Traffic& least, const passes::MovedBytes& moved) {
  ir::IndexId all = kernel.index.add(moved.read, moved.written);
  ir::IndexId bound = kernel.index.constant(0);
  for (const auto& tensors : {least.read, least.written})
    for (ir::TensorId id : tensors) bound = kernel.index.add(bound, bytes_of(kernel, id));
  if (all == bound) return ", the least";
  std::optional<int64_t> bytes = kernel.index.as_constant(all);
  std::optional<int64_t> least_bytes = kernel.index.as_constant(bound);
  if (!bytes || !least_bytes || *least_bytes <= 0 || *bytes < *least_bytes) return "";
  return fmt::format(", {:.2f} times the least",
                     static_cast<double>(*bytes) / static_cast<double>(*least_bytes));
}

}  // namespace

std::vector<std::string> defined_names(const ir::Kernel& kernel, const ir::Group& group) {
  std::vector<std::string> names;
  for (ir::TensorOpId id : group.ops)
    for (const ir::OpOutput& output : kernel.ops[id].outputs)
      names.push_back(kernel.tensors[output.tensor].name);
  return names;
}

std::string traffic_text(const ir::Kernel& kernel, const ir::Group& group) {
  return text_of(kernel, traffic_of(kernel, group));
}

std::optional<std::string> moved_text(const ir::Kernel& kernel, const ir::Group& group,
                                      ir::TileModule module) {
  std::optional<passes::MovedBytes> moved = passes::moved_bytes(kernel, group, module);
  if (!moved) return std::nullopt;
  // The module's expressions are over the symbols of the kernel.
  ir::Kernel scratch = kernel;
  scratch.index = std::move(module.index);
  std::string ratio = ratio_text(scratch, traffic_of(kernel, group), *moved);
  return fmt::format("reads {} bytes, writes {} bytes{}", ir::size_text(scratch, moved->read),
                     ir::size_text(scratch, moved->written), ratio);
}

std::string least_traffic_text(const ir::Kernel& kernel) {
  std::vector<ir::TensorOpId> all;
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) all.emplace_back(i);
  return text_of(kernel, traffic_of(kernel, all, {}));
}

}  // namespace tenon::tools
