#include "support/unicode.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Unicode, EveryCodePointComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const CodePoint decoded = decode_utf8(text, 0);
    ASSERT_TRUE(decoded.valid) << static_cast<uint32_t>(c);
    ASSERT_EQ(decoded.value, c);
    ASSERT_EQ(decoded.length, text.size());
  }
}

TEST(Unicode, WhatIsNotUtf8IsInvalid) {
  // Stray, truncated, overlong, surrogate, too large.
  for (std::string_view text :
       {"\x80", "\xC3", "\xE2\x89", "\xF0\x9F\x98", "\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
        "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xC3(", "\xE2\x28\xA1"}) {
    const CodePoint decoded = decode_utf8(text, 0);
    EXPECT_FALSE(decoded.valid);
    EXPECT_EQ(decoded.length, 1u);
  }
}

TEST(Unicode, Widths) {
  EXPECT_EQ(display_width('a'), 1u);
  EXPECT_EQ(display_width(0x00E9), 1u);
  EXPECT_EQ(display_width(0x0301), 0u);
  EXPECT_EQ(display_width(0x6838), 2u);
  EXPECT_EQ(display_width(0x1F600), 2u);
  EXPECT_FALSE(is_printable(0x07));
  EXPECT_FALSE(is_printable(0x202E));
  EXPECT_TRUE(is_printable(0x6838));
}

}  // namespace
}  // namespace tenon
