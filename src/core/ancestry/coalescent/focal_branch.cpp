// Computes the death process of a sample's lineages, and mutations in it, by exponentials of its
// generator A on a cotangent contour (Trefethen, Weideman and Schmelzer 2006, BIT 46:653).
//   exp(A) v = sum over nodes k of w_k (z_k - A)^-1 v
//   rate of l lineages to l - 1: l (l - 1) / 2 in units of 2N generations
#include "core/ancestry/coalescent/focal_branch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ancify {

namespace {

using Complex = FocalBranch::Complex;
using ComplexMatrix = std::array<std::array<Complex, kBases>, kBases>;

constexpr int kNodes = 24;

// Node and weight on the contour's upper half; the lower half is its complex conjugate.
std::pair<Complex, Complex> contour(int i) {
  const double pi = std::acos(-1.0);
  const double angle = pi * (2 * i + 1) / kNodes;
  const double bent = 0.6407 * angle;
  const double cot = 1 / std::tan(bent);
  const double n = kNodes;
  const Complex node = n * Complex(0.5017 * angle * cot - 0.6122, 0.2645 * angle);
  const Complex slope =
      n * Complex(0.5017 * (cot - bent / (std::sin(bent) * std::sin(bent))), 0.2645);
  // The sum over both halves is twice the real part of the sum over this half.
  return {node, 2.0 * std::exp(node) * slope / Complex(0, n)};
}

// Gauss-Jordan elimination. No eigenvalue of a generator is near the contour, so pivots are far
// from 0.
ComplexMatrix inverse(ComplexMatrix a) {
  ComplexMatrix b = {};
  for (int i = 0; i < kBases; ++i) b[i][i] = 1;
  for (int i = 0; i < kBases; ++i) {
    const Complex pivot = 1.0 / a[i][i];
    for (int j = 0; j < kBases; ++j) {
      a[i][j] *= pivot;
      b[i][j] *= pivot;
    }
    for (int k = 0; k < kBases; ++k) {
      if (k == i) continue;
      const Complex factor = a[k][i];
      for (int j = 0; j < kBases; ++j) {
        a[k][j] -= factor * a[i][j];
        b[k][j] -= factor * b[i][j];
      }
    }
  }
  return b;
}

void add_real(RateMatrix& sum, Complex factor, const ComplexMatrix& matrix) {
  for (int i = 0; i < kBases; ++i) {
    for (int j = 0; j < kBases; ++j) sum[i][j] += std::real(factor * matrix[i][j]);
  }
}

// Sets values that rounding made negative to 0.
void clamp(RateMatrix& matrix) {
  for (auto& row : matrix) {
    for (double& value : row) value = std::max(value, 0.0);
  }
}

double choose(int n, int k) {
  double result = 1;
  for (int i = 1; i <= k; ++i) result *= static_cast<double>(n - k + i) / i;
  return result;
}

}  // namespace

FocalBranch::FocalBranch(int lineages, double size, double generations, const RateMatrix& rates)
    : lineages_(lineages),
      generations_(generations),
      reach_(static_cast<std::size_t>(lineages) + 1),
      nodes_(kNodes / 2) {
  const auto n = static_cast<std::size_t>(lineages);
  const double time = generations / (2 * size);
  for (int i = 0; i < kNodes / 2; ++i) {
    const auto [at, weight] = contour(i);
    Node& node = nodes_[static_cast<std::size_t>(i)];
    node.weight = weight;
    node.down.resize(n + 1);
    node.stay.resize(n + 1);
    node.down[n] = 1;
    for (std::size_t l = n; l >= 2; --l) {
      const double rate = static_cast<double>(l) * static_cast<double>(l - 1) / 2 * time;
      node.stay[l] = 1.0 / (at + rate);
      node.down[l - 1] = node.down[l] * rate * node.stay[l];
      reach_[l] += std::real(weight * node.down[l] * node.stay[l]);
    }
    for (int from = 0; from < kBases; ++from) {
      for (int to = 0; to < kBases; ++to) {
        node.stem[from][to] = (from == to ? at : 0.0) - rates[from][to] * generations;
      }
    }
    node.stem = inverse(node.stem);
    add_real(stem_, weight * node.down[1], node.stem);
    reach_[1] += std::real(weight * node.down[1] / at);
  }
  for (double& value : reach_) value = std::max(value, 0.0);
  clamp(stem_);
}

double FocalBranch::reach(int k) const { return reach_[static_cast<std::size_t>(k)]; }

int FocalBranch::most_left(double tail) const {
  double sum = 0;
  for (int k = lineages_; k > 1; --k) {
    sum += reach(k);
    if (sum >= tail) return k;
  }
  return 1;
}

// [l]: the expected number of lineages, among l, with `copies` descendants in the sample: l
// choose(n - copies - 1, l - 2) / choose(n - 1, l - 1) (Fu 1995, Theor. Popul. Biol. 48:172). All
// of them if any number of copies will do.
std::vector<double> FocalBranch::ways(std::optional<int> copies) const {
  const int n = lineages_;
  std::vector<double> result(static_cast<std::size_t>(n) + 1);
  if (!copies) {
    std::iota(result.begin(), result.end(), 0.0);
    return result;
  }
  double one_lineage = 1.0 / (n - 1);
  for (int l = 2; l <= n - *copies + 1; ++l) {
    result[static_cast<std::size_t>(l)] = l * one_lineage;
    one_lineage *= static_cast<double>(n - *copies - l + 1) / (l - 1) * l / (n - l);
  }
  return result;
}

FocalBranch::Mutated FocalBranch::mutated(std::optional<int> copies, int most) const {
  Mutated result = {std::vector<double>(static_cast<std::size_t>(most) + 1), {}};
  const int n = lineages_;
  const std::vector<double> ways = this->ways(copies);
  for (const Node& node : nodes_) {
    // From n lineages down: a mutation that arose among l lineages is still there among fewer.
    Complex arisen = 0;
    for (int l = n; l >= 2; --l) {
      const auto at = static_cast<std::size_t>(l);
      arisen += ways[at] * node.stay[at];
      if (l > most) continue;
      result.left[at] +=
          generations_ * std::real(node.weight * node.down[at] * node.stay[at] * arisen);
    }
    add_real(result.stem, generations_ * node.weight * node.down[1] * arisen, node.stem);
  }
  for (double& value : result.left) value = std::max(value, 0.0);
  clamp(result.stem);
  return result;
}

double FocalBranch::split_sample(std::optional<int> copies, int kept, int carried) const {
  const int left = kept + carried;
  if (left > lineages_) return 0;
  const double as_left = reach(left) * choose(left, carried);
  if (!copies) return as_left;
  const int others = lineages_ - *copies;
  if (carried > *copies || kept > others) return 0;
  return as_left * choose(*copies - 1, carried - 1) * choose(others - 1, kept - 1) /
         choose(lineages_ - 1, left - 1);
}

}  // namespace ancify
