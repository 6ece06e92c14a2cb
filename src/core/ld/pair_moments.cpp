// Unbiased estimates from independently drawn units. A product of means, such as E[x] E[x] E[y], is
// estimated by averaging x_a x_b y_c over all distinct units a, b, c. Sums over distinct units come
// from plain sums: with X = sum x, XY = sum xy and so on,
//
//   <x, y>       = X Y - XY                      <xy, x>  = XY X - XXY
//   <x, x, y>    = <x, x> Y - 2 <xy, x>          <xy, xy> = XY^2 - XXYY
//   <xy, x, y>   = XY <x, y> - <xxy, y> - <xyy, x>
//   <x, x, y, y> = <x, x, y> Y - 2 <xy, x, y> - <x, x, yy>
//
// and each is divided by its number of terms, n (n - 1) .... D is a fraction of cov(x, y): 1/4 for
// haplotypes, with x = 1 or -1, and 1/2 for genotypes under random mating, where both haplotypes
// add D. As averages of all samples, these are the estimators of Ragsdale and Gravel (2020)
// Molecular Biology and Evolution 37:923-932. All sums are integers, exact up to 9,741 units.
#include "core/ld/pair_moments.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/device/lanes.h"

namespace ancify {

namespace {

// Sums have this many parts, whatever the register width, so all levels add in one order.
constexpr std::size_t kParts = 8;

constexpr std::size_t to_parts(std::size_t n) { return (n + kParts - 1) / kParts * kParts; }

ANCIFY_ALWAYS_INLINE std::int64_t bits(std::uint64_t word) { return __builtin_popcountll(word); }

// One site: pointers to its bits, and its sums.
struct UnitSite {
  UnitSite(const SitePlanes& planes, std::int64_t site, std::size_t population)
      : called(planes.called(site, population)),
        unlike(planes.unlike(site, population)),
        negative(planes.negative(site, population)),
        sums(planes.sums(site, population)),
        is_complete(planes.is_complete(site, population)) {}

  const std::uint64_t* called;
  const std::uint64_t* unlike;
  const std::uint64_t* negative;
  UnitSums sums;
  bool is_complete;
};

// The sums at `site` over the units also called at `other`.
ANCIFY_ALWAYS_INLINE void sum_called(const UnitSite& site, const UnitSite& other, std::size_t words,
                                     UnitSums& sums) {
  sums = site.sums;
  if (other.is_complete) return;
  std::int64_t called = 0;
  std::int64_t unlike = 0;
  std::int64_t negative = 0;
  for (std::size_t w = 0; w < words; ++w) {
    called += bits(site.called[w] & other.called[w]);
    unlike += bits(site.unlike[w] & other.called[w]);
    negative += bits(site.negative[w] & other.called[w]);
  }
  sums.called = static_cast<std::int32_t>(called);
  sums.x = static_cast<std::int32_t>(unlike - 2 * negative);
  sums.squares = static_cast<std::int32_t>(unlike);
}

ANCIFY_ALWAYS_INLINE void sum_pair(const UnitSite& left, const UnitSite& right, std::size_t words,
                                   std::size_t at, UnitRows& rows) {
  std::int64_t both = 0;  // units with x and y other than 0
  std::int64_t opposite = 0;
  std::int64_t left_negative = 0;
  std::int64_t right_negative = 0;
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t unlike = left.unlike[w] & right.unlike[w];
    both += bits(unlike);
    opposite += bits(unlike & (left.negative[w] ^ right.negative[w]));
    left_negative += bits(unlike & left.negative[w]);
    right_negative += bits(unlike & right.negative[w]);
  }
  UnitSums of_left;
  UnitSums of_right;
  sum_called(left, right, words, of_left);
  sum_called(right, left, words, of_right);
  rows[kN][at] = of_left.called;
  rows[kX][at] = of_left.x;
  rows[kY][at] = of_right.x;
  rows[kXX][at] = of_left.squares;
  rows[kYY][at] = of_right.squares;
  rows[kXY][at] = static_cast<double>(both - 2 * opposite);
  rows[kXXY][at] = static_cast<double>(both - 2 * right_negative);
  rows[kXYY][at] = static_cast<double>(both - 2 * left_negative);
  rows[kXXYY][at] = static_cast<double>(both);
}

ANCIFY_ALWAYS_INLINE void sum_range(const SitePlanes& planes, std::size_t population,
                                    const PairRange& pairs, std::size_t at, UnitRows& rows) {
  const std::size_t words = planes.words(population);
  const UnitSite left(planes, pairs.left, population);
  for (std::size_t k = 0; k < pairs.n; ++k) {
    const UnitSite right(planes, pairs.right + static_cast<std::int64_t>(k), population);
    sum_pair(left, right, words, at + k, rows);
  }
}

ANCIFY_ALWAYS_INLINE void estimate(const UnitRows& sums, std::size_t n, double of_covariance,
                                   MomentRows& moments) {
  for (std::size_t k = 0; k < n; ++k) {
    const double units = sums[kN][k];
    const double x = sums[kX][k];
    const double y = sums[kY][k];
    const double xy = sums[kXY][k];
    const double per_one = 1 / units;
    const double per_two = per_one / (units - 1);
    const double per_three = per_two / (units - 2);
    const double per_four = per_three / (units - 3);

    const double x_y = x * y - xy;
    const double x_x = x * x - sums[kXX][k];
    const double y_y = y * y - sums[kYY][k];
    const double xy_x = xy * x - sums[kXXY][k];
    const double xy_y = xy * y - sums[kXYY][k];
    const double xy_xy = xy * xy - sums[kXXYY][k];
    const double xxy_y = sums[kXXY][k] * y - sums[kXXYY][k];
    const double xyy_x = sums[kXYY][k] * x - sums[kXXYY][k];
    const double x_x_y = x_x * y - 2 * xy_x;
    const double x_y_y = y_y * x - 2 * xy_y;
    const double xy_x_y = xy * x_y - xxy_y - xyy_x;
    const double x_x_yy = x_x * sums[kYY][k] - 2 * xyy_x;
    const double x_x_y_y = x_x_y * y - 2 * xy_x_y - x_x_yy;

    moments[kMeanZ][k] = x * per_one;
    moments[kMeanW][k] = y * per_one;
    moments[kZW][k] = x_y * per_two;
    moments[kZZ][k] = x_x * per_two;
    moments[kWW][k] = y_y * per_two;
    moments[kZZW][k] = x_x_y * per_three;
    moments[kZWW][k] = x_y_y * per_three;
    moments[kZZWW][k] = x_x_y_y * per_four;
    moments[kD][k] = of_covariance * (xy * per_one - x_y * per_two);
    moments[kDZ][k] = of_covariance * (xy_x * per_two - x_x_y * per_three);
    moments[kDW][k] = of_covariance * (xy_y * per_two - x_y_y * per_three);
    moments[kDZW][k] = of_covariance * (xy_x_y * per_three - x_x_y_y * per_four);
    moments[kDD][k] = of_covariance * of_covariance *
                      (xy_xy * per_two - 2 * xy_x_y * per_three + x_x_y_y * per_four);
  }
  for (BatchRow& row : moments) std::fill(&row[0] + n, &row[0] + to_parts(n), 0.0);
}

template <class Lanes, std::size_t kFactors>
ANCIFY_ALWAYS_INLINE double sum_of(const std::array<const BatchRow*, 4>& factors, std::size_t n) {
  using Parts = LaneBlock<Lanes, kParts>;
  Parts total = {};
  for (std::size_t k = 0; k < n; k += kParts) {
    Parts product;
    product.load_from(&(*factors[0])[k]);
    for (std::size_t f = 1; f < kFactors; ++f) {
      Parts factor;
      factor.load_from(&(*factors[f])[k]);
      for (std::size_t r = 0; r < Parts::kRegisters; ++r) product.lanes[r] *= factor.lanes[r];
    }
    for (std::size_t r = 0; r < Parts::kRegisters; ++r) total.lanes[r] += product.lanes[r];
  }
  std::array<double, kParts> parts;
  total.store_to(parts.data());
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

template <class Lanes>
ANCIFY_ALWAYS_INLINE double sum_of(const std::array<const BatchRow*, 4>& factors,
                                   std::size_t n_factors, std::size_t n) {
  if (n_factors == 1) return sum_of<Lanes, 1>(factors, n);
  if (n_factors == 2) return sum_of<Lanes, 2>(factors, n);
  return n_factors == 3 ? sum_of<Lanes, 3>(factors, n) : sum_of<Lanes, 4>(factors, n);
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX512 void sum_range_avx512(const SitePlanes& planes, std::size_t population,
                                           const PairRange& pairs, std::size_t at, UnitRows& rows) {
  sum_range(planes, population, pairs, at, rows);
}

ANCIFY_TARGET_AVX2 void sum_range_avx2(const SitePlanes& planes, std::size_t population,
                                       const PairRange& pairs, std::size_t at, UnitRows& rows) {
  sum_range(planes, population, pairs, at, rows);
}

ANCIFY_TARGET_AVX512 void estimate_avx512(const UnitRows& sums, std::size_t n, double of_covariance,
                                          MomentRows& moments) {
  estimate(sums, n, of_covariance, moments);
}

ANCIFY_TARGET_AVX2 void estimate_avx2(const UnitRows& sums, std::size_t n, double of_covariance,
                                      MomentRows& moments) {
  estimate(sums, n, of_covariance, moments);
}

ANCIFY_TARGET_AVX512 double sum_of_avx512(const std::array<const BatchRow*, 4>& factors,
                                          std::size_t n_factors, std::size_t n) {
  return sum_of<Avx512Lanes>(factors, n_factors, n);
}

ANCIFY_TARGET_AVX2 double sum_of_avx2(const std::array<const BatchRow*, 4>& factors,
                                      std::size_t n_factors, std::size_t n) {
  return sum_of<Avx2Lanes>(factors, n_factors, n);
}

#endif

}  // namespace

void sum_units(const SitePlanes& planes, std::size_t population, const PairRange& pairs,
               [[maybe_unused]] SimdLevel simd, std::size_t at, UnitRows& rows) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return sum_range_avx512(planes, population, pairs, at, rows);
  if (simd == SimdLevel::kAvx2) return sum_range_avx2(planes, population, pairs, at, rows);
#endif
  sum_range(planes, population, pairs, at, rows);
}

void estimate_moments(const UnitRows& sums, std::size_t n, UnitKind kind,
                      [[maybe_unused]] SimdLevel simd, MomentRows& moments) {
  const double of_covariance = kind == UnitKind::kHaplotypes ? 0.25 : 0.5;
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return estimate_avx512(sums, n, of_covariance, moments);
  if (simd == SimdLevel::kAvx2) return estimate_avx2(sums, n, of_covariance, moments);
#endif
  estimate(sums, n, of_covariance, moments);
}

double sum_products(const std::array<const BatchRow*, 4>& factors, std::size_t n_factors,
                    std::size_t n, [[maybe_unused]] SimdLevel simd) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return sum_of_avx512(factors, n_factors, n);
  if (simd == SimdLevel::kAvx2) return sum_of_avx2(factors, n_factors, n);
#endif
  return sum_of<PlainLanes>(factors, n_factors, n);
}

}  // namespace ancify
