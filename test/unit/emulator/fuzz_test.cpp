// Mutated modules must load with an error or run to some end; nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "emulator/parser.h"
#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : engine_(seed) {}

  size_t below(size_t n) { return engine_() % n; }

  // Changes a few places: characters, whole words taken from elsewhere, cuts, repeats.
  std::string mutate(std::string text) {
    const size_t changes = 1 + below(4);
    for (size_t i = 0; i < changes && !text.empty(); ++i) change(text);
    return text;
  }

 private:
  void change(std::string& text) {
    static constexpr std::string_view kPieces[] = {"{",           "}",
                                                   ";",           ",",
                                                   "[",           "]",
                                                   "(",           ")",
                                                   "%r1",         "%rd1",
                                                   "%p1",         "0xFFFFFFFFFFFFFFFF",
                                                   "4294967296",  "-1",
                                                   ".v4",         ".b64",
                                                   ".b16",        ".pred",
                                                   ".param",      ".shared",
                                                   ".align 4096", "<99999999>",
                                                   "%tid.x",      "!",
                                                   "|",           "@",
                                                   "0f7FC00000",  ".b8 x[1000000000];",
                                                   "_",           ".f32",
                                                   ".local",      "call",
                                                   ".sat",        ".reqntid 1024,1024,1024"};
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        text.erase(at, below(12));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(30)));
        break;
      default: {
        // A word becomes another word of the text.
        const size_t from = below(text.size());
        const size_t from_end = std::min(text.find_first_of(" ,;\n", from), text.size());
        const size_t to_end = std::min(text.find_first_of(" ,;\n", at), text.size());
        text.replace(at, to_end - at, text.substr(from, from_end - from));
      }
    }
  }

  std::mt19937 engine_;
};

// The kernels [from, to) of a module with its head, so that a mutation is seen.
std::string without_comments(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "//") != 0) result += text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

TEST(Fuzz, MutatedModules) {
  const std::string text = without_comments(read_ptx("llvm.ptx"));
  DeviceConfig config;
  config.memory_bytes = 64 << 20;
  config.step_limit = 20000;
  config.threads = 1;
  Device device(config);
  const DeviceAddress memory = *device.allocate(65536);
  ASSERT_TRUE(device.set(memory, 3, 65536).has_value());
  Mutator mutator(7);
  int loaded = 0;
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto module = device.load_module(mutator.mutate(text));
    if (!module) {
      EXPECT_FALSE(module.error().message.empty());
      ++refused;
      continue;
    }
    ++loaded;
    for (const auto& kernel : (*module)->kernels()) {
      std::vector<uint64_t> values(8192, memory);
      std::vector<const void*> arguments(kernel->parameters.size(), values.data());
      LaunchRequest request;
      request.block = {kernel->required_threads[0] != 0 ? kernel->required_threads[0] : 64, 1, 1};
      request.dynamic_shared_bytes = 64;
      request.arguments = arguments;
      static_cast<void>(device.launch(*kernel, request));
    }
  }
  EXPECT_GT(loaded, 50);
  EXPECT_GT(refused, 300);
}

TEST(Fuzz, RandomBytesAndDeepNesting) {
  std::mt19937 engine(3);
  for (int round = 0; round < 300; ++round) {
    std::string text(engine() % 400, ' ');
    for (char& c : text) c = static_cast<char>(engine());
    EXPECT_FALSE(parse_ptx(text).has_value());
    EXPECT_FALSE(parse_ptx(module_text(".entry k() {" + text)).has_value());
  }
  const std::string deep(100000, '{');
  EXPECT_FALSE(parse_ptx(module_text(".entry k() {" + deep)).has_value());
  EXPECT_FALSE(parse_ptx(module_text(".entry k() { mov.b32 " + deep)).has_value());
  EXPECT_FALSE(parse_ptx(module_text(".global .b32 x[1] = " + deep)).has_value());
  EXPECT_FALSE(parse_ptx(std::string(100000, '(')).has_value());
  Device device;
  EXPECT_FALSE(device.load_module(module_text(".global .b8 x[4000000000][4000000000];")).has_value());
  EXPECT_FALSE(device.load_module(module_text(".entry k() { .local .b8 x[3000000]; ret; }")).has_value());
  EXPECT_FALSE(
      device.load_module(module_text(".func f() { call f; ret; } .entry k() { call f; ret; }")).has_value());
}

}  // namespace
}  // namespace tenon::emulator::test
