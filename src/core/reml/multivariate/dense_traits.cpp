// H has the block C_gab K_g for the samples of the traits a and b, summed over components; Z is the
// basis of all fixed effects. P = H^-1 - H^-1 Z (Z'H^-1 Z)^-1 Z'H^-1, and with the matrix A_i of a
// covariance:
//   s_i = (y'P A_i P y - tr(P A_i)) / 2,  AI_ij = (A_i P y)'P (A_j P y) / 2,
//   E_ij = tr(P A_i P A_j) / 2
// (Thompson 1973, Biometrics 29, 527; Lee and others 2012, Bioinformatics 28, 2540).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/numerics/vectors.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/linear_algebra/large_matrices.h"
#include "core/reml/multivariate/trait_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

class DenseTraits : public TraitModel {
 public:
  DenseTraits(const std::vector<Trait>& traits, Kernels& kernels,
              const std::vector<std::string>& names, const Workers& workers);

  bool move_to(const Vector& theta) override;
  double log_likelihood() const override { return log_likelihood_; }
  TraitDerivatives derivatives() override;
  TraitEffects effects() override;
  bool search_is_cheap() const override { return false; }

 private:
  void stop_if_asked() const { TaskContext(workers_.control).throw_if_stopped(); }
  void add_basis(const Trait& trait, std::size_t index);
  // Calls visit(value of the component's kernel, row, column) for the block of two traits.
  template <class Visit>
  void for_block(std::size_t component, const TraitPair& pair, const Visit& visit) const;
  Vector scattered(const Vector& values) const;
  Vector times_component(std::size_t component, const Vector& columns) const;
  bool solve_effects();
  Vector projection() const;
  Vector expected_information(const Vector& p) const;
  double trace_of_products(const Vector& left, std::size_t a, const Vector& right,
                           std::size_t c) const;

  const std::vector<Trait>& data_;
  Workers workers_;
  std::size_t samples_;
  std::vector<TraitPair> pairs_;
  std::vector<std::size_t> first_;  // of each trait's values among all
  std::vector<Vector> kernels_;
  Vector y_;
  Vector basis_;  // Z, N x P

  Vector factor_;          // of H
  Vector solved_basis_;    // H^-1 Z
  Vector effects_factor_;  // of Z'H^-1 Z
  Vector fixed_;
  Vector py_;
  double log_likelihood_ = 0;
};

DenseTraits::DenseTraits(const std::vector<Trait>& traits, Kernels& kernels,
                         const std::vector<std::string>& names, const Workers& workers)
    : TraitModel(traits, static_cast<std::size_t>(kernels.components()) + 1),
      data_(traits),
      workers_(workers),
      samples_(static_cast<std::size_t>(kernels.samples())),
      pairs_(trait_pairs(traits.size())) {
  for (const Trait& trait : traits) {
    first_.push_back(y_.size());
    y_.insert(y_.end(), trait.y.begin(), trait.y.end());
  }
  for (std::size_t a = 0; a < traits.size(); ++a) add_basis(traits[a], a);
  for (int g = 0; g < kernels.components(); ++g) {
    Vector k(samples_ * samples_);
    kernels.dense(g, k.data());
    check_positive(workers, kernels.samples(), k, names[static_cast<std::size_t>(g)]);
    kernels_.push_back(std::move(k));
  }
}

// The orthonormal basis Q1 of a trait's X.
void DenseTraits::add_basis(const Trait& trait, std::size_t index) {
  const std::size_t n = trait.y.size();
  for (std::size_t j = 0; j < static_cast<std::size_t>(trait.contrasts.effects()); ++j) {
    Vector unit(n);
    unit[j] = 1;
    const Vector column = trait.contrasts.rotate_back(std::move(unit));
    basis_.resize(basis_.size() + y_.size());
    std::copy(column.begin(), column.end(),
              basis_.end() - static_cast<std::ptrdiff_t>(y_.size() - first_[index]));
  }
}

template <class Visit>
void DenseTraits::for_block(std::size_t component, const TraitPair& pair,
                            const Visit& visit) const {
  const auto& rows = data_[pair.row].rows;
  const auto& columns = data_[pair.column].rows;
  if (component == kernels_.size()) {
    // Both lists ascend.
    for (std::size_t i = 0, j = 0; i < rows.size() && j < columns.size();) {
      if (rows[i] == columns[j]) visit(1.0, first_[pair.row] + i, first_[pair.column] + j);
      const bool next_row = rows[i] <= columns[j];
      const bool next_column = rows[i] >= columns[j];
      i += next_row ? 1 : 0;
      j += next_column ? 1 : 0;
    }
    return;
  }
  stop_if_asked();
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double* const k = &kernels_[component][static_cast<std::size_t>(columns[j]) * samples_];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      visit(k[rows[i]], first_[pair.row] + i, first_[pair.column] + j);
    }
  }
}

bool DenseTraits::move_to(const Vector& theta) {
  const std::size_t n = y_.size();
  factor_.assign(n * n, 0);
  const double* covariance = theta.data();
  for (std::size_t g = 0; g < components(); ++g) {
    for (const TraitPair& pair : pairs_) {
      const double value = *covariance++;
      if (value == 0) continue;
      for_block(g, pair,
                [&](double k, std::size_t i, std::size_t j) { factor_[j * n + i] += value * k; });
    }
  }
  const auto size = static_cast<std::int64_t>(n);
  if (!factorise(workers_, {size, factor_.data(), size})) return false;
  if (!solve_effects()) return false;
  const double quadratic = dot(y_, py_);
  const std::size_t p = fixed_.size();
  double sum = static_cast<double>(n - p) * kLogTwoPi + quadratic;
  for (std::size_t i = 0; i < n; ++i) sum += 2 * std::log(factor_[i * (n + 1)]);
  for (std::size_t i = 0; i < p; ++i) sum += 2 * std::log(effects_factor_[i * (p + 1)]);
  log_likelihood_ = -0.5 * sum;
  return std::isfinite(log_likelihood_);
}

bool DenseTraits::solve_effects() {
  const std::size_t n = y_.size();
  const std::size_t p = basis_.size() / n;
  const auto rows = static_cast<int>(n);
  const auto columns = static_cast<int>(p);
  solved_basis_ = basis_;
  solve(workers_, rows, factor_, solved_basis_);
  effects_factor_.resize(p * p);
  cross_product(rows, columns, columns, basis_.data(), solved_basis_.data(),
                effects_factor_.data());
  if (p > 0 && !cholesky(columns, effects_factor_.data())) return false;
  fixed_.resize(p);
  cross_product(rows, columns, 1, solved_basis_.data(), y_.data(), fixed_.data());
  if (p > 0) cholesky_solve(columns, 1, effects_factor_.data(), fixed_.data());
  py_ = y_;
  product(rows, columns, 1, -1, basis_.data(), fixed_.data(), 1, py_.data());
  solve(workers_, rows, factor_, py_);
  return true;
}

Vector DenseTraits::projection() const {
  const std::size_t n = y_.size();
  const std::size_t p = fixed_.size();
  const auto size = static_cast<std::int64_t>(n);
  Vector whole = factor_;
  invert(workers_, {size, whole.data(), size});
  if (p == 0) return whole;
  // H^-1 Z (Z'H^-1 Z)^-1, by columns of its transpose.
  Vector transposed(n * p);
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = 0; i < n; ++i) transposed[i * p + j] = solved_basis_[j * n + i];
  }
  cholesky_solve(static_cast<int>(p), static_cast<int>(n), effects_factor_.data(),
                 transposed.data());
  Vector left(n * p);
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = 0; i < n; ++i) left[j * n + i] = transposed[i * p + j];
  }
  subtract_product(workers_, size, static_cast<std::int64_t>(p), left, solved_basis_, whole.data());
  return whole;
}

// Values of all traits as columns, n x t, with 0 for missing ones.
Vector DenseTraits::scattered(const Vector& values) const {
  Vector columns(samples_ * traits());
  for (std::size_t a = 0; a < traits(); ++a) {
    const auto& rows = data_[a].rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      columns[a * samples_ + static_cast<std::size_t>(rows[i])] = values[first_[a] + i];
    }
  }
  return columns;
}

Vector DenseTraits::times_component(std::size_t component, const Vector& columns) const {
  if (component == kernels_.size()) return columns;
  Vector result(columns.size());
  symmetric_times(workers_, static_cast<std::int64_t>(samples_), kernels_[component].data(),
                  static_cast<std::int64_t>(traits()), columns.data(), result.data());
  return result;
}

// tr(E_a L E_c R), where L and R are n x N, and E_a places the rows of the samples of a in its
// block.
double DenseTraits::trace_of_products(const Vector& left, std::size_t a, const Vector& right,
                                      std::size_t c) const {
  const auto& rows = data_[a].rows;
  const auto& columns = data_[c].rows;
  double sum = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double* const l = &left[(first_[c] + j) * samples_];
    const double* const r = &right[first_[a] * samples_ + static_cast<std::size_t>(columns[j])];
    for (std::size_t i = 0; i < rows.size(); ++i) sum += l[rows[i]] * r[i * samples_];
  }
  return sum;
}

// With T_gb = K_g P_b, where P_b has the rows of the trait b, A_i P = E_a T_gb + E_b T_ga.
Vector DenseTraits::expected_information(const Vector& p) const {
  const std::size_t n = y_.size();
  const std::size_t t = traits();
  std::vector<Vector> products(components() * t);
  for (std::size_t b = 0; b < t; ++b) {
    Vector rows(samples_ * n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < data_[b].rows.size(); ++i) {
        rows[j * samples_ + static_cast<std::size_t>(data_[b].rows[i])] = p[j * n + first_[b] + i];
      }
    }
    for (std::size_t g = 0; g < kernels_.size(); ++g) {
      products[g * t + b].resize(samples_ * n);
      symmetric_times(workers_, static_cast<std::int64_t>(samples_), kernels_[g].data(),
                      static_cast<std::int64_t>(n), rows.data(), products[g * t + b].data());
    }
    products[kernels_.size() * t + b] = std::move(rows);
  }
  const std::size_t k = parameters();
  const std::size_t m = pairs_.size();
  // Both orders of a pair.
  const auto orders = [&](std::size_t i) {
    const TraitPair& pair = pairs_[i % m];
    std::vector<TraitPair> both = {pair};
    if (!pair.same()) both.push_back({pair.column, pair.row});
    return both;
  };
  Vector expected(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      stop_if_asked();
      double sum = 0;
      for (const auto& [a, b] : orders(i)) {
        for (const auto& [c, d] : orders(j)) {
          sum += trace_of_products(products[i / m * t + b], a, products[j / m * t + d], c);
        }
      }
      expected[i * k + j] = expected[j * k + i] = 0.5 * sum;
    }
  }
  return expected;
}

TraitDerivatives DenseTraits::derivatives() {
  const std::size_t n = y_.size();
  const std::size_t k = parameters();
  const Vector p = projection();
  const Vector columns = scattered(py_);
  TraitDerivatives result;
  Vector apy(n * k);  // A_i P y
  double* next = apy.data();
  for (std::size_t g = 0; g < components(); ++g) {
    const Vector times = times_component(g, columns);
    for (const TraitPair& pair : pairs_) {
      const auto gather = [&](std::size_t to, std::size_t from) {
        const auto& rows = data_[to].rows;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          next[first_[to] + i] = times[from * samples_ + static_cast<std::size_t>(rows[i])];
        }
      };
      gather(pair.row, pair.column);
      if (!pair.same()) gather(pair.column, pair.row);
      double trace = 0;
      for_block(g, pair,
                [&](double value, std::size_t i, std::size_t j) { trace += value * p[j * n + i]; });
      const double form = std::inner_product(py_.begin(), py_.end(), next, 0.0);
      result.score.push_back(0.5 * (form - (pair.same() ? 1 : 2) * trace));
      next += n;
    }
  }
  Vector papy(n * k);
  symmetric_times(workers_, static_cast<std::int64_t>(n), p.data(), static_cast<std::int64_t>(k),
                  apy.data(), papy.data());
  result.average.resize(k * k);
  const auto width = static_cast<int>(k);
  cross_product(static_cast<int>(n), width, width, apy.data(), papy.data(), result.average.data());
  for (double& value : result.average) value *= 0.5;
  result.expected = expected_information(p);
  return result;
}

TraitEffects DenseTraits::effects() {
  const std::size_t p = fixed_.size();
  TraitEffects result{fixed_, effects_factor_, scattered(py_)};
  if (p > 0) cholesky_inverse(static_cast<int>(p), result.covariance.data());
  for (std::size_t j = 0; j < p; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      result.covariance[j * p + i] = result.covariance[i * p + j];
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<TraitModel> dense_traits(const std::vector<Trait>& traits, Kernels& kernels,
                                         const std::vector<std::string>& names,
                                         const Workers& workers) {
  return std::make_unique<DenseTraits>(traits, kernels, names, workers);
}

}  // namespace ancify::reml
