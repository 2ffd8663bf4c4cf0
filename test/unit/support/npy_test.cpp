#include "support/npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/array_fill.h"
#include "support/array_text.h"
#include "support/file.h"
#include "support/npz.h"

namespace tenon {
namespace {

// A version 1 file with this header text, unpadded, as no writer but many a hand would make it.
std::string file_of(const std::string& header, const std::string& data) {
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(header.size() & 0xFF);
  content += static_cast<char>(header.size() >> 8);
  return content + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string message_of(const std::string& content, std::optional<ElementType> expected = std::nullopt) {
  Result<Array> array = parse_npy(content, "x.npy", expected);
  return array ? "no error" : array.error().message;
}

TEST(Npy, WritesWhatNumpyWrites) {
  Array a = *Array::zeros(ElementType::kF32, {2, 3});
  fill_iota(a);
  std::string content = npy_content(a);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(content.size(), 128 + 24u);
  EXPECT_EQ(content.substr(10, header.size()), header);
  EXPECT_EQ(content[127], '\n');
  EXPECT_NE(npy_content(*Array::zeros(ElementType::kI8, {5})).find("'shape': (5,), }"), std::string::npos);
  EXPECT_NE(npy_content(Array()).find("'shape': (), }"), std::string::npos);
}

TEST(Npy, EveryTypeComesBack) {
  for (size_t i = 0; i <= static_cast<size_t>(ElementType::kIndex); ++i) {
    auto type = static_cast<ElementType>(i);
    Array a = *Array::zeros(type, {3, 5});
    fill_random(a, 1, i);
    Result<Array> back = parse_npy(npy_content(a), "x.npy", type);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(same_values(a, *back)) << name(type);
  }
}

TEST(Npy, FortranOrderIsTransposed) {
  std::string data("\x01\x02\x03\x04\x05\x06", 6);
  EXPECT_EQ(to_text(*parse_npy(file_of(header_of("|i1", "(2, 3)", "True"), data), "x")),
            "[[1 3 5]\n [2 4 6]]");
  EXPECT_EQ(to_text(*parse_npy(file_of(header_of("|i1", "(0, 3)", "True"), ""), "x")), "[]");
}

TEST(Npy, BigEndianIsSwapped) {
  EXPECT_EQ(to_text(*parse_npy(file_of(header_of(">i2", "(2,)"), std::string("\x01\x00\x00\x02", 4)), "x")),
            "[256   2]");
}

TEST(Npy, LaterVersionsHaveLongerLengths) {
  std::string content = file_of(header_of("|i1", "()"), "\x07");
  content[6] = 3;
  content.insert(10, 2, '\0');
  EXPECT_EQ(to_text(*parse_npy(content, "x")), "7");
}

TEST(Npy, DamageIsNamed) {
  EXPECT_EQ(message_of(""), "cannot read x.npy: it does not start as a .npy file does");
  EXPECT_EQ(message_of(std::string("\x93NUMPY\x01\x00\xFF", 9)),
            "cannot read x.npy: it ends within its header");
  EXPECT_EQ(message_of(std::string("\x93NUMPY\x01\x00\xFF\x01{}", 12)),
            "cannot read x.npy: it ends within its header");
  EXPECT_EQ(message_of(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12)),
            "cannot read x.npy: version 9 of the format is not known");
  EXPECT_EQ(message_of(file_of("{}", "")),
            "cannot read x.npy: the header lacks one of descr, fortran_order and shape");
  EXPECT_EQ(message_of(file_of("{'descr': [('a', '<f4')], 'shape': ()}", "")),
            "cannot read x.npy: structured arrays have no counterpart in Tenon");
  EXPECT_EQ(message_of(file_of("{'descr': '<f4', 'descr': '<f4'}", "")),
            "cannot read x.npy: the header has 'descr' twice");
  EXPECT_EQ(message_of(file_of("{'color': '<f4'}", "")),
            "cannot read x.npy: the header has the unknown key 'color'");
  EXPECT_EQ(message_of(file_of(header_of("|O", "()"), "")),
            "cannot read x.npy: elements of dtype '|O' have no counterpart in Tenon");
  EXPECT_EQ(message_of(file_of(header_of("<c8", "()"), "")),
            "cannot read x.npy: elements of dtype '<c8' have no counterpart in Tenon");
  EXPECT_EQ(message_of(file_of(header_of("<f4", "(2, -3)"), "")),
            "cannot read x.npy: shape is not a tuple of sizes from 0 to 2^63-1");
  EXPECT_EQ(message_of(file_of(header_of("<f4", "(99999999999999999999,)"), "")),
            "cannot read x.npy: shape is not a tuple of sizes from 0 to 2^63-1");
  EXPECT_EQ(message_of(file_of(header_of("<f4", "(9223372036854775807, 2)"), "")),
            "cannot read x.npy: the shape [9223372036854775807, 2] has too many elements");
  EXPECT_EQ(message_of(file_of(header_of("<f4", "(2, 3)"), "abcd")),
            "cannot read x.npy: f32[2, 3] takes 24 bytes, but 4 follow the header");
  EXPECT_EQ(message_of(file_of(header_of("<f4", "(1,)"), "abcdefgh")),
            "cannot read x.npy: f32[1] takes 4 bytes, but more follow the header");
}

TEST(Npy, TypesMustAgree) {
  std::string f64 = file_of(header_of("<f8", "()"), "abcdefgh");
  EXPECT_EQ(message_of(f64, ElementType::kF32), "cannot read x.npy: it holds f64, but f32 is expected");
  std::string raw = file_of(header_of("|V1", "(1,)"), "a");
  EXPECT_EQ(message_of(raw),
            "cannot read x.npy: elements of dtype '|V1' may be f8e4m3 or f8e5m2: the file does not say");
  EXPECT_EQ(parse_npy(raw, "x", ElementType::kF8E5M2)->type(), ElementType::kF8E5M2);
  EXPECT_EQ(message_of(raw, ElementType::kU8),
            "cannot read x.npy: elements of dtype '|V1' have no counterpart in Tenon");
  EXPECT_EQ(parse_npy(file_of(header_of("<i8", "(1,)"), "abcdefgh"), "x", ElementType::kIndex)->type(),
            ElementType::kIndex);
  EXPECT_EQ(message_of(file_of(header_of("|V2", "()"), "ab"), ElementType::kF16),
            "cannot read x.npy: it holds bf16, but f16 is expected");
}

// Every file that differs in one byte is read or refused, and never ends the program.
TEST(Npy, ChangedBytesAreSurvived) {
  std::string content = npy_content(*Array::zeros(ElementType::kF32, {2, 3}));
  for (size_t at = 0; at < 128; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = content;
      changed[at] = static_cast<char>(value);
      (void)parse_npy(changed, "x.npy");
    }
  }
}

class NpzTest : public testing::Test {
 protected:
  NpzTest() : path_(testing::TempDir() + "tenon_npz_test.npz") {}
  ~NpzTest() override { std::filesystem::remove(path_); }

  std::string path_;
};

TEST_F(NpzTest, ComesBackInOrder) {
  Array a = *Array::zeros(ElementType::kF32, {2, 3});
  fill_iota(a);
  Array b = *Array::zeros(ElementType::kBF16, {});
  ASSERT_TRUE(write_npz(path_, {{"y", a}, {"x", b}}));
  Result<NamedArrays> back = read_npz(path_);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].first, "y");
  EXPECT_TRUE(same_values((*back)[0].second, a));
  EXPECT_TRUE(same_values((*back)[1].second, b));
}

TEST_F(NpzTest, ChangedBytesAreSurvived) {
  Array a = *Array::zeros(ElementType::kF32, {2, 3});
  ASSERT_TRUE(write_npz(path_, {{"x", a}}));
  std::string content = *read_file(path_, 1 << 20);
  int refused = 0;
  for (size_t at = 0; at < content.size(); ++at) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    ASSERT_TRUE(write_file(path_, changed));
    refused += !read_npz(path_);
  }
  // The data and all that its checksum covers, at the least.
  EXPECT_GT(refused, 152);
}

TEST(File, FailuresAreNamed) {
  EXPECT_EQ(read_file("/nonexistent/x", 1).error().message,
            "cannot read /nonexistent/x: No such file or directory");
  EXPECT_EQ(read_file("/", 1).error().message, "cannot read /: it is a folder");
  EXPECT_EQ(write_file("/nonexistent/x", "").error().message,
            "cannot write /nonexistent/x: No such file or directory");
  EXPECT_EQ(write_file("/dev/full", "x").error().message, "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace tenon
