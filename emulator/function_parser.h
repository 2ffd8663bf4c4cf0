// Parses one .entry or .func: signature, declarations, instructions.
#pragma once

#include "emulator/ast.h"
#include "emulator/parser_base.h"

namespace tenon::emulator {

// The cursor stands behind `.entry` or `.func`; the function is added to the module. Errors stay in the
// cursor.
void parse_function(TokenCursor& cursor, PtxModule& module, bool is_entry);

}  // namespace tenon::emulator
