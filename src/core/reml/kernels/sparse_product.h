// Products of a symmetric matrix with few entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify::reml {

// An n x n matrix by rows.
class SparseProduct {
 public:
  // Takes the lower triangle, sorted by column, then row, from 0. Throws InputError for an index
  // beyond n.
  SparseProduct(std::int64_t n, const std::vector<std::int32_t>& row,
                const std::vector<std::int32_t>& column, const std::vector<double>& value);

  double trace() const;
  // out = K v, of n x columns.
  void operator()(const double* v, int columns, double* out) const;

 private:
  std::int64_t n_;
  std::vector<std::size_t> begin_;  // of each row's entries, and the end of the last row's
  std::vector<std::int32_t> column_;
  std::vector<double> value_;
};

}  // namespace ancify::reml
