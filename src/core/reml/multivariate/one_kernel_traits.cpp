// With Q2 a basis of X's complement and Q2'KQ2 = V D V', the rows of V'Q2'Y are independent, with
// covariances H_i = d_i G + E. With W_i = H_i^-1, q_i = W_i y_i and the symmetric unit matrices S:
//   score = sum_i w_i (q_i'S q_i - tr(W_i S)) / 2,  AI = sum_i w_i^2 (S q_i)'W_i (S q_i) / 2,
//   E = sum_i w_i^2 tr(W_i S W_i S) / 2,  where w_i is d_i for G, and 1 for E
// (Thompson 1973, Biometrics 29, 527; Zhou and Stephens 2014, Nature Methods 11, 407).
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernel_checks.h"
#include "core/reml/linear_algebra/lapack.h"
#include "core/reml/linear_algebra/tridiagonal.h"
#include "core/reml/multivariate/trait_model.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

class OneKernelTraits : public TraitModel {
 public:
  OneKernelTraits(const std::vector<Trait>& traits, Kernels& kernels, const std::string& name,
                  const Workers& workers);

  bool move_to(const Vector& theta) override;
  double log_likelihood() const override { return log_likelihood_; }
  TraitDerivatives derivatives() override;
  TraitEffects effects() override;
  bool search_is_cheap() const override { return true; }

 private:
  void take_kernel(Kernels& kernels, const std::string& name, const Workers& workers);
  std::size_t size() const { return values_.size(); }
  const double* inverse(std::size_t i) const { return &inverses_[i * traits() * traits()]; }
  const double* weighted(std::size_t i) const { return &weighted_[i * traits()]; }

  const ErrorContrasts& contrasts_;
  std::vector<TraitPair> pairs_;
  Vector kernel_;      // the reflections of its tridiagonal form
  Vector vectors_;     // of the tridiagonal form
  Vector values_;      // d
  Vector rotated_;     // y_i, one after the other
  Vector on_effects_;  // Q1'KQ2V, p x N
  Vector effects_;     // Q1'KQ1, p x p
  Vector fixed_y_;     // Q1'Y, p x t
  std::unique_ptr<Tridiagonal> form_;

  Vector genetic_;   // G
  Vector residual_;  // E
  Vector inverses_;  // W_i
  Vector weighted_;  // q_i
  double log_likelihood_ = 0;
};

OneKernelTraits::OneKernelTraits(const std::vector<Trait>& traits, Kernels& kernels,
                                 const std::string& name, const Workers& workers)
    : TraitModel(traits, 2), contrasts_(traits[0].contrasts), pairs_(trait_pairs(traits.size())) {
  take_kernel(kernels, name, workers);
  const auto p = static_cast<std::ptrdiff_t>(contrasts_.effects());
  const std::size_t t = traits.size();
  rotated_.resize(size() * t);
  for (std::size_t a = 0; a < t; ++a) {
    Vector y = contrasts_.rotate(traits[a].y);
    fixed_y_.insert(fixed_y_.end(), y.begin(), y.begin() + p);
    y.erase(y.begin(), y.begin() + p);
    form_->rotate(true, 1, y.data());
    Vector rotated(size());
    cross_product(static_cast<int>(size()), static_cast<int>(size()), 1, vectors_.data(), y.data(),
                  rotated.data());
    for (std::size_t i = 0; i < size(); ++i) rotated_[i * t + a] = rotated[i];
  }
}

void OneKernelTraits::take_kernel(Kernels& kernels, const std::string& name,
                                  const Workers& workers) {
  const auto n = static_cast<std::size_t>(contrasts_.samples());
  const auto p = static_cast<std::size_t>(contrasts_.effects());
  const std::size_t inner = n - p;
  Vector k(n * n);
  kernels.dense(0, k.data());
  contrasts_.rotate_kernel(workers, k.data());
  for (std::size_t j = 0; j < p; ++j) {
    effects_.insert(effects_.end(), &k[j * n], &k[j * n] + p);
  }
  // The kernel's columns on X, below its p rows: KQ21, N x p.
  Vector below;
  for (std::size_t j = 0; j < p; ++j) below.insert(below.end(), &k[j * n + p], &k[j * n] + n);
  double trace = 0;
  kernel_.resize(inner * inner);
  for (std::size_t j = 0; j < inner; ++j) {
    std::copy_n(&k[(j + p) * n + p], inner, &kernel_[j * inner]);
    trace += kernel_[j * (inner + 1)];
  }
  k = Vector();
  check_variance_left(trace, kernels.mean_diagonal(0) * static_cast<double>(n), name);
  form_ = std::make_unique<Tridiagonal>(workers, static_cast<int>(inner), kernel_.data());
  values_ = form_->diagonal();
  vectors_ = tridiagonal_eigenvectors(values_, form_->off_diagonal());
  TaskContext(workers.control).throw_if_stopped();
  check_smallest_eigenvalue(values_.front(), trace / static_cast<double>(inner), name);
  form_->rotate(true, static_cast<int>(p), below.data());
  on_effects_.resize(p * inner);
  cross_product(static_cast<int>(inner), static_cast<int>(p), static_cast<int>(inner), below.data(),
                vectors_.data(), on_effects_.data());
}

bool OneKernelTraits::move_to(const Vector& theta) {
  const std::size_t t = traits();
  genetic_ = unpacked(t, theta.data());
  residual_ = unpacked(t, &theta[pairs_.size()]);
  inverses_.resize(size() * t * t);
  weighted_.assign(size() * t, 0);
  double sum = static_cast<double>(size() * t) * kLogTwoPi;
  for (std::size_t i = 0; i < size(); ++i) {
    double* const h = &inverses_[i * t * t];
    for (std::size_t j = 0; j < t * t; ++j) h[j] = values_[i] * genetic_[j] + residual_[j];
    if (!cholesky(static_cast<int>(t), h)) return false;
    for (std::size_t a = 0; a < t; ++a) sum += 2 * std::log(h[a * (t + 1)]);
    cholesky_inverse(static_cast<int>(t), h);
    const double* const y = &rotated_[i * t];
    for (const auto& [row, column] : pairs_) {
      h[row * t + column] = h[column * t + row];
      const double value = h[row * t + column];
      weighted_[i * t + row] += value * y[column];
      if (row != column) weighted_[i * t + column] += value * y[row];
    }
    for (std::size_t a = 0; a < t; ++a) sum += y[a] * weighted_[i * t + a];
  }
  log_likelihood_ = -0.5 * sum;
  return std::isfinite(log_likelihood_);
}

TraitDerivatives OneKernelTraits::derivatives() {
  const std::size_t t = traits();
  const std::size_t m = pairs_.size();
  const std::size_t k = 2 * m;
  TraitDerivatives result;
  result.score.resize(k);
  result.average.resize(k * k);
  result.expected.resize(k * k);
  // Adds a value for the pairs u and v to all blocks, weighted by powers of d_i.
  const auto add = [&](Vector& to, std::size_t u, std::size_t v, double d, double value) {
    to[v * k + u] += d * d * value;
    to[v * k + m + u] += d * value;
    to[(m + v) * k + u] += d * value;
    to[(m + v) * k + m + u] += value;
  };
  Vector unit(t * m);  // S q_i of each pair
  for (std::size_t i = 0; i < size(); ++i) {
    const double* const w = inverse(i);
    const double* const q = weighted(i);
    std::fill(unit.begin(), unit.end(), 0);
    for (std::size_t u = 0; u < m; ++u) {
      const auto [a, b] = pairs_[u];
      unit[u * t + a] = q[b];
      unit[u * t + b] = q[a];
      const double half = a == b ? 0.5 : 1;
      const double score = half * (q[a] * q[b] - w[a * t + b]);
      result.score[u] += values_[i] * score;
      result.score[m + u] += score;
    }
    for (std::size_t u = 0; u < m; ++u) {
      for (std::size_t v = 0; v < m; ++v) {
        double form = 0;
        for (std::size_t a = 0; a < t; ++a) {
          for (std::size_t b = 0; b < t; ++b) {
            form += unit[u * t + a] * w[a * t + b] * unit[v * t + b];
          }
        }
        add(result.average, u, v, values_[i], 0.5 * form);
        const auto [a, b] = pairs_[u];
        const auto [c, d] = pairs_[v];
        const double times = (a == b ? 1 : 2) * (c == d ? 1 : 2);
        add(result.expected, u, v, values_[i],
            0.25 * times * (w[a * t + d] * w[b * t + c] + w[a * t + c] * w[b * t + d]));
      }
    }
  }
  return result;
}

// With M = Q1'KQ2V: b = Q1'Y - M Q G, where Q has the rows q_i, and its covariance is
// G x Q1'KQ1 + E x I - sum_i (G W_i G) x (m_i m_i').
TraitEffects OneKernelTraits::effects() {
  const std::size_t t = traits();
  const auto p = static_cast<std::size_t>(contrasts_.effects());
  TraitEffects result{fixed_y_, Vector(p * t * p * t), {}};
  const auto covariance = [&](std::size_t a, std::size_t j, std::size_t b,
                              std::size_t l) -> double& {
    return result.covariance[(b * p + l) * p * t + a * p + j];
  };
  for (std::size_t a = 0; a < t; ++a) {
    for (std::size_t b = 0; b < t; ++b) {
      for (std::size_t j = 0; j < p; ++j) {
        covariance(a, j, b, j) += residual_[b * t + a];
        for (std::size_t l = 0; l < p; ++l) {
          covariance(a, j, b, l) += genetic_[b * t + a] * effects_[l * p + j];
        }
      }
    }
  }
  Vector half(t * t);
  Vector both(t * t);
  for (std::size_t i = 0; i < size(); ++i) {
    const double* const m = &on_effects_[i * p];
    const int width = static_cast<int>(t);
    product(width, width, width, 1, genetic_.data(), inverse(i), 0, half.data());
    product(width, width, width, 1, half.data(), genetic_.data(), 0, both.data());
    for (std::size_t a = 0; a < t; ++a) {
      double value = 0;
      for (std::size_t b = 0; b < t; ++b) value += genetic_[b * t + a] * weighted(i)[b];
      for (std::size_t j = 0; j < p; ++j) result.fixed[a * p + j] -= m[j] * value;
      for (std::size_t b = 0; b < t; ++b) {
        for (std::size_t j = 0; j < p; ++j) {
          for (std::size_t l = 0; l < p; ++l)
            covariance(a, j, b, l) -= both[b * t + a] * m[j] * m[l];
        }
      }
    }
  }
  for (std::size_t a = 0; a < t; ++a) {
    Vector q(size());
    for (std::size_t i = 0; i < size(); ++i) q[i] = weighted(i)[a];
    Vector rotated(size());
    const auto inner = static_cast<int>(size());
    product(inner, inner, 1, 1, vectors_.data(), q.data(), 0, rotated.data());
    form_->rotate(false, 1, rotated.data());
    rotated.insert(rotated.begin(), p, 0.0);
    const Vector back = contrasts_.rotate_back(std::move(rotated));
    result.projection.insert(result.projection.end(), back.begin(), back.end());
  }
  return result;
}

}  // namespace

std::unique_ptr<TraitModel> one_kernel_traits(const std::vector<Trait>& traits, Kernels& kernels,
                                              const std::string& name, const Workers& workers) {
  return std::make_unique<OneKernelTraits>(traits, kernels, name, workers);
}

}  // namespace ancify::reml
