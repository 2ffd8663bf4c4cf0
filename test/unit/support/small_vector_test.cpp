#include "support/small_vector.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace tenon {
namespace {

using List = SmallVector<int, 2>;

List counted(int count) {
  List list;
  for (int i = 0; i < count; ++i) list.push_back(i);
  return list;
}

// Lists that lie in the object, just fill it, and do not.
constexpr int kCounts[] = {0, 1, 2, 3, 4, 5, 9};

TEST(SmallVector, HoldsWhatWasAppended) {
  for (int count : kCounts) {
    List list = counted(count);
    ASSERT_EQ(list.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) EXPECT_EQ(list[static_cast<size_t>(i)], i);
  }
}

TEST(SmallVector, CopiesAreApart) {
  for (int count : kCounts) {
    List list = counted(count);
    List copy = list;
    EXPECT_EQ(copy, list);
    copy.push_back(7);
    EXPECT_NE(copy, list);
    copy = list;
    EXPECT_EQ(copy, list);
    const List& same = copy;
    copy = same;
    EXPECT_EQ(copy, list);
  }
}

TEST(SmallVector, MovesLeaveNothing) {
  for (int count : kCounts) {
    List list = counted(count);
    List moved = std::move(list);
    EXPECT_EQ(moved, counted(count));
    EXPECT_TRUE(list.empty());
    list = std::move(moved);
    EXPECT_EQ(list, counted(count));
    EXPECT_TRUE(moved.empty());
    list = counted(1);
    EXPECT_EQ(list, counted(1));
  }
}

TEST(SmallVector, AppendsItsOwnElements) {
  for (int count : {1, 2, 4}) {
    List list = counted(count);
    list.push_back(list[0]);
    list.insert(list.begin(), list.back());
    list.resize(list.size() + 8, list[1]);
    EXPECT_EQ(list.front(), 0);
    EXPECT_EQ(list.back(), 0);
    EXPECT_EQ(list.size(), static_cast<size_t>(count) + 10);
  }
}

TEST(SmallVector, InsertsAndErasesLikeAVector) {
  for (int count : kCounts) {
    for (int at = 0; at <= count; ++at) {
      for (int more : {0, 1, 3}) {
        List list = counted(count);
        std::vector<int> expected(list.begin(), list.end());
        std::vector<int> inserted(static_cast<size_t>(more), 42);
        list.insert(list.begin() + at, inserted.begin(), inserted.end());
        expected.insert(expected.begin() + at, inserted.begin(), inserted.end());
        EXPECT_EQ(list, List(expected));
        list.erase(list.begin() + at / 2, list.end());
        expected.erase(expected.begin() + at / 2, expected.end());
        EXPECT_EQ(list, List(expected));
      }
    }
  }
  List list = counted(9);
  EXPECT_EQ(erase_if(list, [](int i) { return i % 3 != 0; }), 6u);
  EXPECT_EQ(list, (List{0, 3, 6}));
}

TEST(SmallVector, IsMadeOfOtherLists) {
  std::vector<int> three{1, 2, 3};
  List list = three;
  EXPECT_EQ(list, (List{1, 2, 3}));
  list = std::span<const int>(three).first(1);
  EXPECT_EQ(list, List{1});
  EXPECT_LT(list, (List{1, 0}));
  std::span<const int> view = list;
  EXPECT_EQ(view.size(), 1u);
}

}  // namespace
}  // namespace tenon
