// Tokens to the syntax tree.
#pragma once

#include "frontend/parse/ast.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::frontend {

// Parses a whole file. All mistakes of spelling and grammar are reported in one run, in the order of the
// text; what could be understood in spite of them is in the module. Beyond the grammar, these are checked
// here because they need no names: `...` stands only in functions and only among subscripts and dimensions,
// `max` and `min` take two arguments, and the limits of frontend/lex/limits.h hold.
Module parse(FileId file, const SourceManager& sources, Diagnostics& diagnostics);

}  // namespace tenon::frontend
