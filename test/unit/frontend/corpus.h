// The programs of test/corpus.
#pragma once

#include <string>
#include <vector>

namespace tenon::frontend {

struct CorpusFile {
  std::string name;
  std::string text;
};

// Sorted by name.
std::vector<CorpusFile> corpus();

}  // namespace tenon::frontend
