// All ancestries share one product with K, with equally many columns for each.
#include "core/reml/kernels/admixture_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace ancify::reml {

AdmixtureKernels::AdmixtureKernels(Kernels& kernel, const std::vector<double>& diagonal,
                                   const std::vector<double>& shares)
    : kernel_(kernel) {
  const auto n = static_cast<std::ptrdiff_t>(diagonal.size());
  for (const double share : shares) roots_.push_back(std::sqrt(share));
  for (auto of = shares.begin(); of != shares.end(); of += n) {
    mean_diagonals_.push_back(std::inner_product(diagonal.begin(), diagonal.end(), of, 0.0) /
                              static_cast<double>(n));
  }
}

std::vector<double> AdmixtureKernels::scaled(const std::vector<int>& ancestries, const double* v,
                                             int columns) const {
  const std::int64_t n = samples();
  std::vector<double> result;
  result.reserve(ancestries.size() * static_cast<std::size_t>(n * columns));
  for (const int a : ancestries) {
    const double* const root = roots(a);
    for (std::int64_t k = 0; k < n * columns; ++k) result.push_back(root[k % n] * v[k]);
  }
  return result;
}

void AdmixtureKernels::times(const double* theta, const double* v, int columns, Precision precision,
                             double* out) {
  const std::int64_t size = samples() * columns;
  std::fill_n(out, size, 0.0);
  std::vector<int> wanted;
  for (int a = 0; a < components(); ++a) {
    if (theta[a] != 0) wanted.push_back(a);
  }
  if (wanted.empty()) return;
  const std::vector<double> scaled_v = scaled(wanted, v, columns);
  std::vector<double> product(scaled_v.size());
  const double one = 1;
  kernel_.times(&one, scaled_v.data(), columns * static_cast<int>(wanted.size()), precision,
                product.data());
  const double* of = product.data();
  for (const int a : wanted) {
    const double* const root = roots(a);
    for (std::int64_t k = 0; k < size; ++k) out[k] += theta[a] * root[k % samples()] * *of++;
  }
}

void AdmixtureKernels::quadratic_forms(const double* a, const double* b, int columns,
                                       Precision precision, double* forms) {
  std::vector<int> all(static_cast<std::size_t>(components()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> left = scaled(all, a, columns);
  const std::vector<double> right = a == b ? std::vector<double>() : scaled(all, b, columns);
  kernel_.quadratic_forms(left.data(), a == b ? left.data() : right.data(), columns * components(),
                          precision, forms);
}

void AdmixtureKernels::dense(int component, double* out) {
  const std::int64_t n = samples();
  const double* const root = roots(component);
  kernel_.dense(0, out);
  for (std::int64_t k = 0; k < n * n; ++k) out[k] *= root[k % n] * root[k / n];
}

}  // namespace ancify::reml
