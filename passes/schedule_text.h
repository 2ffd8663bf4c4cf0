// The text form of a schedule, one line, as `explain` prints it and `--schedule` takes it:
//
//   rows: warps(8); split(216); k = split vec(4) lane(32) warp(8) repeat(4); i*j = grid
//
//   text    := part { part }
//   part    := [ "step" number ":" ] [ family ":" ] item { ";" item }
//   item    := field "(" number ")"
//            | dim "=" [ placement ] { factor "(" number ")" }
//            | "stage" value "[" dim { "," dim } "]" "=" dim { factor } { "," dim { factor } }
//   value   := tensor [ "%" number ]
//   dim     := axis { "*" axis } | "1"
//
// `1` is the dimension without axes of a group of scalars. A part without "step" means the only step. A
// factor that is left out is 1; a placement, a field or a whole item that is left out is open, for a family
// to fill. Where all dimensions are named, lanes and warps go to them in the order of the text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor.h"
#include "passes/schedule.h"
#include "support/diagnostics.h"

namespace tenon::passes {

// A number of the schedule that belongs to no dimension.
struct ScheduleField {
  std::string_view name;
  int32_t Schedule::* member;
  int32_t least;
  int32_t most;
  bool power_of_two;
};
std::span<const ScheduleField> schedule_fields();

// A number of a dimension, and of a copy of its tile.
struct TileFactor {
  std::string_view name;
  int32_t LoopDim::* of_dim;
  // Null where a copy has none.
  int32_t StagedRead::Factor::* of_copy;
  int32_t most;
  bool power_of_two;
};
std::optional<Placement> placement_by_name(std::string_view name);
std::vector<std::string_view> placement_names();

inline constexpr size_t kTileFactors = 5;
std::span<const TileFactor, kTileFactors> tile_factors();

// What axes, dimensions and staged values of a group are called.
class ScheduleNames {
 public:
  ScheduleNames(const ir::Kernel& kernel, const ir::Group& group);

  // In the order of the group's parallel and row axes. Of axes with one name the second is `i.1`, and so on.
  const std::vector<std::string>& axes() const { return names_; }
  std::string axis(ir::AxisId axis) const;
  std::string dim(const LoopDim& dim) const;
  // The tensor, for the group's only read of it; else the operation's result and the value: `s%2`.
  std::string value(ir::TensorOpId op, ir::ValueId value) const;

 private:
  const ir::Kernel& kernel_;
  const ir::Group& group_;
  ir::AxisList axes_;
  std::vector<std::string> names_;
};

std::string to_text(const Schedule& schedule, const ScheduleNames& names);

// What a text says about schedules, with the place of everything.
struct SchedulePins {
  struct Name {
    std::string text;
    Span span;
  };
  using Factors = std::array<int32_t, kTileFactors>;
  struct Dim {
    Name name;
    std::optional<Placement> placement;
    Factors factors;
    Span span;
  };
  struct Copy {
    Name dim;
    Factors factors;
  };
  struct Staged {
    Name value;
    std::vector<Name> buffer_order;
    std::vector<Copy> copies;
    Span span;
  };
  struct Field {
    // Of schedule_fields().
    size_t field = 0;
    int32_t value = 1;
    Span span;
  };
  // What is said about one step.
  struct Step {
    // Absent: the only one.
    std::optional<uint32_t> step;
    Span step_span;
    // Empty: whichever takes it.
    Name family;
    std::vector<Field> fields;
    std::vector<Dim> dims;
    std::vector<Staged> staged;
    Span span;
  };
  std::vector<Step> steps;
};

// Reads the whole file. Mistakes are reported; what could be read is returned.
SchedulePins parse_schedule(FileId file, const SourceManager& sources, Diagnostics& diagnostics);

}  // namespace tenon::passes
