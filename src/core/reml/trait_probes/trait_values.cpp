// T = L^-1 for the Cholesky factor L of a sample's part of D.
#include "core/reml/trait_probes/trait_values.h"

#include <cmath>
#include <map>

#include "core/exec/errors.h"
#include "core/reml/linear_algebra/lapack.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// L^-1 of the rows and columns of `present` traits, 0 elsewhere.
Vector whitening_of(std::size_t t, const Vector& covariance, const std::vector<char>& present) {
  // Missing traits are uncorrelated with the others.
  Vector factor(t * t);
  for (std::size_t j = 0; j < t; ++j) {
    for (std::size_t i = 0; i < t; ++i) {
      const bool both = present[i] != 0 && present[j] != 0;
      factor[j * t + i] = both ? covariance[j * t + i] : (i == j ? 1 : 0);
    }
  }
  if (!cholesky(static_cast<int>(t), factor.data())) {
    throw InputError("the traits are multiples of each other; leave one out");
  }
  Vector inverse(t * t);
  for (std::size_t j = 0; j < t; ++j) {
    for (std::size_t i = j; i < t; ++i) {
      double sum = i == j ? 1 : 0;
      for (std::size_t l = j; l < i; ++l) sum -= factor[l * t + i] * inverse[j * t + l];
      inverse[j * t + i] = sum / factor[i * (t + 1)];
    }
  }
  for (std::size_t i = 0; i < t; ++i) {
    if (present[i] == 0) inverse[i * (t + 1)] = 0;
  }
  return inverse;
}

}  // namespace

TraitValues::TraitValues(const std::vector<Trait>& traits, std::int64_t samples,
                         const Vector& covariance, const Workers& workers)
    : workers_(workers),
      samples_(samples),
      traits_(traits.size()),
      index_(area(samples, static_cast<std::int64_t>(traits.size())), -1) {
  for (std::size_t a = 0; a < traits_; ++a) {
    for (const std::int64_t row : traits[a].rows) {
      index_[area(samples, static_cast<std::int64_t>(a)) + static_cast<std::size_t>(row)] = size();
      row_of_.push_back(row);
    }
  }
  std::map<std::vector<char>, std::size_t> numbers;
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s) {
    std::vector<char> present;
    for (std::size_t a = 0; a < traits_; ++a) {
      present.push_back(index_[a * static_cast<std::size_t>(samples) + s] < 0 ? 0 : 1);
    }
    const auto [at, is_new] = numbers.emplace(present, whitening_.size());
    if (is_new) whitening_.push_back(whitening_of(traits_, covariance, present));
    pattern_of_.push_back(at->second);
  }
}

template <class Use>
void TraitValues::for_each_value(const Use& use) const {
  for_chunks(workers_, samples_, [&](std::int64_t first, std::int64_t length) {
    const auto end = static_cast<std::size_t>(first + length);
    for (auto s = static_cast<std::size_t>(first); s < end; ++s) {
      const Vector& whitening = whitening_[pattern_of_[s]];
      for (std::size_t a = 0; a < traits_; ++a) {
        const std::int64_t at = index_[area(samples_, static_cast<std::int64_t>(a)) + s];
        if (at >= 0) use(s, whitening, a, at);
      }
    }
  });
}

Vector TraitValues::spread(const double* v, int columns) const {
  const std::int64_t n = samples_;
  const std::size_t t = traits_;
  Vector w(area(n, columns) * t);
  for_each_value([&](std::size_t s, const Vector& whitening, std::size_t a, std::int64_t at) {
    for (int c = 0; c < columns; ++c) {
      const double value = v[c * size() + at];
      double* const out = &w[area(n, c) * t + s];
      for (std::size_t b = 0; b <= a; ++b) out[b * n] += whitening[b * t + a] * value;
    }
  });
  return w;
}

void TraitValues::gather(const double* w, int columns, double* out) const {
  const std::int64_t n = samples_;
  const std::size_t t = traits_;
  for_each_value([&](std::size_t s, const Vector& whitening, std::size_t a, std::int64_t at) {
    for (int c = 0; c < columns; ++c) {
      const double* const from = w + area(n, c) * t + s;
      double sum = 0;
      for (std::size_t b = 0; b <= a; ++b) sum += whitening[b * t + a] * from[b * n];
      out[c * size() + at] = sum;
    }
  });
}

void TraitValues::whiten(double* v, int columns) const {
  Vector w(area(samples_, columns) * traits_);
  for (int c = 0; c < columns; ++c) {
    for (std::size_t k = 0; k < index_.size(); ++k) {
      if (index_[k] >= 0) w[area(samples_, c) * traits_ + k] = v[c * size() + index_[k]];
    }
  }
  gather(w.data(), columns, v);
}

double TraitValues::log_determinant() const {
  double sum = 0;
  for (const std::size_t pattern : pattern_of_) {
    for (std::size_t a = 0; a < traits_; ++a) {
      const double diagonal = whitening_[pattern][a * (traits_ + 1)];
      if (diagonal > 0) sum += std::log(diagonal);
    }
  }
  return sum;
}

}  // namespace ancify::reml
