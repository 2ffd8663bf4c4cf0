// A program as the generator makes it: text in pieces that the shrinker can take out.
#pragma once

#include <string>
#include <vector>

#include "frontend/check/check.h"

namespace tenon::fuzz {

// An expression: `text` with the n-th part in the place of `$n`.
struct Node {
  std::string text;
  std::vector<Node> parts = {};

  std::string to_text() const;
};

struct Statement {
  // "t0: f16[A, B]"; empty where the target is a result, or its type and ranges follow.
  std::string declaration;
  // "t0[i0, i1]".
  std::string target;
  Node value;

  std::string to_text() const;
};

struct Program {
  std::string attribute;
  std::vector<std::string> generics;
  std::vector<std::string> parameters;
  std::vector<std::string> results;
  std::vector<std::string> clauses;
  // "fn f0(a: f32) -> f32", and its value.
  std::vector<Statement> functions;
  // Text, on lines of its own.
  std::string tensor_functions;
  std::vector<Statement> statements;
  // What is fixed when compiling.
  frontend::CheckOptions options;

  // The source, a kernel named `k`.
  std::string to_text() const;
  // As `--set` takes it: "T=f16 A=64".
  std::string settings_text() const;
};

}  // namespace tenon::fuzz
