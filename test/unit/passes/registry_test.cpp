#include <set>

#include "passed.h"
#include "passes/pipeline.h"

namespace tenon::passes {
namespace {

TEST(Registry, FlagsDifferAndAreFound) {
  std::set<std::string_view> flags;
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(flags.insert(pass.flag).second) << pass.flag;
    EXPECT_EQ(&pass, pass_by_flag(pass.flag));
    EXPECT_FALSE(pass.doc.empty());
  }
  EXPECT_EQ(nullptr, pass_by_flag("no-such-pass"));
}

TEST(Registry, ThePipelineConsistsOfTensorPasses) {
  for (std::string_view flag : tensor_pipeline()) {
    ASSERT_NE(nullptr, pass_by_flag(flag)) << flag;
    EXPECT_NE(nullptr, pass_by_flag(flag)->tensor) << flag;
  }
}

TEST(Registry, UnknownFlagsAndWrongStagesAreUsageErrors) {
  PassRun run;
  std::string_view unknown[] = {"foldd"};
  auto ran = run_passes(run, unknown);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ErrorKind::kUsage, ran.error().kind);
  EXPECT_EQ("there is no pass foldd", ran.error().message);
  std::string_view early[] = {"vectorize"};
  ran = run_passes(run, early);
  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ("vectorize works on tile IR, but stands where the program is tensor IR", ran.error().message);
}

constexpr const char* kText =
    "kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n    %0 = read %x[i] : f32\n"
    "    yield %0\n  }\n}\n";

TEST(Registry, TheHookSeesEveryPass) {
  ir::Parsed parsed(kText);
  PassRun run;
  run.module = std::move(*parsed.module);
  std::string seen;
  std::vector<std::string_view> flags(tensor_pipeline().begin(), tensor_pipeline().end());
  RunOptions options;
  options.after = [&](const Pass& pass, const PassRun&) { seen += std::string(pass.flag) + " "; };
  EXPECT_TRUE(run_passes(run, flags, options).has_value());
  EXPECT_EQ("contract-fma fold cse inline fold cse sibling-reductions dce inout-copies group ", seen);
}

TEST(Registry, DownToTiles) {
  ir::Parsed parsed(kText);
  PassRun run;
  run.module = std::move(*parsed.module);
  std::vector<std::string_view> flags = {"group", "build-nest", "assign-layouts"};
  EXPECT_FALSE(run_passes(run, flags).has_value()) << "build-nest needs a target";
  ir::Parsed again(kText);
  run = PassRun();
  run.module = std::move(*again.module);
  RunOptions options;
  options.target = target_by_name("sm_80");
  auto ran = run_passes(run, flags, options);
  ASSERT_TRUE(ran.has_value()) << ran.error().message;
  EXPECT_EQ(1u, run.tiles.size());
  EXPECT_EQ(PassStage::kTile, run.stage);
}

}  // namespace
}  // namespace tenon::passes
