// Hostile text: mutated programs and random bytes end in diagnostics, whatever they are.
#include <gtest/gtest.h>

#include "corpus.h"
#include "mutator.h"
#include "parsed.h"

namespace tenon::frontend {
namespace {

// Whatever came out can be printed, and a text without diagnostics is a program.
void check(const std::string& text) {
  Parsed parsed(text);
  const std::string tree = print_ast(parsed.module);
  const std::string source = print_source(parsed.module);
  if (parsed.diagnostics.has_errors()) {
    EXPECT_FALSE(render_text(parsed.diagnostics, parsed.sources).empty());
    EXPECT_FALSE(render_json(parsed.diagnostics, parsed.sources).empty());
    return;
  }
  EXPECT_EQ(tree.find("<error>"), std::string::npos) << text;
  Parsed again(source);
  EXPECT_EQ(again.summary(), "") << source;
  EXPECT_EQ(print_ast(again.module), tree) << source;
}

TEST(Mutation, CorpusProgramsNeverCrash) {
  const std::vector<CorpusFile> files = corpus();
  Mutator mutator(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = files[mutator.below(files.size())].text;
    const size_t count = 1 + mutator.below(4);
    for (size_t m = 0; m < count; ++m) mutator.mutate(text);
    check(text);
  }
}

TEST(Mutation, RandomTokensNeverCrash) {
  Mutator mutator(2);
  for (int i = 0; i < 2'000; ++i) {
    std::string text = mutator.below(2) == 0 ? "kernel k(x: f32[N]) -> (y: f32[N]) {\n" : "";
    const size_t count = mutator.below(60);
    for (size_t m = 0; m < count; ++m)
      (text += kPieces[mutator.below(std::size(kPieces))]) += mutator.below(3) ? " " : "";
    check(text);
  }
}

TEST(Mutation, RandomBytesNeverCrash) {
  Mutator mutator(3);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    const size_t count = mutator.below(400);
    for (size_t m = 0; m < count; ++m) text += static_cast<char>(mutator.below(256));
    check(text);
  }
}

}  // namespace
}  // namespace tenon::frontend
