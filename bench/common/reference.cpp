#include "bench/common/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace tenon::bench {
namespace {

using Arrays = std::vector<std::optional<Array>>;

std::span<const float> floats(const Arrays& arrays, size_t i) {
  return std::as_const(*arrays[i]).as<float>();
}

// Not negated, so that a NaN fails.
bool close(double got, double want, double magnitude, double relative) {
  return std::abs(got - want) <= relative * std::max(std::abs(want), magnitude);
}

std::string wrong(size_t i, double got, double want) {
  return fmt::format("element {} is {}, not {}", i, got, want);
}

// Calls `row` with the elements of each row of x and of y, and the index of its first.
template <class Row>
std::string each_row(const Arrays& arrays, size_t y_index, Row&& row) {
  size_t n = static_cast<size_t>(arrays[0]->extent(1));
  std::span<const float> x = floats(arrays, 0);
  std::span<const float> y = floats(arrays, y_index);
  for (size_t i = 0; i < x.size(); i += n) {
    std::string failure = row(x.subspan(i, n), y.subspan(i, n), i);
    if (!failure.empty()) return failure;
  }
  return {};
}

std::string check_softmax_within(const Arrays& arrays, double relative) {
  return each_row(arrays, 1,
                  [&](std::span<const float> x, std::span<const float> y, size_t first) -> std::string {
                    double m = *std::max_element(x.begin(), x.end());
                    double sum = 0;
                    for (float v : x) sum += std::exp(v - m);
                    for (size_t j = 0; j < x.size(); ++j) {
                      double want = std::exp(x[j] - m) / sum;
                      if (!close(y[j], want, 0, relative)) return wrong(first + j, y[j], want);
                    }
                    return {};
                  });
}

}  // namespace

std::string check_bias_gelu(const Arrays& arrays) {
  std::span<const float> bias = floats(arrays, 1);
  return each_row(arrays, 2,
                  [&](std::span<const float> x, std::span<const float> y, size_t first) -> std::string {
                    for (size_t j = 0; j < x.size(); ++j) {
                      double v = double{x[j]} + bias[j];
                      double want = 0.5 * v * (1 + std::erf(v * std::sqrt(0.5)));
                      if (!close(y[j], want, 0.1, 4e-6)) return wrong(first + j, y[j], want);
                    }
                    return {};
                  });
}

std::string check_softmax(const Arrays& arrays) { return check_softmax_within(arrays, 2e-6); }
std::string check_softmax_approx(const Arrays& arrays) { return check_softmax_within(arrays, 1e-5); }

std::string check_layernorm(const Arrays& arrays) {
  std::span<const float> gain = floats(arrays, 1);
  std::span<const float> bias = floats(arrays, 2);
  double eps = floats(arrays, 3)[0];
  return each_row(arrays, 4,
                  [&](std::span<const float> x, std::span<const float> y, size_t first) -> std::string {
                    double n = static_cast<double>(x.size());
                    double mean = 0;
                    for (float v : x) mean += v / n;
                    double variance = 0;
                    for (float v : x) variance += (v - mean) * (v - mean) / n;
                    for (size_t j = 0; j < x.size(); ++j) {
                      double want = (x[j] - mean) / std::sqrt(variance + eps) * gain[j] + bias[j];
                      if (!close(y[j], want, 1, 4e-6)) return wrong(first + j, y[j], want);
                    }
                    return {};
                  });
}

std::string check_rmsnorm(const Arrays& arrays) {
  std::span<const float> gain = floats(arrays, 1);
  double eps = floats(arrays, 2)[0];
  return each_row(arrays, 3,
                  [&](std::span<const float> x, std::span<const float> y, size_t first) -> std::string {
                    double square = 0;
                    for (float v : x) square += double{v} * v / static_cast<double>(x.size());
                    for (size_t j = 0; j < x.size(); ++j) {
                      double want = x[j] / std::sqrt(square + eps) * gain[j];
                      if (!close(y[j], want, 0, 4e-6)) return wrong(first + j, y[j], want);
                    }
                    return {};
                  });
}

std::string check_transpose(const Arrays& arrays) {
  std::span<const float> x = floats(arrays, 0);
  std::span<const float> y = floats(arrays, 1);
  size_t m = static_cast<size_t>(arrays[0]->extent(0));
  size_t n = static_cast<size_t>(arrays[0]->extent(1));
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      if (y[j * m + i] != x[i * n + j]) return wrong(j * m + i, y[j * m + i], x[i * n + j]);
  return {};
}

std::string check_sum(const Arrays& arrays) {
  double want = 0;
  double magnitude = 0;
  for (float v : floats(arrays, 0)) {
    want += v;
    magnitude += std::abs(v);
  }
  double got = floats(arrays, 1)[0];
  return close(got, want, magnitude, 1e-6) ? std::string() : wrong(0, got, want);
}

// A row of every 37, so that tiles and threads of all kinds are met.
std::string check_matmul(const Arrays& arrays) {
  std::span<const float> a = floats(arrays, 0);
  std::span<const float> b = floats(arrays, 1);
  std::span<const float> c = floats(arrays, 2);
  size_t m = static_cast<size_t>(arrays[0]->extent(0));
  size_t k_extent = static_cast<size_t>(arrays[0]->extent(1));
  size_t n = static_cast<size_t>(arrays[1]->extent(1));
  std::vector<double> row(n);
  for (size_t i = 0; i < m; i += 37) {
    std::fill(row.begin(), row.end(), 0);
    for (size_t k = 0; k < k_extent; ++k)
      for (size_t j = 0; j < n; ++j) row[j] += double{a[i * k_extent + k]} * b[k * n + j];
    for (size_t j = 0; j < n; ++j)
      if (!close(c[i * n + j], row[j], static_cast<double>(k_extent) / 4, 1e-6))
        return wrong(i * n + j, c[i * n + j], row[j]);
  }
  return {};
}

}  // namespace tenon::bench
