#include "api/ptx_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "support/check.h"
#include "support/targets.h"

namespace tenon::api {
namespace {

using runtime::Argument;
using runtime::ArgumentKind;
using runtime::Launch;
using runtime::LoweredVariant;
using runtime::Program;
using runtime::SizeExpr;
using runtime::Variant;
using runtime::WorkspaceBuffer;

// Writes the comment of one program.
class Heading {
 public:
  explicit Heading(const Program& program) : program_(program), names_(runtime::symbol_names(program)) {}

  std::string text() {
    line(0, fmt::format("kernel {} for {}", program_.name, program_.target));
    for (const runtime::Parameter& parameter : program_.parameters)
      line(1, fmt::format("{} {}", runtime::name(parameter.role), parameter.source));
    for (const runtime::Clause& clause : program_.clauses) line(1, fmt::format("where {}", clause.text));
    workspace(1, "workspace", program_.workspace);
    for (size_t i = 0; i < program_.steps.size(); ++i) step(i);
    return text_;
  }

 private:
  void line(size_t depth, const std::string& what) {
    text_ += fmt::format("// {:{}}{}\n", "", 2 * depth, what);
  }

  std::string size(const SizeExpr& expr) const { return runtime::to_text(expr, names_); }

  void workspace(size_t depth, std::string_view label, const std::vector<WorkspaceBuffer>& buffers) {
    for (const WorkspaceBuffer& buffer : buffers)
      line(depth, fmt::format("{} {}: {} bytes of {}, aligned to {}", label, buffer.name, size(buffer.bytes),
                              tenon::name(buffer.type), runtime::kWorkspaceAlignment));
  }

  void step(size_t index) {
    const runtime::Step& step = program_.steps[index];
    line(1, fmt::format("step {} {}: the first variant whose guard holds", index, step.name));
    for (const Variant& variant : step.variants) {
      line(2, fmt::format("variant {}: {}", variant.name, runtime::to_text(variant.guard, program_)));
      workspace(3, "own workspace", variant.code->workspace);
      for (const Launch& launch : variant.code->launches) describe(launch, *variant.code);
    }
  }

  void describe(const Launch& launch, const LoweredVariant& code) {
    line(3, fmt::format("entry {}: grid {}, block {}, dynamic shared memory {} bytes", launch.entry,
                        size(launch.grid), launch.block, size(launch.dynamic_shared)));
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      line(4, fmt::format("{} .{} {}", i, runtime::name(argument.type), argument_text(argument, code)));
    }
  }

  std::string argument_text(const Argument& argument, const LoweredVariant& code) const {
    switch (argument.kind) {
      case ArgumentKind::kPointer:
        return fmt::format("address of {}", program_.parameters[argument.parameter].name);
      case ArgumentKind::kScalar:
        return fmt::format("value of {}", program_.parameters[argument.parameter].name);
      case ArgumentKind::kWorkspace:
        return fmt::format("address of {}", program_.workspace[argument.workspace].name);
      case ArgumentKind::kVariantWorkspace:
        return fmt::format("address of {}", code.workspace[argument.workspace].name);
      case ArgumentKind::kSize:
        return size(argument.value);
      case ArgumentKind::kMagicMultiplier:
        return fmt::format("multiplier for division by {}", size(argument.value));
      case ArgumentKind::kMagicShift:
        return fmt::format("shift for division by {}", size(argument.value));
    }
    TENON_UNREACHABLE("argument kind");
  }

  const Program& program_;
  std::vector<std::string_view> names_;
  std::string text_;
};

bool is_comment_or_blank(std::string_view line) {
  size_t start = line.find_first_not_of(" \t");
  return start == std::string_view::npos || line.substr(start).starts_with("//");
}

// Joins modules that were written one by one.
class Joiner {
 public:
  void add(std::string_view ptx) {
    bool in_front = true;
    number_files(ptx);
    for (size_t at = 0; at < ptx.size();) {
      size_t end = std::min(ptx.find('\n', at), ptx.size());
      take(ptx.substr(at, end - at), in_front);
      at = end + 1;
    }
  }

  bool empty() const { return version_.empty(); }

  std::string text() const {
    return fmt::format("{}{}\n{}", version_ + "\n", target_ + "\n.address_size 64\n", body_);
  }

 private:
  void take(std::string_view line, bool& in_front) {
    if (line.starts_with(".version")) {
      // All are 7.x or higher with one digit each, so the later version has the greater text.
      version_ = std::max(version_, std::string(line));
    } else if (line.starts_with(".target")) {
      TENON_CHECK(target_.empty() || target_ == line, "modules of two targets are joined");
      target_ = line;
    } else if (line.starts_with(".address_size") || (in_front && is_comment_or_blank(line))) {
      return;
    } else if (std::string_view word = line.substr(std::min(line.find_first_not_of('\t'), line.size()));
               word.starts_with(".file") || word.starts_with(".loc")) {
      in_front = false;
      take_place(word);
    } else if (line.starts_with(".extern") && !declared_.insert(std::string(line)).second) {
      return;
    } else {
      in_front = false;
      body_ += line;
      body_ += '\n';
    }
  }

  // Gives the module's files, which stand anywhere in it, one number each for all modules.
  void number_files(std::string_view ptx) {
    renumbered_.clear();
    constexpr std::string_view kFile = "\t.file\t";
    for (size_t at = ptx.find(kFile); at != ptx.npos; at = ptx.find(kFile, at + 1)) {
      std::string_view line = ptx.substr(at + 1, ptx.find('\n', at) - at - 1);
      auto [number, rest] = place_of(line);
      auto [known, is_new] = files_.emplace(rest, files_.size() + 1);
      renumbered_[number] = known->second;
      if (is_new) body_ += fmt::format("\t.file\t{}{}\n", known->second, rest);
    }
  }

  // Of ".file 1 NAME" or ".loc 1 LINE COLUMN" the number and what stands behind it.
  static std::pair<std::string, std::string> place_of(std::string_view line) {
    size_t begin = std::min(line.find_first_of("0123456789"), line.size());
    size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
    return {std::string(line.substr(begin, end - begin)), std::string(line.substr(end))};
  }

  void take_place(std::string_view line) {
    if (line.starts_with(".file")) return;
    auto [number, rest] = place_of(line);
    body_ += fmt::format("\t.loc\t{}{}\n", renumbered_[number], rest);
  }

  std::string version_;
  std::string target_;
  // Source files by name, and the module's numbers of them as they are here.
  std::map<std::string, size_t> files_;
  std::map<std::string, size_t> renumbered_;
  // Dynamic shared memory is declared once for all entries.
  std::set<std::string> declared_;
  std::string body_;
};

// A module without an entry, of programs that launch nothing.
std::string empty_module(std::string_view target_name) {
  const Target* target = target_by_name(target_name);
  TENON_CHECK(target != nullptr, "a program for an unknown target");
  return fmt::format(".version {}.{}\n.target {}\n", target->ptx_isa / 10, target->ptx_isa % 10,
                     target->name);
}

}  // namespace

std::string ptx_module(const std::vector<Program>& programs) {
  std::string heading;
  Joiner joiner;
  std::set<std::string> entries;
  for (const Program& program : programs) {
    heading += Heading(program).text();
    for (const runtime::Step& step : program.steps) {
      for (const Variant& variant : step.variants) {
        joiner.add(variant.code->ptx);
        for (const Launch& launch : variant.code->launches)
          TENON_CHECK(entries.insert(launch.entry).second, "two entries have one name");
      }
    }
  }
  if (joiner.empty() && !programs.empty()) joiner.add(empty_module(programs[0].target));
  return heading + "\n" + joiner.text();
}

}  // namespace tenon::api
