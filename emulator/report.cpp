#include "emulator/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/driver_types.h"

namespace tenon::emulator {
namespace {

struct FaultRow {
  std::string_view name;
  bool stops;
  int driver_code;
  std::string_view text;
};

constexpr FaultRow kFaults[] = {
#define TENON_FAULT(id, name, stops, driver_code, text) {name, stops, runtime::driver_code, text},
#include "emulator/fault.def"
};

constexpr std::string_view kClassNames[] = {
#define TENON_INSTRUCTION_CLASS(id, name, text) name,
#include "emulator/instruction_class.def"
};

const FaultRow& row(FaultKind kind) { return kFaults[static_cast<size_t>(kind)]; }

nlohmann::ordered_json to_json(const Counters& counters) {
  return {{"warp_instructions", counters.warps},
          {"lane_instructions", counters.lanes},
          {"enabled_lane_instructions", counters.enabled_lanes},
          {"divergent_warp_instructions", counters.divergent},
          {"global_bytes_read", counters.global_bytes_read},
          {"global_bytes_written", counters.global_bytes_written},
          {"global_sectors", counters.global_sectors},
          {"least_global_sectors", counters.least_global_sectors},
          {"shared_bytes", counters.shared_bytes},
          {"shared_wavefronts", counters.shared_wavefronts},
          {"ideal_shared_wavefronts", counters.ideal_shared_wavefronts}};
}

nlohmann::ordered_json to_json(const Fault& fault) {
  return {{"kind", name(fault.kind)},
          {"text", text(fault.kind)},
          {"warning", driver_code(fault.kind) == 0},
          {"kernel", fault.kernel},
          {"instruction", fault.instruction},
          {"line", fault.line},
          {"source_line", fault.source_line},
          {"block", fault.block},
          {"thread", fault.thread},
          {"address", fault.address},
          {"bytes", fault.bytes},
          {"detail", fault.detail}};
}

double ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

std::string_view name(FaultKind kind) { return row(kind).name; }
std::string_view text(FaultKind kind) { return row(kind).text; }
bool stops(FaultKind kind) { return row(kind).stops; }
int driver_code(FaultKind kind) { return row(kind).driver_code; }

std::string_view name(InstructionClass instruction_class) {
  return kClassNames[static_cast<size_t>(instruction_class)];
}

Counters& Counters::operator+=(const Counters& other) {
  warps += other.warps;
  lanes += other.lanes;
  enabled_lanes += other.enabled_lanes;
  divergent += other.divergent;
  global_bytes_read += other.global_bytes_read;
  global_bytes_written += other.global_bytes_written;
  global_sectors += other.global_sectors;
  least_global_sectors += other.least_global_sectors;
  shared_bytes += other.shared_bytes;
  shared_wavefronts += other.shared_wavefronts;
  ideal_shared_wavefronts += other.ideal_shared_wavefronts;
  return *this;
}

int LaunchReport::result_code() const {
  // A fault that stopped the launch says more than one that did not.
  int first = 0;
  for (const Fault& fault : faults) {
    if (stops(fault.kind)) return driver_code(fault.kind);
    if (first == 0) first = driver_code(fault.kind);
  }
  return first;
}

std::string render_text(const Fault& fault) {
  std::string result =
      fmt::format("{}{}", text(fault.kind), driver_code(fault.kind) == 0 ? " (warning)" : "");
  if (fault.line != 0) result += fmt::format(": PTX line {}: {}", fault.line, fault.instruction);
  if (fault.source_line != 0) result += fmt::format(" (source line {})", fault.source_line);
  result +=
      fmt::format("\n  kernel {}, block ({}, {}, {}), thread ({}, {}, {})", fault.kernel, fault.block[0],
                  fault.block[1], fault.block[2], fault.thread[0], fault.thread[1], fault.thread[2]);
  if (fault.bytes != 0) result += fmt::format("\n  {} bytes at address {:#x}", fault.bytes, fault.address);
  if (!fault.detail.empty()) result += fmt::format("\n  {}", fault.detail);
  return result;
}

std::string render_text(const LaunchReport& report, bool instructions) {
  const Counters& total = report.total;
  std::string result =
      fmt::format("kernel {}: grid ({}, {}, {}), block ({}, {}, {}), {} bytes of dynamic shared memory\n",
                  report.kernel, report.grid[0], report.grid[1], report.grid[2], report.block[0],
                  report.block[1], report.block[2], report.dynamic_shared_bytes);
  result += fmt::format(
      "  PTX instructions (not machine instructions): {} of warps, {} of lanes, {} without mov; {} of warps "
      "divergent\n",
      report.warp_instructions(), report.lane_instructions(), report.lane_instructions_without_mov(),
      total.divergent);
  for (size_t i = 0; i < kInstructionClassCount; ++i) {
    if (report.by_class[i].warps == 0) continue;
    result += fmt::format("    {:<10} {:>14} {:>16}\n", kClassNames[i], report.by_class[i].warps,
                          report.by_class[i].lanes);
  }
  result += fmt::format(
      "  global memory: {} bytes read, {} written, {} sectors of 32 bytes, {} at least ({:.3f})\n",
      total.global_bytes_read, total.global_bytes_written, total.global_sectors, total.least_global_sectors,
      ratio(total.global_sectors, total.least_global_sectors));
  result += fmt::format("  shared memory: {} bytes, {} wavefronts, {} ideal ({:.3f})\n", total.shared_bytes,
                        total.shared_wavefronts, total.ideal_shared_wavefronts,
                        ratio(total.shared_wavefronts, total.ideal_shared_wavefronts));
  if (instructions) {
    for (const InstructionReport& row : report.instructions) {
      if (row.counters.warps == 0) continue;
      result += fmt::format("  {:>6} {:>12} {:>14} {:>10}  {}\n", row.info.line, row.counters.warps,
                            row.counters.lanes, row.counters.divergent, row.info.text);
    }
  }
  for (const Fault& fault : report.faults) result += "fault: " + render_text(fault) + "\n";
  if (report.more_faults > 0) result += fmt::format("{} more faults\n", report.more_faults);
  return result;
}

std::string render_json(const LaunchReport& report, bool instructions) {
  nlohmann::ordered_json json = {{"kernel", report.kernel}, {"grid", report.grid}, {"block", report.block}};
  json["dynamic_shared_bytes"] = report.dynamic_shared_bytes;
  json["lane_instructions_without_mov"] = report.lane_instructions_without_mov();
  json.update(to_json(report.total));
  nlohmann::ordered_json classes = nlohmann::ordered_json::object();
  for (size_t i = 0; i < kInstructionClassCount; ++i) {
    if (report.by_class[i].warps == 0) continue;
    classes[std::string(kClassNames[i])] = {{"warp_instructions", report.by_class[i].warps},
                                            {"lane_instructions", report.by_class[i].lanes}};
  }
  json["classes"] = std::move(classes);
  nlohmann::ordered_json faults = nlohmann::ordered_json::array();
  for (const Fault& fault : report.faults) faults.push_back(to_json(fault));
  json["faults"] = std::move(faults);
  json["more_faults"] = report.more_faults;
  if (instructions) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const InstructionReport& row : report.instructions) {
      nlohmann::ordered_json entry = {{"line", row.info.line},
                                      {"text", row.info.text},
                                      {"class", name(row.info.instruction_class)},
                                      {"source_line", row.info.source_line}};
      entry.update(to_json(row.counters));
      rows.push_back(std::move(entry));
    }
    json["instructions"] = std::move(rows);
  }
  // Text from a module may be no valid UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tenon::emulator
