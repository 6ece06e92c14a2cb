// Conjugate gradients with M as preconditioner (Hestenes and Stiefel 1952, J. Res. NBS 49:409):
//   a = r'z / p'Hp,  x += a p,  r -= a Hp,  z = M^+ r,  p = z + (r'z / earlier r'z) p.
// Products have 28 bits, which the recursion tolerates. The true residual has 56 bits unless fewer
// suffice for the tolerance. The system is solved again for this residual, as in iterative
// refinement.
#include "core/reml/solvers/conjugate_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// The relative residual that 28-bit products can reach in one round.
constexpr double kRoundTolerance = 1e-6;
// Solves to this share of the tolerance, so that the true residual meets it too.
constexpr double kMargin = 0.5;
constexpr int kMostRefinements = 12;
constexpr int kMostDirections = 2000;

// Columns that are solved together, and their indices in the whole block.
class Block {
 public:
  explicit Block(std::int64_t n) : n_(n) {}
  std::int64_t size() const { return n_; }
  int columns() const { return static_cast<int>(number.size()); }

  // Keeps the columns for which keep[k] is set, in their order.
  void keep_only(const std::vector<char>& keep) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < keep.size(); ++k) {
      if (keep[k] == 0) continue;
      if (to != k) {
        number[to] = number[k];
        goal[to] = goal[k];
        for (Vector* v : {&x, &r, &p}) {
          std::copy_n(v->begin() + static_cast<std::ptrdiff_t>(k) * n_, n_,
                      v->begin() + static_cast<std::ptrdiff_t>(to) * n_);
        }
        energy[to] = energy[k];
      }
      ++to;
    }
    resize(to);
  }

  void resize(std::size_t columns) {
    number.resize(columns);
    goal.resize(columns);
    energy.resize(columns);
    for (Vector* v : {&x, &r, &p}) v->resize(columns * static_cast<std::size_t>(n_));
  }

  std::vector<int> number;
  Vector goal;    // |r| to reach
  Vector energy;  // r'z
  Vector x;
  Vector r;
  Vector p;

 private:
  std::int64_t n_;
};

class Solver {
 public:
  Solver(const RestrictedCovariance& covariance, const Preconditioner& preconditioner)
      : covariance_(covariance),
        preconditioner_(preconditioner),
        workers_(covariance.model().workers),
        n_(covariance.model().samples()) {}

  Vector lengths(int columns, const double* v) const {
    Vector sums(static_cast<std::size_t>(columns));
    column_products(workers_, n_, columns, v, v, sums.data());
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  }

  // The columns whose true residual exceeds their goal, with that residual.
  Block unsolved(int columns, const double* b, const double* x, const Vector& goal,
                 Precision precision) const {
    Block block(n_);
    Vector r(area(n_, columns));
    const bool zero = std::all_of(x, x + n_ * columns, [](double value) { return value == 0; });
    if (!zero) covariance_.times(x, columns, precision, r.data());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    const Vector length = lengths(columns, r.data());
    for (int c = 0; c < columns; ++c) {
      const auto k = static_cast<std::size_t>(c);
      if (length[k] <= goal[k]) continue;
      block.number.push_back(c);
      block.goal.push_back(std::max(kMargin * goal[k], kRoundTolerance * length[k]));
      block.r.insert(block.r.end(), r.begin() + c * n_, r.begin() + (c + 1) * n_);
    }
    block.resize(block.number.size());
    return block;
  }

  // Updates columns of x until the residuals of `block` reach their goals. Returns false after too
  // many steps.
  bool reduce(Block block, double* x) const {
    start(block);
    for (int step = 0; block.columns() > 0; ++step) {
      if (step == kMostDirections) return false;
      advance(block, x);
    }
    return true;
  }

 private:
  void start(Block& block) const {
    preconditioner_.solve(block.r.data(), block.columns(), block.p.data());
    column_products(workers_, n_, block.columns(), block.r.data(), block.p.data(),
                    block.energy.data());
  }

  void advance(Block& block, double* x) const {
    const int columns = block.columns();
    Vector hp(block.p.size());
    Vector curvature(block.energy.size());
    covariance_.times(block.p.data(), columns, Precision::kProbes, hp.data());
    column_products(workers_, n_, columns, block.p.data(), hp.data(), curvature.data());
    for (int c = 0; c < columns; ++c) {
      if (!(curvature[static_cast<std::size_t>(c)] > 0)) {
        covariance_.throw_not_positive(block.p.data() + c * n_);
      }
    }
    for_chunks(workers_, n_, [&](std::int64_t first, std::int64_t size) {
      for (int c = 0; c < columns; ++c) {
        const auto k = static_cast<std::size_t>(c);
        const double factor = block.energy[k] / curvature[k];
        double* const to = block.x.data() + c * n_ + first;
        double* const r = block.r.data() + c * n_ + first;
        const double* const p = block.p.data() + c * n_ + first;
        const double* const product = hp.data() + c * n_ + first;
        for (std::int64_t i = 0; i < size; ++i) {
          to[i] += factor * p[i];
          r[i] -= factor * product[i];
        }
      }
    });
    finish_solved(block, x);
    update_directions(block, std::move(hp));
  }

  // Solved columns leave the block.
  void finish_solved(Block& block, double* x) const {
    const Vector length = lengths(block.columns(), block.r.data());
    std::vector<char> keep;
    for (std::size_t k = 0; k < length.size(); ++k) {
      keep.push_back(length[k] > block.goal[k] ? 1 : 0);
      if (keep.back() != 0) continue;
      double* const to = x + block.number[k] * n_;
      const double* const from = block.x.data() + static_cast<std::ptrdiff_t>(k) * n_;
      for (std::int64_t i = 0; i < n_; ++i) to[i] += from[i];
    }
    block.keep_only(keep);
  }

  // Computes the next directions. `z` is workspace.
  void update_directions(Block& block, Vector z) const {
    const int columns = block.columns();
    preconditioner_.solve(block.r.data(), columns, z.data());
    Vector energy(block.energy.size());
    column_products(workers_, n_, columns, block.r.data(), z.data(), energy.data());
    for_chunks(workers_, n_, [&](std::int64_t first, std::int64_t size) {
      for (int c = 0; c < columns; ++c) {
        const auto k = static_cast<std::size_t>(c);
        const double factor = energy[k] / block.energy[k];
        double* const p = block.p.data() + c * n_ + first;
        const double* const from = z.data() + c * n_ + first;
        for (std::int64_t i = 0; i < size; ++i) p[i] = from[i] + factor * p[i];
      }
    });
    block.energy = std::move(energy);
  }

  const RestrictedCovariance& covariance_;
  const Preconditioner& preconditioner_;
  const Workers& workers_;
  std::int64_t n_;
};

}  // namespace

bool solve(const RestrictedCovariance& covariance, const Preconditioner& preconditioner,
           int columns, const double* b, const Vector& tolerance, double* x) {
  const Solver solver(covariance, preconditioner);
  Vector goal = solver.lengths(columns, b);
  for (std::size_t k = 0; k < goal.size(); ++k) goal[k] *= tolerance[k];
  const double least = *std::min_element(tolerance.begin(), tolerance.end());
  const Precision precision = least > kRoundTolerance ? Precision::kProbes : Precision::kFull;
  for (int round = 0; round < kMostRefinements; ++round) {
    Block block = solver.unsolved(columns, b, x, goal, precision);
    if (block.columns() == 0) return true;
    if (!solver.reduce(std::move(block), x)) return false;
  }
  return false;
}

}  // namespace ancify::reml
