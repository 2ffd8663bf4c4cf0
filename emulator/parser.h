// PTX text to a PtxModule.
#pragma once

#include <string>

#include "emulator/ast.h"
#include "support/result.h"

namespace tenon::emulator {

// Parses a whole module. Errors name line and column. Debug directives (.loc aside), sections and pragmas are
// skipped.
Result<PtxModule> parse_ptx(std::string text);

}  // namespace tenon::emulator
