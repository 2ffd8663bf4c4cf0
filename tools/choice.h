// An option that takes one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools {

// Refuses every other word, with the list and the word that was perhaps meant.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace tenon::tools
