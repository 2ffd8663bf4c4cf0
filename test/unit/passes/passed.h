// Tensor passes on IR text, and what a kernel computes before and after them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../ir/interpreted.h"
#include "ir/comparison.h"
#include "passes/registry.h"

namespace tenon::passes {

inline std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// The module of a text after passes; each is verified.
struct Passed {
  Passed(const std::string& text, std::string_view flags) : parsed(text) {
    EXPECT_TRUE(parsed.ok()) << parsed.errors();
    if (!parsed.ok()) return;
    EXPECT_EQ("", to_text(ir::verify(*parsed.module)));
    run.module = std::move(*parsed.module);
    std::vector<std::string_view> list = split_at_commas(flags);
    RunOptions options;
    options.verify_each = true;
    auto ran = run_passes(run, list, options);
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
    this->text = ir::print(run.module);
  }

  ir::Kernel& kernel() { return run.module.kernels.at(0); }
  size_t op_count() {
    size_t count = 0;
    for (const ir::TensorOp& op : kernel().ops) count += op.outputs.empty() ? 0 : 1;
    return count;
  }
  bool has(std::string_view what) const { return text.find(what) != std::string::npos; }

  ir::Parsed parsed;
  PassRun run;
  std::string text;
};

// Runs both kernels on the same inputs, random by a seed, and holds the second's results against the first's.
inline void expect_same_results(const ir::Kernel& before, const ir::Kernel& after, bool contraction_was_open,
                                const std::map<std::string, int64_t>& sizes, uint64_t seed = 1) {
  std::vector<Array> arrays;
  std::vector<const Array*> inputs;
  auto size_of = [&](ir::IndexId extent) {
    return before.index.evaluate(extent, [&](ir::IndexId atom) -> std::optional<int64_t> {
      const ir::Symbol& symbol = before.symbols[ir::SymbolId(before.index[atom].reference)];
      auto size = sizes.find(symbol.name);
      return size == sizes.end() ? symbol.fixed : size->second;
    });
  };
  arrays.reserve(before.parameters.size());
  for (const ir::Parameter& parameter : before.parameters) {
    inputs.push_back(nullptr);
    if (!parameter.input.valid()) continue;
    std::vector<int64_t> shape;
    for (ir::IndexId extent : before.tensors[parameter.input].shape)
      shape.push_back(size_of(extent).value_or(3));
    arrays.push_back(ir::random_array(before.tensors[parameter.input].element, shape, ++seed));
    if (parameter.symbol.valid())
      arrays.back().set_double(0, double(sizes.at(before.symbols[parameter.symbol].name)));
    inputs.back() = &arrays.back();
  }
  auto results = [&](const ir::Kernel& kernel, bool open) {
    auto symbols = ir::bind_symbols(kernel, inputs, sizes);
    EXPECT_TRUE(symbols.has_value()) << symbols.error().message;
    if (!symbols) return std::vector<ir::BoundedArray>();
    auto ran = ir::interpret(kernel, *symbols, inputs, {.contraction_is_open = open, .threads = 1});
    EXPECT_TRUE(ran.has_value()) << ran.error().message;
    return ran ? *std::move(ran) : std::vector<ir::BoundedArray>();
  };
  std::vector<ir::BoundedArray> expected = results(before, contraction_was_open);
  std::vector<ir::BoundedArray> actual = results(after, false);
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!before.parameters[i].output.valid()) continue;
    ir::Comparison comparison = ir::compare(actual[i].values, expected[i]);
    EXPECT_TRUE(comparison.ok()) << before.parameters[i].name << "\n"
                                 << comparison.text() << ir::print(after);
  }
}

// The passes leave what a text computes.
inline void expect_same_after(const std::string& text, std::string_view flags,
                              const std::map<std::string, int64_t>& sizes) {
  Passed before(text, "");
  Passed after(text, flags);
  bool open = flags.find("contract-fma") != std::string_view::npos;
  expect_same_results(before.kernel(), after.kernel(), open, sizes);
}

}  // namespace tenon::passes
