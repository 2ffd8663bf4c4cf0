// Reads the text of ir/tile_printer.h back into modules. What was printed comes back with the same structure,
// and prints as the same text; ids of axes and values may differ, spans are those of the text. Text by hand
// may name values (`%a = ...`).
//
// The first mistake ends the parse and is reported with its place. The parser checks syntax, names and
// limits; all else that a module promises is for the verifier.
#pragma once

#include <optional>
#include <vector>

#include "ir/tile.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::ir {

// Empty after a mistake.
std::optional<std::vector<TileModule>> parse_tile_modules(const SourceManager& sources, FileId file,
                                                          Diagnostics& diagnostics);

}  // namespace tenon::ir
