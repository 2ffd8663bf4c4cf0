// What the text of the PTX does not show: which of LLVM's passes ran, targets and versions, several threads.
#include "codegen/codegen.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "ir/tile_builder.h"

namespace tenon::codegen {
namespace {

// A module of one launch that does nothing.
ir::TileModule empty_launch() {
  ir::Kernel nothing;
  ir::TileModule module = ir::make_tile_module(nothing, "nothing");
  ir::TileKernel kernel;
  kernel.name = "nothing";
  kernel.body = module.regions.add({});
  module.kernels.push_back(kernel);
  ir::TileBuilder(module, kernel.body).yield({});
  return module;
}

Compiled compiled_for(const Target& target, unsigned ptx_isa = 0) {
  ir::TileModule module = empty_launch();
  Options options;
  options.target = &target;
  options.ptx_isa = ptx_isa;
  Result<Compiled> compiled = compile(module, options);
  EXPECT_TRUE(compiled) << compiled.error().message;
  return *std::move(compiled);
}

// LLVM asks once a function, by names that it may change; for the sixth only where there is a loop.
TEST(Codegen, LeavesOutPassesThatFindNothing) {
  EXPECT_EQ(compiled_for(targets().front()).skipped_passes, 5u);
}

TEST(Codegen, EveryTargetHasItsLeastVersion) {
  for (const Target& target : targets()) {
    std::string ptx = compiled_for(target).ptx;
    std::string version = std::to_string(target.ptx_isa / 10) + "." + std::to_string(target.ptx_isa % 10);
    EXPECT_NE(ptx.find(".version " + version + "\n"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find(".target " + std::string(target.name) + "\n"), std::string::npos) << ptx;
  }
}

TEST(Codegen, TakesTheVersionThatItIsGiven) {
  EXPECT_NE(compiled_for(targets().front(), 83).ptx.find(".version 8.3\n"), std::string::npos);
}

TEST(Codegen, ThreadsShareNothing) {
  const std::string alone = compiled_for(targets().front()).ptx;
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&text] { text = compiled_for(targets().front()).ptx; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, alone);
}

}  // namespace
}  // namespace tenon::codegen
