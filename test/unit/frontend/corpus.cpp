#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenon::frontend {

std::vector<CorpusFile> corpus() {
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_TEST_CORPUS)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    files.push_back({entry.path().filename().string(), text.str()});
  }
  std::ranges::sort(files, {}, &CorpusFile::name);
  return files;
}

}  // namespace tenon::frontend
