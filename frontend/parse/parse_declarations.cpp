// The program, `use`, `schedule`, kernels and functions.
#include <array>

#include "frontend/lex/lexer.h"
#include "frontend/lex/limits.h"
#include "frontend/parse/parse.h"
#include "frontend/parse/parser.h"

namespace tenon::frontend {
namespace {

struct ForeignWord {
  std::string_view word;
  TokenKind meant;
};

// What declarations begin with elsewhere.
constexpr std::array kForeignWords = {
    ForeignWord{"def", TokenKind::kKernel},
    ForeignWord{"func", TokenKind::kFn},
    ForeignWord{"fun", TokenKind::kFn},
    ForeignWord{"function", TokenKind::kFn},
    ForeignWord{"import", TokenKind::kUse},
    ForeignWord{"include", TokenKind::kUse},
    ForeignWord{"using", TokenKind::kUse},
    ForeignWord{"void", TokenKind::kKernel},
    ForeignWord{"__global__", TokenKind::kKernel},
};

constexpr std::array kDeclarationWords = {TokenKind::kKernel, TokenKind::kFn, TokenKind::kUse,
                                          TokenKind::kSchedule};

// The word that somebody who wrote `word` before a declaration meant, or kEnd.
TokenKind meant_declaration(std::string_view word) {
  for (const ForeignWord& foreign : kForeignWords)
    if (foreign.word == word) return foreign.meant;
  std::vector<std::string_view> words;
  for (TokenKind kind : kDeclarationWords) words.push_back(spelling(kind));
  const std::string_view meant = did_you_mean(word, words);
  for (TokenKind kind : kDeclarationWords)
    if (spelling(kind) == meant) return kind;
  return TokenKind::kEnd;
}

}  // namespace

void Parser::parse_program() {
  while (!at(TokenKind::kEnd)) {
    const size_t start = position();
    clear_damaged();
    parse_declaration();
    if (panicking()) recover_to_declaration(start);
  }
}

void Parser::parse_declaration() {
  switch (peek().kind) {
    case TokenKind::kUse:
      return parse_use();
    case TokenKind::kSchedule:
      return parse_schedule();
    case TokenKind::kFn:
      return parse_function();
    case TokenKind::kAt:
    case TokenKind::kKernel:
      return parse_kernel();
    case TokenKind::kSemicolon:
      return skip_separators("declarations");
    default:
      return parse_unknown_declaration();
  }
}

void Parser::parse_unknown_declaration() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kRightBrace:
    case TokenKind::kRightBracket:
    case TokenKind::kRightParen:
      complain(DiagnosticId::kUnmatched, span_of(token), text_of(token));
      take();
      return;
    case TokenKind::kName:
      if (at_statement()) {
        fail(DiagnosticId::kStatementOutside, span_of(token))
            .note("the braces of a kernel or function enclose its statements");
        return;
      }
      break;
    default:
      break;
  }
  const TokenKind meant =
      token.kind == TokenKind::kName ? meant_declaration(text_of(token)) : TokenKind::kEnd;
  const bool named = peek(1).kind == TokenKind::kName;
  if (meant == TokenKind::kEnd || !named) {
    fail(DiagnosticId::kExpected, span_of(token), "a declaration", describe(token))
        .note("a file consists of `kernel`, `fn`, `use` and `schedule`");
    return;
  }
  complain(DiagnosticId::kExpected, span_of(token), "a declaration", describe(token))
      .fix(span_of(token), std::string(spelling(meant)), fmt::format("write `{}`", spelling(meant)));
  switch (meant) {
    case TokenKind::kKernel:
      return parse_kernel();
    case TokenKind::kFn:
      return parse_function();
    case TokenKind::kUse:
      return parse_use();
    default:
      return parse_schedule();
  }
}

void Parser::parse_use() {
  const Token& word = take();
  Use use;
  do {
    const std::optional<Name> name = parse_name("a module");
    if (!name) return;
    use.path.push_back(*name);
  } while (accept(TokenKind::kDot));
  use.span = span_from(word.begin);
  module_.declarations.emplace_back(module_.uses.add(std::move(use)));
}

void Parser::parse_schedule() {
  const Token& word = take();
  const std::optional<Name> kernel = parse_name("a kernel");
  if (!kernel) return;
  if (!expect(TokenKind::kOn, "`on` and a target")) return;
  const std::optional<Name> target = parse_name("a target");
  if (!target) return;
  Schedule schedule{{}, *kernel, *target, {}};
  const Token open = peek();
  if (!expect(TokenKind::kLeftBrace)) return;
  skip_separators("the entries of a schedule");
  while (!at(TokenKind::kRightBrace) && !at(TokenKind::kEnd) && !at_declaration()) {
    ScheduleEntry entry = parse_schedule_entry();
    if (!panicking()) schedule.entries.push_back(std::move(entry));
    skip_separators("the entries of a schedule");
  }
  expect_close(TokenKind::kRightBrace, open, "`}`");
  schedule.span = span_from(word.begin);
  module_.declarations.emplace_back(module_.schedules.add(std::move(schedule)));
}

ScheduleEntry Parser::parse_schedule_entry() {
  ScheduleEntry entry;
  const uint32_t begin = peek().begin;
  if (const std::optional<Name> name = parse_name("a setting")) entry.setting = *name;
  if (accept(TokenKind::kDot)) {
    entry.statement = entry.setting;
    if (const std::optional<Name> index = parse_name("an index")) entry.setting = *index;
  }
  if (at(TokenKind::kColon)) {
    complain(DiagnosticId::kForeignOperator, span_of(peek()), ":").fix(span_of(peek()), " =", "write `=`");
    take();
  } else {
    expect(TokenKind::kEqual);
  }
  const Token& value = peek();
  if (value.kind == TokenKind::kNumeral) {
    entry.value = NumberLiteral{text_of(value), value.has_point_or_exponent};
  } else if (value.kind == TokenKind::kName) {
    entry.value = name_of(value);
  } else {
    fail_expected("a number or a name");
  }
  entry.value_span = span_of(value);
  take();
  entry.span = span_from(begin);
  return entry;
}

std::vector<Annotation> Parser::parse_annotations() {
  std::vector<Annotation> annotations;
  while (at(TokenKind::kAt) && !panicking()) annotations.push_back(parse_annotation());
  return annotations;
}

Annotation Parser::parse_annotation() {
  const Token& sign = take();
  Annotation annotation;
  if (const std::optional<Name> name = parse_name("an annotation")) annotation.name = *name;
  const Token open = peek();
  if (expect(TokenKind::kLeftParen, "`(` and permissions, as in `@allow(approx)`")) {
    do {
      if (const std::optional<Name> argument = parse_name("a permission"))
        annotation.arguments.push_back(*argument);
    } while (another_in_list(TokenKind::kRightParen));
    expect_close(TokenKind::kRightParen, open, "`,` or `)`");
  }
  annotation.span = span_from(sign.begin);
  return annotation;
}

void Parser::parse_kernel() {
  const uint32_t begin = peek().begin;
  Kernel kernel;
  kernel.annotations = parse_annotations();
  if (at(TokenKind::kFn) && !kernel.annotations.empty()) {
    complain(DiagnosticId::kAnnotatedFunction, kernel.annotations.front().span)
        .note("a function has the permissions of whoever calls it");
    return parse_function();
  }
  if (kernel.annotations.empty()) {
    take();
  } else {
    expect(TokenKind::kKernel, "`kernel` after its annotations");
  }
  in_function_ = false;
  kernel.signature = parse_name_generics_params("a kernel");
  ExprList where;
  if (at(TokenKind::kWhere)) {
    const Token& word = peek();
    where = parse_where();
    if (at(TokenKind::kArrow)) complain(DiagnosticId::kMisplacedWhere, span_of(word));
  }
  parse_kernel_results(kernel.signature);
  const size_t parameters = kernel.signature.params.size() + kernel.signature.results.size();
  if (parameters > kMaxParameters)
    complain(DiagnosticId::kRankTooLarge, kernel.signature.name.span, parameters, "parameters and results",
             kMaxParameters);
  if (at(TokenKind::kWhere)) where = parse_where();
  if (at(TokenKind::kEqual))
    fail_expected("`{` and statements").note("only functions have the form `= expression`");
  kernel.body = parse_body(where);
  kernel.span = span_from(begin);
  kernel.complete = !damaged();
  if (!kernel.signature.name.text.empty())
    module_.declarations.emplace_back(module_.kernels.add(std::move(kernel)));
}

void Parser::parse_function() {
  const uint32_t begin = take().begin;
  Function function;
  in_function_ = true;
  function.signature = parse_name_generics_params("a function");
  if (at(TokenKind::kLeftParen)) {
    complain_missing_arrow();
  } else {
    expect(TokenKind::kArrow, "`->` and the result");
  }
  if (at(TokenKind::kName) || at(TokenKind::kElement)) {
    std::optional<Element> result = parse_element();
    if (at(TokenKind::kLeftBracket) || at(TokenKind::kLeftBrace)) fail_unnamed_result(result->span);
    expect(TokenKind::kEqual, "`=` and an expression");
    const ExprId value = parse_expr();
    if (!at(TokenKind::kAt)) check_operand_end();
    if (result && !panicking()) function.form = ScalarForm{*result, value};
  } else {
    if (!at(TokenKind::kLeftParen)) fail_expected("`(` and named results, or an element type");
    function.signature.results = parse_params("a result");
    ExprList where;
    if (at(TokenKind::kWhere)) where = parse_where();
    if (at(TokenKind::kEqual))
      fail_expected("`{` and statements").note("the form `= expression` has an element type alone before it");
    function.form = parse_body(where);
  }
  function.span = span_from(begin);
  function.complete = !damaged();
  if (!function.signature.name.text.empty())
    module_.declarations.emplace_back(module_.functions.add(std::move(function)));
}

Module parse(FileId file, const SourceManager& sources, Diagnostics& diagnostics) {
  const std::string& source = sources.file(file).text;
  Module module;
  module.file = file;
  if (source.size() > kMaxSourceBytes) {
    diagnostics.report(DiagnosticId::kFileTooLarge, {file, 0, 0}, source.size(), kMaxSourceBytes);
    return module;
  }
  auto text = std::make_unique<char[]>(source.size());
  std::ranges::copy(source, text.get());
  module.text = {text.get(), source.size()};
  module.text_storage = std::move(text);
  const size_t first_diagnostic = diagnostics.all().size();
  TokenList list = lex(file, module.text, diagnostics);
  if (list.complete) {
    Parser(module, std::move(list.tokens), diagnostics).parse_program();
    diagnostics.sort_from(first_diagnostic);
  }
  return module;
}

}  // namespace tenon::frontend
