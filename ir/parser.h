// Reads the text of ir/printer.h back into a module. What was printed comes back with the same structure, and
// prints as the same text; spans are those of the text. Text by hand may name values (`%a = ...`) and order
// things freely where definitions come before uses.
//
// The first mistake ends the parse and is reported with its place. The parser checks syntax and names; types
// and all else that a module promises is for the verifier.
#pragma once

#include <optional>

#include "ir/tensor.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::ir {

// Empty after a mistake.
std::optional<Module> parse_module(const SourceManager& sources, FileId file, Diagnostics& diagnostics);

}  // namespace tenon::ir
