// The trace of S A S is the mean of z'SASz for random signs z (Hutchinson 1989, Commun. Stat.
// Simul. 18:1059).
#include "core/reml/solvers/probes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/philox.h"

namespace ancify::reml {

namespace {

constexpr int kBlockBits = 128;
// The rounding error allowed in the test for a multiple of a projection.
constexpr double kRoundingOfTrace = 1e-9;

// The factor that makes the mean over R probes the exact trace; 0 if none exists. It exists if Z'SZ
// / R is a multiple of a projection whose rank is the complement's dimension d. At most d
// eigenvalues are nonzero, and none is negative, so this holds if their squared sum is d times
// their sum of squares.
double exact_scale(const Workers& workers, const FixedEffects& fixed, std::vector<double> z) {
  const auto n = fixed.samples();
  const auto columns = static_cast<std::int64_t>(z.size()) / n;
  const auto d = static_cast<double>(fixed.freedom());
  if (columns < fixed.freedom()) return 0;
  const int r = static_cast<int>(columns);
  fixed.project(workers, r, z.data());
  std::vector<double> products(static_cast<std::size_t>(columns * columns));
  cross_block(workers, n, r, r, z.data(), z.data(), products.data());
  double sum = 0;
  double squares = 0;
  for (int j = 0; j < r; ++j) {
    sum += products[static_cast<std::size_t>(j * columns + j)] / r;
    for (int i = 0; i < r; ++i) {
      const double value = products[static_cast<std::size_t>(j * columns + i)] / r;
      squares += value * value;
    }
  }
  const bool exact = d * squares - sum * sum < kRoundingOfTrace * sum * sum;
  return exact ? std::sqrt(d / sum) : 0;
}

void stretch(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

// Drops probes explained by the fixed effects. They add nothing to the sum but count in its mean,
// so the others are shortened. InputError for a probe of zeros, or if no probe remains.
std::vector<double> unexplained(const Workers& workers, const FixedEffects& fixed,
                                std::vector<double> z) {
  constexpr double kNothingLeft = 1e-12;  // of a square
  const std::int64_t n = fixed.samples();
  const auto columns = static_cast<int>(static_cast<std::int64_t>(z.size()) / n);
  std::vector<double> left = z;
  fixed.project(workers, columns, left.data());
  std::vector<double> before(static_cast<std::size_t>(columns));
  std::vector<double> after(before.size());
  column_products(workers, n, columns, z.data(), z.data(), before.data());
  column_products(workers, n, columns, left.data(), left.data(), after.data());
  auto end = z.begin();
  for (int c = 0; c < columns; ++c) {
    const auto k = static_cast<std::size_t>(c);
    if (before[k] == 0) {
      throw InputError("column " + std::to_string(c + 1) +
                       " of the probes is 0 everywhere; leave it out");
    }
    if (after[k] <= kNothingLeft * before[k]) continue;
    const auto from = z.begin() + c * n;
    end = from == end ? end + n : std::copy(from, from + n, end);
  }
  if (end == z.begin()) {
    throw InputError("the fixed effects explain all columns of the probes; give random ones");
  }
  const auto kept = static_cast<double>(end - z.begin()) / static_cast<double>(n);
  z.erase(end, z.end());
  if (kept < columns) stretch(z, std::sqrt(kept / columns));
  return z;
}

}  // namespace

void fill_signs(const Workers& workers, std::uint64_t seed, std::uint64_t first, std::int64_t n,
                int columns, double* out) {
  // Chunks consist of whole blocks of bits.
  for_chunks(workers, n, [&](std::int64_t from, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      for (std::int64_t i = from; i < from + size; i += kBlockBits) {
        const PhiloxBlock bits = philox(seed, first + static_cast<std::uint64_t>(c),
                                        static_cast<std::uint64_t>(i / kBlockBits));
        const std::int64_t count = std::min<std::int64_t>(kBlockBits, from + size - i);
        for (std::int64_t k = 0; k < count; ++k) {
          const bool set = (bits[static_cast<std::size_t>(k / 32)] >> (k % 32) & 1U) != 0;
          out[c * n + i + k] = set ? 1 : -1;
        }
      }
    }
  });
}

Probes::Probes(const FixedEffects& fixed, std::vector<double> matrix, const Workers& workers)
    : fixed_(fixed), matrix_(unexplained(workers, fixed, std::move(matrix))) {
  const double scale = exact_scale(workers, fixed, matrix_);
  exact_ = scale > 0;
  if (exact_) stretch(matrix_, scale);
}

void Probes::fill(const Workers& workers, int first, int columns, double* out) const {
  const std::int64_t n = fixed_.samples();
  if (matrix_.empty()) {
    fill_signs(workers, seed_, static_cast<std::uint64_t>(first), n, columns, out);
  } else {
    std::copy_n(matrix_.data() + first * n, columns * n, out);
  }
  fixed_.project(workers, columns, out);
}

}  // namespace ancify::reml
