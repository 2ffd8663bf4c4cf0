#include "support/id_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon {
namespace {

using WordId = Id<std::string>;

// Words by their content, with a hash that gives many of them the same number.
struct Words {
  WordId intern(const std::string& word) {
    WordId next(static_cast<uint32_t>(words.size()));
    WordId id =
        known.find_or_add(word.size(), next, [&](WordId other) { return words[other.index()] == word; });
    if (id == next) words.push_back(word);
    return id;
  }

  std::vector<std::string> words;
  IdSet<std::string> known;
};

TEST(IdSet, FindsEqualEntitiesHoweverTheyHash) {
  Words words;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ(words.intern(std::to_string(i)), WordId(static_cast<uint32_t>(i)));
  EXPECT_EQ(words.words.size(), 1000u);
}

TEST(IdSet, ACopyGrowsByItself) {
  Words words;
  words.intern("a");
  Words copy = words;
  EXPECT_EQ(copy.intern("b"), WordId(1));
  EXPECT_EQ(words.intern("c"), WordId(1));
  EXPECT_EQ(copy.intern("a"), WordId(0));
}

}  // namespace
}  // namespace tenon
