// Random numbers of training: a function of a seed, a stream and a position (exec/philox.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/exec/philox.h"

namespace ancify {

// Uniform values between -limit and limit.
template <class T>
void draw_uniform(std::vector<T>& values, double limit, std::uint64_t seed, std::uint64_t stream) {
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const PhiloxBlock bits = philox(seed, stream, i / 4);
    for (std::size_t j = i; j < std::min(i + 4, values.size()); ++j) {
      values[j] = static_cast<T>(limit * (2 * (bits[j - i] + 0.5) * 0x1p-32 - 1));
    }
  }
}

// A random permutation of 0 to n - 1: the Fisher-Yates shuffle.
inline std::vector<std::int64_t> random_order(std::int64_t n, std::uint64_t seed,
                                              std::uint64_t stream) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i-- > 1;) {
    const PhiloxBlock bits = philox(seed, stream, i);
    const double share = (bits[0] + bits[1] * 0x1p-32) * 0x1p-32;
    // `share` may be rounded to 1.
    const auto place = static_cast<std::size_t>(share * static_cast<double>(i + 1));
    std::swap(order[i], order[std::min(i, place)]);
  }
  return order;
}

}  // namespace ancify
