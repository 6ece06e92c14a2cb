// Products by components: with C_g = V L V', the columns of V need one product with K_g each.
#include "core/reml/trait_probes/trait_kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/numerics/symmetric_eigen.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

// An eigenvalue below this share of the largest one is rounding error.
constexpr double kNoEigenvalue = 1e-15;

// c = a b of t x t matrices.
Vector small_product(std::size_t t, const Vector& a, const Vector& b) {
  Vector c(t * t);
  for (std::size_t j = 0; j < t; ++j) {
    for (std::size_t l = 0; l < t; ++l) {
      for (std::size_t i = 0; i < t; ++i) c[j * t + i] += a[l * t + i] * b[j * t + l];
    }
  }
  return c;
}

// T'T of a pattern.
Vector squared_whitening(std::size_t t, const Vector& whitening) {
  Vector result(t * t);
  for (std::size_t j = 0; j < t; ++j) {
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t l = 0; l < t; ++l) {
        result[j * t + i] += whitening[i * t + l] * whitening[j * t + l];
      }
    }
  }
  return result;
}

}  // namespace

TraitKernels::TraitKernels(const TraitValues& values, Kernels& kernels, const Workers& workers)
    : values_(values), kernels_(kernels), workers_(workers), pairs_(trait_pairs(values.traits())) {
  const std::int64_t n = values.samples();
  for (std::size_t g = 0; g < parts(); ++g) {
    const bool residual = g + 1 == parts();
    const int component = static_cast<int>(g);
    means_.push_back(residual ? 1 : kernels.mean_diagonal(component));
    sums_.emplace_back(values.patterns());
    const bool even = residual || values.patterns() == 1;
    const Vector diagonal =
        even ? Vector(static_cast<std::size_t>(n), means_[g]) : kernels.diagonal(component);
    for (std::size_t s = 0; s < diagonal.size(); ++s) sums_[g][values.pattern_of(s)] += diagonal[s];
  }
}

double TraitKernels::mean_diagonal(int component) const {
  const auto i = static_cast<std::size_t>(component);
  const auto [row, column] = pairs_[i % pairs_.size()];
  const std::size_t t = values_.traits();
  double sum = 0;
  for (std::size_t p = 0; p < values_.patterns(); ++p) {
    const Vector square = squared_whitening(t, values_.whitening(p));
    double form = square[row * (t + 1)];
    if (row != column) form += square[column * (t + 1)] + 2 * square[column * t + row];
    sum += form * sums_[i / pairs_.size()][p];
  }
  return sum / static_cast<double>(samples());
}

Vector TraitKernels::covariance(const double* weights, std::size_t part) const {
  const std::size_t t = values_.traits();
  Vector c(t * t);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double weight = weights[part * pairs_.size() + i];
    const auto [row, column] = pairs_[i];
    c[row * (t + 1)] += weight;
    if (row == column) continue;
    c[column * (t + 1)] += weight;
    c[row * t + column] += weight;
    c[column * t + row] += weight;
  }
  return c;
}

void TraitKernels::times(const double* weights, const double* v, int columns, Precision precision,
                         double* out) {
  const std::size_t t = values_.traits();
  const std::int64_t n = values_.samples();
  const Vector spread = values_.spread(v, columns);
  Vector sum(spread.size());
  for (std::size_t g = 0; g < parts(); ++g) {
    const Eigenpairs pairs = symmetric_eigenpairs(t, covariance(weights, g));
    Vector kept;  // the vectors with a value
    Vector back;  // times it, transposed
    const double least =
        kNoEigenvalue * std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
    int rank = 0;
    for (std::size_t k = 0; k < t; ++k) {
      if (std::abs(pairs.values[k]) <= least) continue;
      kept.insert(kept.end(), &pairs.vectors[k * t], &pairs.vectors[k * t] + t);
      ++rank;
      back.push_back(pairs.values[k]);
    }
    if (rank == 0) continue;
    const auto width = static_cast<std::int64_t>(rank) * columns;
    Vector rotated(area(n, width));
    for_chunks(workers_, n, [&](std::int64_t first, std::int64_t size) {
      for (std::int64_t k = 0; k < width; ++k) {
        const double* const vector = &kept[static_cast<std::size_t>(k % rank) * t];
        double* const to = &rotated[area(n, k)];
        for (std::size_t a = 0; a < t; ++a) {
          const double* const from =
              &spread[area(n, k / rank) * t + a * static_cast<std::size_t>(n)];
          for (std::int64_t s = first; s < first + size; ++s) to[s] += vector[a] * from[s];
        }
      }
    });
    Vector product;
    if (g + 1 < parts()) {
      product.resize(rotated.size());
      Vector one(static_cast<std::size_t>(kernels_.components()));
      one[g] = 1;
      kernels_.times(one.data(), rotated.data(), static_cast<int>(width), precision,
                     product.data());
    } else {
      product = std::move(rotated);
    }
    for_chunks(workers_, n, [&](std::int64_t first, std::int64_t size) {
      for (std::int64_t k = 0; k < width; ++k) {
        const auto of = static_cast<std::size_t>(k % rank);
        const double* const from = &product[area(n, k)];
        for (std::size_t a = 0; a < t; ++a) {
          const double factor = kept[of * t + a] * back[of];
          double* const to = &sum[area(n, k / rank) * t + a * static_cast<std::size_t>(n)];
          for (std::int64_t s = first; s < first + size; ++s) to[s] += factor * from[s];
        }
      }
    });
  }
  values_.gather(sum.data(), columns, out);
}

void TraitKernels::quadratic_forms(const double* a, const double* b, int columns,
                                   Precision precision, double* forms) {
  const std::size_t t = values_.traits();
  const std::size_t m = pairs_.size();
  const std::int64_t n = values_.samples();
  const int width = static_cast<int>(m) * columns;
  // w_a, or w_a + w_b, for each pair: the columns of a pair are consecutive.
  const auto sums_of = [&](const double* v) {
    const Vector spread = values_.spread(v, columns);
    Vector sums(area(n, width));
    for_chunks(workers_, n, [&](std::int64_t first, std::int64_t size) {
      for (int k = 0; k < width; ++k) {
        const auto [row, column] = pairs_[static_cast<std::size_t>(k / columns)];
        const double* const from = &spread[area(n, k % columns) * t];
        double* const to = &sums[area(n, k)];
        for (std::int64_t s = first; s < first + size; ++s) {
          to[s] = from[row * static_cast<std::size_t>(n) + static_cast<std::size_t>(s)];
          if (row != column) {
            to[s] += from[column * static_cast<std::size_t>(n) + static_cast<std::size_t>(s)];
          }
        }
      }
    });
    return sums;
  };
  const Vector left = sums_of(a);
  const Vector right = a == b ? Vector() : sums_of(b);
  const double* const other = a == b ? left.data() : right.data();
  kernels_.quadratic_forms(left.data(), other, width, precision, forms);
  column_products(workers_, n, width, left.data(), other,
                  forms + area(width, kernels_.components()));
}

// Only exact fits take dense kernels.
void TraitKernels::dense(int /*component*/, double* /*out*/) {
  throw std::logic_error("whitened traits have no dense kernels");
}

Vector TraitKernels::weights_of(const Vector& theta) const {
  Vector weights = theta;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const std::size_t first = i / pairs_.size() * pairs_.size();
    const auto [row, column] = pairs_[i - first];
    if (row == column) continue;
    for (std::size_t j = 0; j < pairs_.size(); ++j) {
      const bool own = pairs_[j].same() && (pairs_[j].row == row || pairs_[j].row == column);
      if (own) weights[first + j] -= theta[i];
    }
  }
  weights.push_back(0);
  return weights;
}

Vector TraitKernels::by_covariance(const double* forms, int columns) const {
  const auto width = static_cast<std::size_t>(columns);
  Vector result(forms, forms + area(components(), columns));
  for (std::size_t i = 0; i < static_cast<std::size_t>(components()); ++i) {
    const std::size_t first = i / pairs_.size() * pairs_.size();
    const auto [row, column] = pairs_[i - first];
    if (row == column) continue;
    for (std::size_t j = 0; j < pairs_.size(); ++j) {
      const bool own = pairs_[j].same() && (pairs_[j].row == row || pairs_[j].row == column);
      for (std::size_t c = 0; own && c < width; ++c) {
        result[i * width + c] -= forms[(first + j) * width + c];
      }
    }
  }
  return result;
}

Vector TraitKernels::derivatives_times(const double* v) {
  const std::size_t t = values_.traits();
  const std::int64_t n = values_.samples();
  const auto rows = static_cast<std::ptrdiff_t>(n);
  const Vector spread = values_.spread(v, 1);
  Vector result(area(samples(), components()));
  double* out = result.data();
  for (std::size_t g = 0; g < parts(); ++g) {
    Vector product = spread;
    if (g + 1 < parts()) {
      Vector one(static_cast<std::size_t>(kernels_.components()));
      one[g] = 1;
      kernels_.times(one.data(), spread.data(), static_cast<int>(t), Precision::kFull,
                     product.data());
    }
    for (const auto& [row, column] : pairs_) {
      Vector placed(spread.size());
      const auto place = [&](std::size_t to, std::size_t from) {
        std::copy_n(product.begin() + static_cast<std::ptrdiff_t>(from) * rows, n,
                    placed.begin() + static_cast<std::ptrdiff_t>(to) * rows);
      };
      place(row, column);
      place(column, row);
      values_.gather(placed.data(), 1, out);
      out += samples();
    }
  }
  return result;
}

void TraitKernels::add_mean_forms(const Vector& form, std::size_t stride, double* out) const {
  const std::size_t t = values_.traits();
  for (const double mean : means_) {
    for (const auto& [row, column] : pairs_) {
      const double other = row == column ? 0 : form[row * t + column];
      *out += mean * (form[column * t + row] + other);
      out += stride;
    }
  }
}

Vector TraitKernels::mean_forms(const double* v, const double* w, int columns) const {
  const std::size_t t = values_.traits();
  const std::int64_t n = values_.samples();
  const Vector left = values_.spread(v, columns);
  const Vector right = values_.spread(w, columns);
  Vector result(area(components(), columns));
  for (int c = 0; c < columns; ++c) {
    Vector form(t * t);
    const int width = static_cast<int>(t);
    cross_block(workers_, n, width, width, &left[area(n, c) * t], &right[area(n, c) * t],
                form.data());
    add_mean_forms(form, static_cast<std::size_t>(columns), result.data() + c);
  }
  return result;
}

Vector TraitKernels::mean_traces(const Vector& theta) const {
  const std::size_t t = values_.traits();
  Vector result(static_cast<std::size_t>(components()));
  for (std::size_t p = 0; p < values_.patterns(); ++p) {
    // The sum of a pattern's diagonal blocks of H, before it is whitened.
    Vector sum(t * t);
    for (std::size_t g = 0; g < parts(); ++g) {
      const Vector c = unpacked(t, &theta[g * pairs_.size()]);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sums_[g][p] * c[k];
    }
    const Vector square = squared_whitening(t, values_.whitening(p));
    add_mean_forms(small_product(t, small_product(t, square, sum), square), 1, result.data());
  }
  return result;
}

}  // namespace ancify::reml
