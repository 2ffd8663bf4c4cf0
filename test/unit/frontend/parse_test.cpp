// What the parser makes of right programs.
#include <gtest/gtest.h>

#include "corpus.h"
#include "parsed.h"

namespace tenon::frontend {
namespace {

// The statement's line of the tree.
std::string tree(std::string_view statement) {
  Parsed parsed(in_kernel(statement));
  EXPECT_EQ(parsed.summary(), "") << statement;
  std::string text = print_ast(parsed.module);
  const std::string head = "kernel k\n  define ";
  EXPECT_TRUE(text.starts_with(head)) << text;
  text.pop_back();
  return text.substr(head.size());
}

TEST(Parse, PrecedenceAndAssociativity) {
  EXPECT_EQ(tree("y = a || b && c == d | e ^ f & g << h + i * -j"),
            "y = (|| a (&& b (== c (| d (^ e (& f (<< g (+ h (* i (- j))))))))))");
  EXPECT_EQ(tree("y = a * b + c << d & e ^ f | g == h && i || j"),
            "y = (|| (&& (== (| (^ (& (<< (+ (* a b) c) d) e) f) g) h) i) j)");
  EXPECT_EQ(tree("y = a - b - c"), "y = (- (- a b) c)");
  EXPECT_EQ(tree("y = a / b * c % d"), "y = (% (* (/ a b) c) d)");
  EXPECT_EQ(tree("y = a - (b - c)"), "y = (- a (- b c))");
  EXPECT_EQ(tree("y = -!~a"), "y = (- (! (~ a)))");
  EXPECT_EQ(tree("y = a << b >> c"), "y = (>> (<< a b) c)");
  EXPECT_EQ(tree("y = a<-b"), "y = (< a (- b))");
}

TEST(Parse, Conditionals) {
  EXPECT_EQ(tree("y = a ? b : c ? d : e"), "y = (? a b (? c d e))");
  EXPECT_EQ(tree("y = a ? b ? c : d : e"), "y = (? a (? b c d) e)");
  EXPECT_EQ(tree("y = a || b ? c + 1 : d"), "y = (? (|| a b) (+ c 1) d)");
  // A name with a colon at the beginning of a line is no declaration here.
  EXPECT_EQ(tree("y = a ?\n  b : f32(c)"), "y = (? a b f32(c))");
  EXPECT_EQ(tree("y = a ?\n  x[i] : c"), "y = (? a x[i] c)");
}

TEST(Parse, Operands) {
  EXPECT_EQ(tree("y = 0x1F + 1.5e-3 + true + false + inf + nan"),
            "y = (+ (+ (+ (+ (+ 0x1F 1.5e-3) true) false) inf) nan)");
  EXPECT_EQ(tree("y = x[i, j + 1 | a ? b : c]"), "y = x[i, (+ j 1) | (? a b c)]");
  EXPECT_EQ(tree("y = x[i | a | b]"), "y = x[i | (| a b)]");
  EXPECT_EQ(tree("y = f() + g(a, b + c)"), "y = (+ f() g(a, (+ b c)))");
  EXPECT_EQ(tree("y = index(a) + f8e4m3(b)"), "y = (+ index(a) f8e4m3(b))");
  EXPECT_EQ(tree("y = max(a, b) + min[k](x[k])"), "y = (+ max(a, b) min[k](x[k]))");
  EXPECT_EQ(tree("y = sum[i, j in 0..i + 1 where i < j](x[i, j])"),
            "y = sum[i, j in 0..(+ i 1) where (< i j)](x[i, j])");
  EXPECT_EQ(tree("y = argmax[k in 1..R](x[k])"), "y = argmax[k in 1..R](x[k])");
}

TEST(Parse, Statements) {
  EXPECT_EQ(tree("a, b, c = f(x)"), "a, b, c = f(x)");
  EXPECT_EQ(tree("h[x[i], j | drop] += 1"), "h[x[i], j | drop] += 1");
  EXPECT_EQ(tree("h[i] max = 1"), "h[i] max= 1");
  EXPECT_EQ(tree("h[i] min= 1"), "h[i] min= 1");
  EXPECT_EQ(tree("h[(a ? b : -1) | drop] = 1"), "h[(? a b (- 1)) | drop] = 1");
}

// Newlines mean nothing to programs without mistakes.
TEST(Parse, LinesDoNotMatter) {
  for (const CorpusFile& file : corpus()) {
    Parsed as_written(file.text);
    std::string source = print_source(as_written.module);
    std::ranges::replace(source, '\n', ' ');
    Parsed one_line(source);
    EXPECT_EQ(one_line.summary(), "") << file.name;
    EXPECT_EQ(print_ast(one_line.module), print_ast(as_written.module)) << file.name;
    std::ranges::replace(source, ' ', '\n');
    Parsed many_lines(source);
    EXPECT_EQ(many_lines.summary(), "") << file.name;
    EXPECT_EQ(print_ast(many_lines.module), print_ast(as_written.module)) << file.name;
  }
}

TEST(Parse, CorpusHasNoDiagnostics) {
  ASSERT_GE(corpus().size(), 30u);
  for (const CorpusFile& file : corpus()) {
    Parsed parsed(file.text, file.name);
    EXPECT_EQ(render_text(parsed.diagnostics, parsed.sources), "");
    EXPECT_FALSE(parsed.module.declarations.empty()) << file.name;
  }
}

TEST(Parse, PrintedSourceParsesToTheSameTree) {
  for (const CorpusFile& file : corpus()) {
    Parsed parsed(file.text);
    const std::string source = print_source(parsed.module);
    Parsed again(source);
    EXPECT_EQ(print_ast(again.module), print_ast(parsed.module)) << source;
    EXPECT_EQ(print_source(again.module), source);
  }
}

TEST(Parse, Declarations) {
  Parsed parsed(
      "use std.nn\n"
      "@allow(approx, ftz) @allow(narrow)\n"
      "kernel k<T: any, D: dim>(x: T[M, D / 2], c: inout strided f32[N]) -> (y: T) where M >= 1, D % 2 == 0 "
      "{}\n"
      "fn f<U: float>(x: U[..., N]) -> (y: U[..., N]) { y[..., i] = x[..., i] }\n"
      "fn g(x: index) -> bool = x > 0\n"
      "schedule k on sm_90a { y.i = 64 stages = 3 split = off }\n");
  EXPECT_EQ(parsed.summary(), "");
  EXPECT_EQ(print_ast(parsed.module),
            "use std.nn\n"
            "kernel k\n"
            "  annotation allow approx, ftz\n"
            "  annotation allow narrow\n"
            "  generic T: any\n"
            "  generic D: dim\n"
            "  param x: T[M, (/ D 2)]\n"
            "  param c: inout strided f32[N]\n"
            "  result y: T\n"
            "  where (>= M 1)\n"
            "  where (== (% D 2) 0)\n"
            "fn f\n"
            "  generic U: float\n"
            "  param x: U[..., N]\n"
            "  result y: U[..., N]\n"
            "  define y[..., i] = x[..., i]\n"
            "fn g\n"
            "  param x: index\n"
            "  result bool\n"
            "  value (> x 0)\n"
            "schedule k on sm_90a\n"
            "  set y.i = 64\n"
            "  set stages = 3\n"
            "  set split = off\n");
  EXPECT_TRUE(parsed.module.kernels.begin()->complete);
}

// The contract of ast.h: children before parents, each subtree contiguous, in source order.
TEST(Parse, ExpressionsAreNumberedInPostorder) {
  for (const CorpusFile& file : corpus()) {
    Parsed parsed(file.text);
    const Module& module = parsed.module;
    for (uint32_t i = 0; i < module.expr_store.size(); ++i) {
      const ExprId id(i);
      uint32_t next = module[id].first.index();
      auto child = [&](ExprId child) {
        if (!child) return;
        EXPECT_EQ(module[child].first.index(), next) << file.name;
        next = child.index() + 1;
      };
      auto list = [&](ExprList exprs) {
        for (ExprId expr : module.exprs(exprs)) child(expr);
      };
      if (auto* unary = module.get_if<Unary>(id)) child(unary->operand);
      if (auto* cast = module.get_if<Cast>(id)) child(cast->operand);
      if (auto* call = module.get_if<Call>(id)) list(call->arguments);
      if (auto* binary = module.get_if<Binary>(id)) child(binary->left), child(binary->right);
      if (auto* access = module.get_if<Access>(id)) list(access->subscripts), child(access->fallback);
      if (auto* choice = module.get_if<Conditional>(id))
        child(choice->condition), child(choice->if_true), child(choice->if_false);
      if (auto* reduction = module.get_if<Reduction>(id)) {
        for (const Binder& binder : module.binders(reduction->binders))
          child(binder.lower), child(binder.upper);
        child(reduction->condition), child(reduction->body);
      }
      EXPECT_EQ(next, i) << file.name;
    }
  }
}

TEST(Parse, SpansAreWhatWasWritten) {
  Parsed parsed(in_kernel("y[i] = (a + b) * max[k in 0..n](x[k | 0]) ? f16(c) : -d"));
  const Module& module = parsed.module;
  std::vector<std::string> texts;
  for (const Expr& expr : module.expr_store) texts.emplace_back(parsed.sources.text(expr.span));
  EXPECT_EQ(texts, (std::vector<std::string>{"i", "a", "b", "a + b", "0", "n", "k", "0", "x[k | 0]",
                                             "max[k in 0..n](x[k | 0])", "(a + b) * max[k in 0..n](x[k | 0])",
                                             "c", "f16(c)", "d", "-d",
                                             "(a + b) * max[k in 0..n](x[k | 0]) ? f16(c) : -d"}));
  const Statement& statement = *module.statements.begin();
  EXPECT_EQ(parsed.sources.text(statement.span), "y[i] = (a + b) * max[k in 0..n](x[k | 0]) ? f16(c) : -d");
  EXPECT_EQ(parsed.sources.text(std::get<IndexedDefinition>(statement.payload).target_span), "y[i]");
}

TEST(Parse, LongChainsNeedNoStack) {
  std::string source = "kernel k() {\n  y = x";
  for (int i = 1; i < 200'000; ++i) source += " + x";
  Parsed parsed(source + "\n}\n");
  EXPECT_EQ(parsed.summary(), "");
  EXPECT_EQ(parsed.module.expr_store.size(), 399'999u);
  EXPECT_EQ(print_source(parsed.module), source + "\n}\n");
}

TEST(Parse, TextsOutliveTheSource) {
  Module module;
  {
    Parsed parsed("kernel kk() { a = b }");
    module = std::move(parsed.module);
  }
  EXPECT_EQ(print_ast(module), "kernel kk\n  define a = b\n");
}

TEST(Parse, ByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBFkernel k() {\r\n  a = 1\r\n}\r\n").summary(), "");
  EXPECT_EQ(Parsed("").summary(), "");
  EXPECT_EQ(Parsed("// \xE6\xA0\xB8 only a comment").summary(), "");
}

}  // namespace
}  // namespace tenon::frontend
