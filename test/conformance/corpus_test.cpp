// Every kernel of the corpus that checks, at a few small sizes, in every variant that takes them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "examples.h"
#include "support/array_fill.h"
#include "sweep.h"

namespace tenon::conformance {
namespace {

struct CorpusRow {
  const char* file;
  const char* settings;
};

constexpr CorpusRow kCorpus[] = {
#define TENON_CORPUS(file, settings) {file, settings},
#include "corpus.def"
};

constexpr size_t kShapes = 5;
// The product of all sizes: an emulated launch of them takes milliseconds.
constexpr int64_t kMostPoints = 30'000;

int64_t points(const Sizes& sizes) {
  int64_t product = 1;
  for (const auto& [name, value] : sizes) product *= std::max<int64_t>(value, 1);
  return product;
}

// Sizes with which the `where` clauses hold, drawn from more and more candidates; the same on every run.
std::vector<Sizes> small_shapes(const Subject& subject) {
  constexpr int64_t kCandidates[] = {1, 2, 3, 4, 5, 8, 16, 33, 64, 128, 256};
  std::set<Sizes> seen;
  std::vector<Sizes> shapes;
  for (uint64_t attempt = 0; attempt < 4000 && shapes.size() < kShapes; ++attempt) {
    const uint64_t choices = std::min<uint64_t>(4 + attempt / 8, std::size(kCandidates));
    Sizes sizes;
    for (const ir::Symbol& symbol : subject.kernel().symbols)
      sizes[symbol.name] =
          symbol.fixed.value_or(kCandidates[random_bits(5, random_stream(symbol.name), attempt) % choices]);
    if (points(sizes) > kMostPoints || !seen.insert(sizes).second) continue;
    if (subject.make_case(sizes, Fill::kRandom, 1)) shapes.push_back(std::move(sizes));
  }
  return shapes;
}

class CorpusTest : public testing::TestWithParam<CorpusRow> {};

TEST_P(CorpusTest, GivesTheValuesOfTheLanguage) {
  const std::string path = fmt::format("test/corpus/{}.tn", GetParam().file);
  SourceProgram program(path, read_text(path), check_options(GetParam().settings, ""));
  EXPECT_FALSE(program.kernels().empty() && program.complaints().empty()) << "the settings leave generics open";
  for (const ir::Kernel& kernel : program.kernels()) {
    SCOPED_TRACE(kernel.name);
    Machine machine;
    Subject subject(program, kernel, machine);
    SweepResult result = sweep(subject, small_shapes(subject));
    EXPECT_EQ(result.failed, 0) << result.text();
    EXPECT_GT(result.cases, 0) << "no small sizes are accepted";
  }
}

INSTANTIATE_TEST_SUITE_P(All, CorpusTest, testing::ValuesIn(kCorpus),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(Corpus, EachFileHasARow) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_ROOT "/test/corpus"))
    files.insert(entry.path().stem().string());
  std::set<std::string> rows;
  for (const CorpusRow& row : kCorpus) rows.insert(row.file);
  EXPECT_EQ(rows, files);
}

}  // namespace
}  // namespace tenon::conformance
