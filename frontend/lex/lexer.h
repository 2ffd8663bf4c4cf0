// Source text to tokens.
#pragma once

#include "frontend/lex/token.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::frontend {

// Reads the whole text, of the file `file`, by longest match. Mistakes are reported and repaired where the
// intention is plain (`≤` is read as `<=`), otherwise they leave a kInvalid token. The limits of limits.h
// hold.
TokenList lex(FileId file, std::string_view text, Diagnostics& diagnostics);

}  // namespace tenon::frontend
