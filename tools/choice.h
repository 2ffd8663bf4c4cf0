// What the values of options may be.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools {

// Refuses every other word, with the list and the word that was perhaps meant.
CLI::Validator one_of(std::vector<std::string> words);

// Refuses what is no whole number from 0 to 2^64-1.
CLI::Validator whole_number();

}  // namespace tenon::tools
