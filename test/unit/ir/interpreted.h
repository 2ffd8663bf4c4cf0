// A kernel run by the interpreter, for tests.
#pragma once

#include "ir/interpreter.h"
#include "ir/verifier.h"
#include "parsed.h"
#include "support/array_fill.h"

namespace tenon::ir {

inline Array zeros(ElementType type, std::vector<int64_t> shape) {
  return *Array::zeros(type, std::move(shape));
}

inline Array random_array(ElementType type, std::vector<int64_t> shape, uint64_t seed = 1) {
  Array array = zeros(type, std::move(shape));
  fill_random(array, seed, 0);
  return array;
}

inline Array array_of(std::vector<int64_t> shape, std::vector<double> values,
                      ElementType type = ElementType::kF32) {
  Array array = zeros(type, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) array.set_double(static_cast<int64_t>(i), values[i]);
  return array;
}

// The first kernel of a text on its inputs in order.
struct Interpreted {
  Interpreted(const std::string& text, std::vector<Array> arrays, std::map<std::string, int64_t> sizes = {},
              InterpreterOptions options = {})
      : parsed(text), inputs(std::move(arrays)) {
    if (!parsed.ok()) {
      error = parsed.errors();
      return;
    }
    error = to_text(verify(*parsed.module));
    if (!error.empty()) return;
    std::vector<const Array*> pointers;
    for (const Parameter& parameter : parsed.kernel().parameters)
      pointers.push_back(parameter.input.valid() && pointers.size() < inputs.size() ? &inputs[pointers.size()]
                                                                                    : nullptr);
    auto symbols = bind_symbols(parsed.kernel(), pointers, sizes);
    if (!symbols) {
      error = symbols.error().message;
      return;
    }
    auto ran = interpret(parsed.kernel(), *symbols, pointers, options);
    if (!ran) {
      error = ran.error().message;
      return;
    }
    all = *std::move(ran);
  }

  const BoundedArray& result(std::string_view name) const {
    for (size_t i = 0; i < all.size(); ++i)
      if (parsed.module->kernels[0].parameters[i].name == name) return all[i];
    ADD_FAILURE() << "no result " << name << ": " << error;
    static const BoundedArray kNone;
    return kNone;
  }

  Parsed parsed;
  std::vector<Array> inputs;
  std::string error;
  std::vector<BoundedArray> all;
};

}  // namespace tenon::ir
