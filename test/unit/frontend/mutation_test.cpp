// Hostile text: mutated programs and random bytes end in diagnostics, whatever they are.
#include <gtest/gtest.h>

#include <random>

#include "corpus.h"
#include "parsed.h"

namespace tenon::frontend {
namespace {

// What mutations insert: tokens that change the structure, and bytes that are none.
constexpr std::string_view kPieces[] = {
    "(",        ")",  "[",          "]",    "{",      "}",    ",",
    ";",        ":",  "=",          "+=",   "max",    "sum[", "where",
    "in",       "..", "...",        "|",    "| drop", "?",    "@",
    "kernel",   "fn", "->",         "<",    ">",      "f32",  "use",
    "schedule", "on", "//",         "/*",   "\"",     "\n",   "0x",
    "1e",       ".",  "-",          "!",    "and",    "\xff", "\xE2\x89\xA4",
    "\xC3\xB6", "$",  "9999999999", "x[i]", "inout"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void mutate(std::string& text) {
    const size_t at = below(text.size() + 1);
    const size_t length = std::min(below(20), text.size() - at);
    switch (below(5)) {
      case 0:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

 private:
  std::mt19937 random_;
};

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
