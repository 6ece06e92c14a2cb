// X = QR by Householder reflections, Q = I - V F V'. A kernel is rotated by one update of rank 2p:
//   Q'KQ = K - V W' - W V',  W = B - V F'V'B / 2,  B = K V F
// (Golub and Van Loan 2013, Matrix Computations, sections 5.1.7 and 8.3.1, for one reflection).
#include "core/reml/fit/error_contrasts.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/reml/linear_algebra/large_matrices.h"

namespace ancify::reml {

namespace {

// A column of X depends on earlier columns if its part outside them is below this share of it.
constexpr double kDependent = 1e-10;

void transpose(std::size_t n, std::vector<double>& a) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) std::swap(a[j * n + i], a[i * n + j]);
  }
}

}  // namespace

ErrorContrasts::ErrorContrasts(const FitData& data)
    : qr_(static_cast<int>(data.samples()), static_cast<int>(data.effects()), data.x) {
  const auto n = static_cast<std::size_t>(samples());
  for (std::size_t j = 0; j < static_cast<std::size_t>(effects()); ++j) {
    const double* const column = &qr_.packed[j * n];
    double norm = 0;
    for (std::size_t i = 0; i <= j; ++i) norm = std::hypot(norm, column[i]);
    if (!(std::abs(column[j]) > kDependent * norm)) {
      throw InputError("column " + std::to_string(j + 1) +
                       " of the fixed effects depends on the columns before it; leave it out");
    }
  }
}

std::vector<double> ErrorContrasts::rotate(std::vector<double> v) const {
  qr_.rotate(true, static_cast<int>(v.size() / static_cast<std::size_t>(samples())), v.data());
  return v;
}

std::vector<double> ErrorContrasts::rotate_back(std::vector<double> v) const {
  qr_.rotate(false, static_cast<int>(v.size() / static_cast<std::size_t>(samples())), v.data());
  return v;
}

void ErrorContrasts::rotate_both_sides(const Workers& workers, const std::vector<double>& f,
                                       double* k) const {
  const int n = samples();
  const int p = effects();
  if (p == 0) return;
  const std::size_t size = area(n, p);
  const std::vector<double> v = qr_.reflectors();
  std::vector<double> kv(size);
  symmetric_times(workers, n, k, p, v.data(), kv.data());
  std::vector<double> w(size);
  product(n, p, p, 1, kv.data(), f.data(), 0, w.data());
  // F'V'B = F'(V'KV) F is symmetric.
  std::vector<double> vb(area(p, p));
  cross_product(n, p, p, v.data(), w.data(), vb.data());
  std::vector<double> middle(area(p, p));
  cross_product(p, p, p, f.data(), vb.data(), middle.data());
  product(n, p, p, -0.5, v.data(), middle.data(), 1, w.data());
  // V W' + W V' is (V, W) (W, V)'.
  std::vector<double> left = v;
  left.insert(left.end(), w.begin(), w.end());
  w.insert(w.end(), v.begin(), v.end());
  subtract_product(workers, n, 2 * std::int64_t{p}, left, w, k);
}

void ErrorContrasts::rotate_kernel_back(const Workers& workers, double* k) const {
  const auto p = static_cast<std::size_t>(effects());
  std::vector<double> f = qr_.triangle();
  transpose(p, f);
  rotate_both_sides(workers, f, k);
}

std::vector<double> ErrorContrasts::solve(std::vector<double> b) const {
  qr_.solve(b.data());
  return b;
}

std::vector<double> ErrorContrasts::solve_both_sides(std::vector<double> a) const {
  const auto p = static_cast<std::size_t>(effects());
  const auto divide_columns = [&] {
    for (std::size_t j = 0; j < p; ++j) qr_.solve(&a[j * p]);
  };
  divide_columns();
  transpose(p, a);
  divide_columns();
  return a;
}

}  // namespace ancify::reml
