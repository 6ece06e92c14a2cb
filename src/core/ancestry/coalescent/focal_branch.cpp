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

// Sets to 0 the values that rounding made negative.
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

FocalBranch::FocalBranch(int lineages, const std::vector<SizeEpoch>& epochs,
                         const RateMatrix& rates)
    : lineages_(lineages), reach_(static_cast<std::size_t>(lineages) + 1) {
  reach_.back() = 1;
  if (lineages == 1) {
    for (int base = 0; base < kBases; ++base) stem_[base][base] = 1;
  }
  for (const SizeEpoch& epoch : epochs) add_stretch(epoch, rates);
}

// Follows the lineages through one more epoch.
void FocalBranch::add_stretch(const SizeEpoch& epoch, const RateMatrix& rates) {
  const auto n = static_cast<std::size_t>(lineages_);
  Stretch stretch = {epoch.generations, epoch.generations / (2 * epoch.size), {}};
  std::vector<double> reach(n + 1);
  RateMatrix stem = {};
  reach[1] = reach_[1];
  for (int i = 0; i < kNodes / 2; ++i) {
    const auto [at, weight] = contour(i);
    Node node = {weight, std::vector<Complex>(n + 1), std::vector<Complex>(n + 1), {}};
    Complex inflow = 0;
    for (std::size_t l = n; l >= 2; --l) {
      const double rate = stretch.rate(l);
      node.stay[l] = 1.0 / (at + rate);
      node.left[l] = (reach_[l] + inflow) * node.stay[l];
      inflow = rate * node.left[l];
      reach[l] += std::real(weight * node.left[l]);
    }
    for (int from = 0; from < kBases; ++from) {
      for (int to = 0; to < kBases; ++to) {
        node.stem[from][to] = (from == to ? at : 0.0) - rates[from][to] * epoch.generations;
      }
    }
    node.stem = inverse(node.stem);
    add_stem(stem, node, inflow, stem_);
    reach[1] += std::real(weight * inflow / at);
    stretch.nodes.push_back(std::move(node));
  }
  for (double& value : reach) value = std::max(value, 0.0);
  clamp(stem);
  reach_ = std::move(reach);
  stem_ = stem;
  stretches_.push_back(std::move(stretch));
}

// Adds a node's part of the stem after an epoch. `inflow` is the inflow of lineages that become
// one, `before` the stem at the epoch's young end.
void FocalBranch::add_stem(RateMatrix& stem, const Node& node, Complex inflow,
                           const RateMatrix& before) {
  for (int x = 0; x < kBases; ++x) {
    for (int z = 0; z < kBases; ++z) {
      Complex sum = inflow * node.stem[x][z];
      for (int y = 0; y < kBases; ++y) sum += node.stem[x][y] * before[y][z];
      stem[x][z] += std::real(node.weight * sum);
    }
  }
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
// lineages if any number of copies is allowed.
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
  const auto n = static_cast<std::size_t>(lineages_);
  const std::vector<double> ways = this->ways(copies);
  Mutated result = {std::vector<double>(n + 1), {}};
  for (const Stretch& stretch : stretches_) {
    Mutated after = {std::vector<double>(n + 1), {}};
    for (const Node& node : stretch.nodes) {
      // From n lineages down: a mutation that arose among l lineages persists among fewer.
      Complex inflow = 0;
      for (std::size_t l = n; l >= 2; --l) {
        const Complex arisen = stretch.generations * ways[l] * node.left[l];
        const Complex left = (result.left[l] + arisen + inflow) * node.stay[l];
        after.left[l] += std::real(node.weight * left);
        inflow = stretch.rate(l) * left;
      }
      add_stem(after.stem, node, inflow, result.stem);
    }
    for (double& value : after.left) value = std::max(value, 0.0);
    clamp(after.stem);
    result = std::move(after);
  }
  result.left.resize(static_cast<std::size_t>(most) + 1);
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
