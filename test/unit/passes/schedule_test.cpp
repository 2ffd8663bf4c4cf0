// What the text of a schedule may say, and what is said about one that makes no sense.
#include <gtest/gtest.h>

#include "../ir/interpreted.h"
#include "passes/pipeline.h"
#include "passes/plan.h"

namespace tenon::passes {
namespace {

// A row reduction that is needed again, so that it cannot be split, and one that is not.
constexpr std::string_view kSoftmax = R"(
kernel @f<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) {
  %m: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %m[i] : f32
    %2 = sub %0, %1 : f32
    yield %2
  }
}
)";
constexpr std::string_view kSum = R"(
kernel @f<M, N>(%x: f32[M, N]) -> (%s: f32[M]) {
  %s: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
}
)";
constexpr std::string_view kMatmul = R"(
kernel @f<M, K, N>(%a: f32[M, K], %b: f32[K, N]) -> (%c: f32[M, N]) {
  %c: f32[M, N] = reduce<sum> [i: M, j: N | k: K] {
    %0 = read %a[i, k] : f32
    %1 = read %b[k, j] : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
}
)";

// A kernel's plan with a text, and what was said about it.
struct Planned {
  Planned(std::string_view kernel_text, std::string_view schedule) {
    ir::Parsed parsed{std::string(kernel_text)};
    EXPECT_TRUE(parsed.ok()) << parsed.errors();
    kernel = std::move(parsed.module->kernels.at(0));
    run_tensor_passes(kernel);
    SourceManager sources;
    FileId file = sources.add("--schedule", std::string(schedule));
    Diagnostics diagnostics;
    SchedulePins pins = parse_schedule(file, sources, diagnostics);
    if (!diagnostics.has_errors())
      plan = passes::plan(kernel, *target_by_name("sm_80"), {.pins = &pins, .diagnostics = &diagnostics});
    for (const Diagnostic& one : diagnostics.all())
      messages += fmt::format("{} {}-{} {}\n", row(one.id).code, one.span.begin, one.span.end, one.message);
  }

  // The schedules of the first step's variants, a line each.
  std::string schedules() const {
    std::string text;
    if (plan.steps.empty()) return text;
    ScheduleNames names(kernel, kernel.groups[0]);
    for (const VariantPlan& variant : plan.steps[0].variants)
      text += variant.name + " " + to_text(variant.schedule, names) + "\n";
    return text;
  }

  ir::Kernel kernel;
  Plan plan;
  std::string messages;
};

struct Mistake {
  std::string_view kernel, schedule, message;
};

constexpr Mistake kMistakes[] = {
    {kSum, "k serial", "E0801 2-8 expected `=`, found `serial`\n"},
    {kSum, "warps(4) k = fit", "E0801 9-10 expected `;`, found `k`\n"},
    {kSum, "warp(4)", "E0820 0-4 there is no field `warp` here\n"},
    {kSum, "k = sereal", "E0820 4-10 there is no placement `sereal` here\n"},
    {kSum, "k = fit lanes(4)", "E0820 8-13 there is no factor `lanes` here\n"},
    {kSum, "q = fit", "E0820 0-1 there is no dimension `q` here\n"},
    {kSum, "i*k = fit", "E0820 0-3 there is no dimension `i*k` here\n"},
    {kSum, "transposes: warps(4)", "E0820 0-10 there is no family `transposes` here\n"},
    {kSum, "step 1: warps(4)", "E0820 5-6 there is no step `1` here\n"},
    {kSum, "step 5000000000: warps(4)", "E0820 5-15 there is no step `5000000000` here\n"},
    {kMatmul, "contractions: stage c[k, i] = k repeat(16), i repeat(32)",
     "E0820 20-21 there is no staged value `c` here\n"},
    {kSum, "k = fit lane(2) lane(4)", "E0821 16-20 `lane` is given twice\n"},
    {kSum, "k = fit serial", "E0821 8-14 the placement is given twice\n"},
    {kSum, "warps(4); warps(8)", "E0821 10-15 `warps` is given twice\n"},
    {kSum, "k = fit; k = serial", "E0821 9-10 `k` is given twice\n"},
    {kSum, "step 0: warps(4) step 0: warps(8)", "E0821 22-23 step 0 is given twice\n"},
    {kSum, "warps(3)", "E0822 6-7 `warps` takes a power of two from 1 to 32\n"},
    {kSum, "k = lane(64)", "E0822 9-11 `lane` takes a power of two from 1 to 32\n"},
    {kSum, "k = repeat(0)", "E0822 11-12 `repeat` takes a number from 1 to 1024\n"},
    {kSum, "k = lane(-1)", "E0822 9-10 `lane` takes a power of two from 1 to 32\n"},
    {kSum, "i = grid lane(2); k = fit lane(32)",
     "E0824 0-34 this schedule cannot run: lanes multiply to 64; a warp has 32\n"},
    {kSum, "warps(2); i = grid warp(4); k = fit lane(32)",
     "E0824 0-44 this schedule cannot run: warps of the dimensions multiply to 4; the block has 2\n"},
    {kSum, "k = grid lane(32)",
     "E0824 0-17 this schedule cannot run: k is reduced over, so it is serial, shared, fit or split\n"},
    {kSum, "i = serial lane(32)",
     "E0824 0-19 this schedule cannot run: i stands outside of a reduction, so it is grid or fit\n"},
    {kSum, "rows: i = split",
     "E0824 6-15 this schedule cannot run: i is not reduced over, so it cannot be split or kept\n"},
    {kSum, "i = grid; k = serial lane(32); split(64)",
     "E0824 0-40 this schedule cannot run: split(64) is for a dimension that is split\n"},
    {kSum, "k = serial lane(32) tiles(2)",
     "E0824 0-28 this schedule cannot run: `tiles` is for a dimension that is split or kept in shared "
     "memory\n"},
    {kSoftmax, "k = shared lane(32); i = grid warp(4)",
     "E0824 0-19 this schedule cannot run: k in shared memory takes all lanes and warps of a block, and a "
     "block has "
     "one row\n"},
    {kSoftmax, "k = shared lane(32) tiles(4000); i = grid",
     "E0824 0-41 this schedule cannot run: it takes 512000 bytes of shared memory; a block on sm_80 has "
     "166912\n"},
    {kSum, "k = serial lane(32) repeat(512); i = grid",
     "E0824 0-41 this schedule cannot run: a thread would hold 512 values; at most 256 are allowed\n"},
    {kMatmul, "contractions: k = serial lane(2)",
     "E0824 14-32 this schedule cannot run: k is summed over in slices: serial or split, with no factor but "
     "`repeat`\n"},
    {kMatmul, "contractions: k = serial repeat(1000)",
     "E0824 0-37 this schedule cannot run: it takes 1024000 bytes of shared memory; a block on sm_80 has "
     "166912\n"},
    {kMatmul, "contractions: stage a[k, i] = k repeat(16), i lane(32) repeat(2)",
     "E0824 14-64 this schedule cannot run: the copy has 64 positions along i, its tile 128\n"},
    {kSum, "k = fit lane(16); i = grid", "W0901 0-26 only 16 of a warp's 32 lanes have work of their own\n"},
};

TEST(ScheduleText, SaysWhatIsWrongAndWhere) {
  for (const Mistake& mistake : kMistakes)
    EXPECT_EQ(Planned(mistake.kernel, mistake.schedule).messages, mistake.message) << mistake.schedule;
}

TEST(ScheduleText, IsForOneStepOfSeveral) {
  constexpr std::string_view kTwoSteps = R"(
kernel @f<M, N>(%x: f32[M, N]) -> (%t: f32[N]) {
  %s: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %t: f32[N] = reduce<sum> [j: N | l: M] {
    %0 = read %x[l, j] : f32
    %1 = read %s[l] : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
}
)";
  EXPECT_EQ(Planned(kTwoSteps, "warps(4)").messages,
            "E0823 0-8 the kernel has 2 steps; say which is meant\n");
  Planned planned(kTwoSteps, "step 0: k = serial lane(32); i = grid; step 1: warps(4)");
  EXPECT_EQ(planned.messages, "");
  EXPECT_EQ(planned.schedules().substr(0, 54), "pinned1.vector rows: warps(1); k = serial lane(32); i ");
}

TEST(ScheduleText, PinsWhatItNamesAndLeavesTheRest) {
  // Every size class becomes one, with and without vectors.
  EXPECT_EQ(Planned(kSoftmax, "k = fit vec(4) lane(8) repeat(2); i = grid lane(4) warp(2)").schedules(),
            "pinned1.vector rows: warps(2); k = fit vec(4) lane(8) repeat(2); i = grid lane(4) warp(2)\n"
            "pinned2 rows: warps(2); k = fit vec(4) lane(8) repeat(2); i = grid lane(4) warp(2)\n"
            "pinned2.wide rows: warps(2); k = fit vec(4) lane(8) repeat(2); i = grid lane(4) warp(2)\n");
  // Copies follow the tile.
  Planned wide(kMatmul, "contractions: k = serial repeat(32)");
  EXPECT_NE(wide.schedules().find("k = serial repeat(32); stage a[k, i] = k lane(32), i warp(8) "
                                  "repeat(16)"),
            std::string::npos)
      << wide.schedules();
  // The warps of a block come from a dimension that is open.
  Planned warps(kSum, "rows: k = fit lane(32); warps(2)");
  EXPECT_NE(warps.schedules().find("warps(2); k = fit lane(32); i = grid warp(2)"), std::string::npos)
      << warps.schedules();
  // A family that would not have been asked.
  EXPECT_TRUE(Planned(kSum, "generic:").schedules().starts_with("generic generic: "))
      << Planned(kSum, "generic:").schedules();
}

TEST(ScheduleText, GuardsFollowTheSchedule) {
  Planned planned(kSum, "k = fit vec(4) lane(8) repeat(2); i = grid lane(4) warp(2)");
  for (const VariantPlan& variant : planned.plan.steps[0].variants)
    for (int64_t n : {64, 65}) {
      auto holds =
          planned.kernel.index.evaluate(variant.guard, [&](ir::IndexId atom) -> std::optional<int64_t> {
            return planned.kernel.symbols[ir::SymbolId(planned.kernel.index[atom].reference)].name == "N" ? n
                                                                                                          : 8;
          });
      EXPECT_EQ(holds, n <= 64 ? 1 : 0) << variant.name << " at " << n;
    }
}

// Nothing that can be written down is an internal error.
TEST(ScheduleText, SurvivesAnything) {
  const char* pieces[] = {"warps",   "split",
                          "(",       ")",
                          "4",       "32",
                          "1",       "=",
                          "k",       "i",
                          "j",       "*",
                          "grid",    "fit",
                          "serial",  "shared",
                          "tiles",   "vec",
                          "lane",    "warp",
                          "repeat",  ";",
                          "stage",   "a",
                          "[",       "]",
                          ",",       "%2",
                          "step",    "0",
                          ":",       "rows",
                          "generic", "999999999999999999999",
                          "\"",      "\xc3"};
  uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (int n = 0; n < 12; ++n) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text += pieces[(state >> 33) % std::size(pieces)];
      text += ' ';
    }
    Planned(i % 2 == 0 ? kSum : kMatmul, text);
  }
  EXPECT_NE(Planned(kSum, std::string(100'000, ';')).messages, "");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += fmt::format("a{} = fit; ", i);
  EXPECT_EQ(Planned(kSum, many).messages.substr(0, 5), "E0811");
}

}  // namespace
}  // namespace tenon::passes
