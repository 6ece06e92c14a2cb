// Entries of a row are added in the order of their columns, whatever the order of their input.
#include "core/reml/kernels/sparse_product.h"

#include <algorithm>

#include "core/exec/errors.h"

namespace ancify::reml {

SparseProduct::SparseProduct(std::int64_t n, const std::vector<std::int32_t>& row,
                             const std::vector<std::int32_t>& column,
                             const std::vector<double>& value)
    : n_(n), begin_(static_cast<std::size_t>(n + 1), 0) {
  const auto is_wrong = [n](std::int32_t index) { return index < 0 || index >= n; };
  if (std::any_of(row.begin(), row.end(), is_wrong) ||
      std::any_of(column.begin(), column.end(), is_wrong)) {
    throw InputError("a sparse kernel has an entry beyond its samples");
  }
  const auto at = [](std::int32_t index) { return static_cast<std::size_t>(index); };
  for (std::size_t i = 0; i < value.size(); ++i) {
    ++begin_[at(row[i]) + 1];
    if (row[i] != column[i]) ++begin_[at(column[i]) + 1];
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  column_.resize(begin_.back());
  value_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  const auto add = [&](std::int32_t in_row, std::int32_t in_column, double entry) {
    const std::size_t place = next[at(in_row)]++;
    column_[place] = in_column;
    value_[place] = entry;
  };
  for (std::size_t i = 0; i < value.size(); ++i) {
    add(row[i], column[i], value[i]);
    if (row[i] != column[i]) add(column[i], row[i], value[i]);
  }
}

double SparseProduct::trace() const {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < begin_.size(); ++i) {
    for (std::size_t entry = begin_[i]; entry < begin_[i + 1]; ++entry) {
      if (static_cast<std::size_t>(column_[entry]) == i) sum += value_[entry];
    }
  }
  return sum;
}

void SparseProduct::operator()(const double* v, int columns, double* out) const {
  for (int c = 0; c < columns; ++c, v += n_, out += n_) {
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto row = static_cast<std::size_t>(i);
      double sum = 0;
      for (std::size_t entry = begin_[row]; entry < begin_[row + 1]; ++entry) {
        sum += value_[entry] * v[column_[entry]];
      }
      out[i] = sum;
    }
  }
}

}  // namespace ancify::reml
