// Index expressions as infix text, and back.
//
// The order of terms in the text depends only on how they read, not on ids: equal expressions of two pools,
// however they came about, have equal texts. Terms with a plus come first, then more factors before fewer,
// then alphabetic order; a constant comes last.
#pragma once

#include <functional>
#include <string>

#include "ir/index.h"
#include "ir/text_scanner.h"

namespace tenon::ir {

// The name of a symbol, axis or value atom.
using AtomText = std::function<std::string(const IndexNode& atom)>;

std::string index_text(const IndexPool& pool, IndexId id, const AtomText& atom);

// The atom that a word, or a value's name, stands for; invalid where there is none.
using AtomOfToken = std::function<IndexId(const Token& token)>;

// Expressions of more terms, or factors in a term, are refused.
inline constexpr size_t kMaxIndexTerms = 1024;

// Operators as in C: || && == != < <= > >= + - * / % and unary - !, with min(a, b, ...) and max(a, b, ...).
// After an error the result is some expression of the pool.
IndexId parse_index(TextScanner& scanner, IndexPool& pool, const AtomOfToken& atom);

}  // namespace tenon::ir
