// Rendering of diagnostics, and suggestions.
#include "support/diagnostics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenon {
namespace {

class Rendering : public testing::Test {
 protected:
  FileId add(std::string text, std::string name = "a.tn") {
    return sources.add(std::move(name), std::move(text));
  }
  Span at(FileId file, std::string_view part, size_t from = 0) const {
    const size_t begin = sources.file(file).text.find(part, from);
    return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + part.size())};
  }
  Diagnostic& report(Span span) { return diagnostics.report(DiagnosticId::kUnmatched, span, ")"); }
  // The text below the first line.
  std::string body() const {
    const std::string text = render_text(diagnostics, sources);
    return text.substr(text.find('\n') + 1);
  }

  SourceManager sources;
  Diagnostics diagnostics;
};

TEST_F(Rendering, FirstLineAndCaretRange) {
  const FileId file = add("one\ntwo three\n");
  report(at(file, "three"));
  EXPECT_EQ(render_text(diagnostics, sources),
            "a.tn:2:5: error[E0203]: `)` closes nothing\n"
            "  |\n"
            "2 | two three\n"
            "  |     ^^^^^\n");
}

TEST_F(Rendering, WithoutAPlaceOnlyTheMessageAndItsNotes) {
  report({}).note("first\nsecond");
  EXPECT_EQ(render_text(diagnostics, sources),
            "error[E0203]: `)` closes nothing\n"
            "  = note: first\n"
            "          second\n");
}

TEST_F(Rendering, LabelsOfTheSameLine) {
  const FileId file = add("a + b * c\n");
  report(at(file, "b"))
      .label(at(file, "a"), "left")
      .label(at(file, "c"), "right")
      .label(at(file, "b"), "here");
  EXPECT_EQ(body(),
            "  |\n"
            "1 | a + b * c\n"
            "  | -   ^   - right\n"
            "  | |   |\n"
            "  | |   here\n"
            "  | |\n"
            "  | left\n");
}

TEST_F(Rendering, LabelsOfOtherLines) {
  const FileId file = add("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n");
  report(at(file, "three")).label(at(file, "one"), "first").label(at(file, "ten"), "last");
  EXPECT_EQ(body(),
            "   |\n"
            " 1 | one\n"
            "   | --- first\n"
            " 2 | two\n"
            " 3 | three\n"
            "   | ^^^^^\n"
            "...\n"
            "10 | ten\n"
            "   | --- last\n");
}

TEST_F(Rendering, LabelsOfOtherFiles) {
  const FileId file = add("one\n");
  const FileId other = add("\n two\n", "b.tn");
  report(at(file, "one")).label(at(other, "two"), "declared here");
  EXPECT_EQ(body(),
            "  |\n"
            "1 | one\n"
            "  | ^^^\n"
            "  --> b.tn:2:2\n"
            "  |\n"
            "2 |  two\n"
            "  |  --- declared here\n");
}

TEST_F(Rendering, SpansOfSeveralLines) {
  const FileId file = add("x = (a\n  + b\n  + c) d\n");
  report(at(file, "(a\n  + b\n  + c)"));
  EXPECT_EQ(body(),
            "  |\n"
            "1 | x = (a\n"
            "  |     ^^\n"
            "2 |   + b\n"
            "3 |   + c) d\n"
            "  |   ^^^^\n");
}

TEST_F(Rendering, TabsWideAndUnprintableCharacters) {
  const FileId file = add("\ta\t\u6838 e\u0301 \x01 \xff b\n");
  report(at(file, "b")).label(at(file, "a"), "tab").label(at(file, "\u6838"), "wide");
  EXPECT_EQ(body(),
            "  |\n"
            "1 |     a   \u6838 e\u0301 \uFFFD \uFFFD b\n"
            "  |     -   --       ^\n"
            "  |     |   |\n"
            "  |     |   wide\n"
            "  |     |\n"
            "  |     tab\n");
}

TEST_F(Rendering, EmptySpansAndTheEndOfTheFile) {
  const FileId file = add("ab\r\nc");
  report({file, 1, 1});
  report({file, 5, 5});
  EXPECT_EQ(render_text(diagnostics, sources),
            "a.tn:1:2: error[E0203]: `)` closes nothing\n"
            "  |\n"
            "1 | ab\n"
            "  |  ^\n"
            "\n"
            "a.tn:2:2: error[E0203]: `)` closes nothing\n"
            "  |\n"
            "2 | c\n"
            "  |  ^\n");
}

TEST_F(Rendering, Fixes) {
  const FileId file = add("f(a b)\n");
  const Span b = at(file, "b");
  report(b)
      .fix({file, b.begin - 1, b.begin - 1}, ",", "add it")
      .fix(at(file, "a b"), "c", "use this")
      .fix({}, "", "or go");
  EXPECT_EQ(body(),
            "  |\n"
            "1 | f(a b)\n"
            "  |     ^\n"
            "help: add it\n"
            "  |\n"
            "1 | f(a, b)\n"
            "  |    +\n"
            "help: use this\n"
            "  |\n"
            "1 | f(c)\n"
            "  |   ~\n"
            "help: or go\n");
}

TEST_F(Rendering, LongLinesAreCut) {
  const FileId file = add(std::string(500, 'x') + "y" + std::string(5'000'000, 'z'));
  report(at(file, "y"));
  EXPECT_EQ(body(), "  |\n1 | ..." + std::string(50, 'x') + "y" + std::string(69, 'z') + "...\n  |    " +
                        std::string(50, ' ') + "^\n");
}

TEST_F(Rendering, ColorOnlyAddsEscapes) {
  const FileId file = add("one two\n");
  report(at(file, "two")).label(at(file, "one"), "label").note("note").fix(at(file, "two"), "three", "fix");
  std::string colored = render_text(diagnostics, sources, true);
  EXPECT_NE(colored.find("\x1b[1;31m"), std::string::npos);
  std::string plain;
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b')
      i = colored.find('m', i);
    else
      plain += colored[i];
  }
  EXPECT_EQ(plain, render_text(diagnostics, sources));
}

TEST_F(Rendering, Json) {
  const FileId file = add("one\n\u6838 two \xff\n");
  report(at(file, "two"))
      .label(at(file, "one"), "label")
      .note("note \xff")
      .fix(at(file, "two"), "three", "fix");
  report({});
  const std::string text = render_json(diagnostics, sources);
  ASSERT_TRUE(text.ends_with("]\n"));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_array());
  const auto& first = json[0];
  EXPECT_EQ(first["code"], "E0203");
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["message"], "`)` closes nothing");
  EXPECT_EQ(first["file"], "a.tn");
  EXPECT_EQ(first["start"], nlohmann::json({{"line", 2}, {"column", 3}, {"offset", 8}}));
  EXPECT_EQ(first["end"], nlohmann::json({{"line", 2}, {"column", 6}, {"offset", 11}}));
  EXPECT_EQ(first["labels"][0]["message"], "label");
  EXPECT_EQ(first["labels"][0]["start"]["line"], 1);
  EXPECT_EQ(first["notes"][0], "note \uFFFD");
  EXPECT_EQ(first["fixes"][0]["replacement"], "three");
  EXPECT_EQ(first["fixes"][0]["end"]["offset"], 11);
  EXPECT_TRUE(json[1]["file"].is_null());
  diagnostics.clear();
  EXPECT_EQ(render_json(diagnostics, sources), "[]\n");
}

TEST_F(Rendering, SortedByPlace) {
  const FileId file = add("abc");
  report({file, 2, 3});
  report({file, 1, 2});
  report({file, 0, 1});
  diagnostics.sort_from(1);
  std::vector<uint32_t> begins;
  for (const Diagnostic& diagnostic : diagnostics.all()) begins.push_back(diagnostic.span.begin);
  EXPECT_EQ(begins, (std::vector<uint32_t>{2, 0, 1}));
  EXPECT_EQ(diagnostics.error_count(), 3u);
}

TEST(DidYouMean, FindsSlips) {
  const std::vector<std::string_view> names = {"softmax", "sum", "scale", "N", "rstd", "mean"};
  EXPECT_EQ(did_you_mean("sofmax", names), "softmax");
  EXPECT_EQ(did_you_mean("softmaxx", names), "softmax");
  EXPECT_EQ(did_you_mean("sotfmax", names), "softmax");
  EXPECT_EQ(did_you_mean("Softmax", names), "softmax");
  EXPECT_EQ(did_you_mean("sun", names), "sum");
  EXPECT_EQ(did_you_mean("n", names), "N");
  EXPECT_EQ(did_you_mean("maen", names), "mean");
}

TEST(DidYouMean, IsSilentOtherwise) {
  const std::vector<std::string_view> names = {"softmax", "x", "ab", "mean"};
  EXPECT_EQ(did_you_mean("y", names), "");
  EXPECT_EQ(did_you_mean("ac", names), "");
  EXPECT_EQ(did_you_mean("hardmax", names), "");
  EXPECT_EQ(did_you_mean("mean", {}), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'a'), names), "");
  EXPECT_EQ(did_you_mean("", names), "");
}

TEST(Codes, StandInTheRangesOfTheTable) {
  for (size_t i = 0; i < diagnostic_count(); ++i) {
    const DiagnosticRow& constant = row(static_cast<DiagnosticId>(i));
    const char letter = constant.severity == Severity::kError     ? 'E'
                        : constant.severity == Severity::kWarning ? 'W'
                                                                  : 'R';
    EXPECT_EQ(constant.code.front(), letter) << constant.name;
    EXPECT_EQ(constant.code.size(), 5u) << constant.name;
    EXPECT_TRUE(constant.name.starts_with('k')) << constant.name;
  }
}

}  // namespace
}  // namespace tenon
