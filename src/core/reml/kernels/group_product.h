// Products with the kernel of groups: 1 for two samples of a group, else 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ancify::reml {

class GroupProduct {
 public:
  // `groups`: of each sample, from 0.
  explicit GroupProduct(std::vector<std::int32_t> groups) : groups_(std::move(groups)) {
    for (const std::int32_t group : groups_) {
      n_groups_ = std::max(n_groups_, static_cast<std::size_t>(group) + 1);
    }
  }

  // out = K v, of n x columns.
  void operator()(const double* v, int columns, double* out) const {
    for (int c = 0; c < columns; ++c) {
      std::vector<double> sums(n_groups_);
      for (const std::int32_t group : groups_) sums[static_cast<std::size_t>(group)] += *v++;
      for (const std::int32_t group : groups_) *out++ = sums[static_cast<std::size_t>(group)];
    }
  }

 private:
  std::vector<std::int32_t> groups_;
  std::size_t n_groups_ = 0;
};

}  // namespace ancify::reml
