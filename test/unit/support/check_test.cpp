// What a bug of ours leaves behind.
#include "support/check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tenon {
namespace {

TEST(Check, LeavesTheProgramInTheFolderOfTemporaryFiles) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "tenon-check-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  EXPECT_EXIT(
      {
        setenv("TMPDIR", folder.c_str(), 1);
        DoingScope outer("outer work", [] { return std::string("not this"); });
        DoingScope inner("inner work", [] { return std::string("the program"); });
        TENON_CHECK(1 + 1 == 3, "numbers are wrong");
      },
      testing::ExitedWithCode(kInternalErrorStatus),
      "internal error: numbers are wrong\n.*\n  in inner work\n  in outer work\n  the program at that point "
      "is in ");
  std::filesystem::directory_iterator files(folder);
  ASSERT_NE(files, std::filesystem::directory_iterator()) << "no file was written";
  std::ifstream file(files->path());
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(content, "the program");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon
