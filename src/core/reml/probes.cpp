// The trace of S A S is the mean of z'SASz for random signs z (Hutchinson 1989, Commun. Stat.
// Simul. 18:1059).
#include "core/reml/probes.h"

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
// How far the matrix below may be from a projection by rounding.
constexpr double kRoundingOfTrace = 1e-9;

// Whether Z'SZ / R, of R probes, is a projection of the complement's dimension d. Its eigenvalues
// are not negative and at most d are not 0, so it is one if their sum and sum of squares are d.
bool is_exact(const Workers& workers, const FixedEffects& fixed, std::vector<double> z) {
  const auto n = fixed.samples();
  const auto columns = static_cast<std::int64_t>(z.size()) / n;
  const auto d = static_cast<double>(fixed.freedom());
  if (columns < fixed.freedom()) return false;
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
  return std::abs(sum - d) < kRoundingOfTrace * d && std::abs(squares - d) < kRoundingOfTrace * d;
}

// InputError for a probe that the fixed effects explain.
void check_probes(const Workers& workers, const FixedEffects& fixed, const std::vector<double>& z) {
  constexpr double kNothingLeft = 1e-12;  // of a square
  const std::int64_t n = fixed.samples();
  const auto columns = static_cast<int>(static_cast<std::int64_t>(z.size()) / n);
  std::vector<double> left = z;
  fixed.project(workers, columns, left.data());
  std::vector<double> before(static_cast<std::size_t>(columns));
  std::vector<double> after(before.size());
  column_products(workers, n, columns, z.data(), z.data(), before.data());
  column_products(workers, n, columns, left.data(), left.data(), after.data());
  for (std::size_t c = 0; c < before.size(); ++c) {
    if (after[c] > kNothingLeft * before[c]) continue;
    throw InputError("column " + std::to_string(c + 1) +
                     " of the probes is 0, or the fixed effects explain it; leave it out");
  }
}

}  // namespace

void fill_signs(const Workers& workers, std::uint64_t seed, std::uint64_t first, std::int64_t n,
                int columns, double* out) {
  // Chunks are of whole blocks of bits.
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
    : fixed_(fixed), matrix_(std::move(matrix)), exact_(is_exact(workers, fixed, matrix_)) {
  check_probes(workers, fixed, matrix_);
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
