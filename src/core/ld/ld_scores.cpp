// The correlation of two variants over the samples with calls at both, from sums of integers:
//
//   r = (n sum xy - sum x sum y) / sqrt((n sum x^2 - (sum x)^2) (n sum y^2 - (sum y)^2))
//
// x and y are 1 - copies, so that sums are counts of bits. If both variants are complete, only the
// sum of xy depends on the pair.
#include "core/ld/ld_scores.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"
#include "core/ld/packed_calls.h"
#include "core/ld/site_planes.h"

namespace ancify {

namespace {

// Variants on each side of a tile of pairs, and the words of them that fit the nearest cache.
constexpr std::int64_t kTile = 64;
constexpr std::size_t kTileWords = 32;
// The most tasks whose sums are in memory.
constexpr std::int64_t kTasksAtOnce = 64;

// n^2 times the population variance.
std::int64_t spread(const UnitSums& sums) {
  return std::int64_t{sums.called} * sums.squares - std::int64_t{sums.x} * sums.x;
}

// Sums over the samples with calls at both variants of a pair.
struct SharedSums {
  UnitSums left;
  UnitSums right;
  std::int32_t products = 0;
};

// Some words of a variant's planes, a multiple of 8.
struct Planes {
  const std::uint64_t* homozygous;
  const std::uint64_t* two;
  const std::uint64_t* called;
};

// Counts of the words that are counted together: as many as a vector has, or one where only words
// can be counted.
template <std::size_t kLanes>
using Lanes = std::uint64_t[kLanes];
constexpr std::size_t kLanesOfVector = 8;

// Counts of bits in a word: several share it, 16 bits each.
constexpr unsigned kCountBits = 16;
static_assert(kTileWords * kWordBits < 1U << kCountBits, "counts of a tile fit their bits");

ANCIFY_ALWAYS_INLINE std::uint64_t count_bits(std::uint64_t word) {
  return static_cast<std::uint64_t>(__builtin_popcountll(word));
}

template <std::size_t kLanes>
ANCIFY_ALWAYS_INLINE std::uint64_t total(const Lanes<kLanes>& lanes) {
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

ANCIFY_ALWAYS_INLINE std::int32_t count_of(std::uint64_t counts, unsigned which) {
  return static_cast<std::int32_t>(counts >> (kCountBits * which) & ((1U << kCountBits) - 1));
}

template <std::size_t kLanes>
ANCIFY_ALWAYS_INLINE void add_products(const Planes& a, const Planes& b, std::size_t words,
                                       SharedSums& sums) {
  Lanes<kLanes> lanes = {};
  for (std::size_t w = 0; w < words; w += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const std::uint64_t both = a.homozygous[w + k] & b.homozygous[w + k];
      const std::uint64_t unlike = both & (a.two[w + k] ^ b.two[w + k]);
      lanes[k] += count_bits(both) | count_bits(unlike) << kCountBits;
    }
  }
  const std::uint64_t counts = total<kLanes>(lanes);
  sums.products += count_of(counts, 0) - 2 * count_of(counts, 1);
}

// Adds the sums that depend on the missing calls of both.
template <std::size_t kLanes>
ANCIFY_ALWAYS_INLINE void add_shared(const Planes& a, const Planes& b, std::size_t words,
                                     SharedSums& sums) {
  Lanes<kLanes> of_left = {};
  Lanes<kLanes> of_right = {};
  for (std::size_t w = 0; w < words; w += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      of_left[k] += count_bits(a.homozygous[w + k] & b.called[w + k]) |
                    count_bits(a.two[w + k] & b.called[w + k]) << kCountBits |
                    count_bits(a.called[w + k] & b.called[w + k]) << 2 * kCountBits;
      of_right[k] += count_bits(b.homozygous[w + k] & a.called[w + k]) |
                     count_bits(b.two[w + k] & a.called[w + k]) << kCountBits;
    }
  }
  const std::uint64_t left = total<kLanes>(of_left);
  const std::uint64_t right = total<kLanes>(of_right);
  sums.left.called += count_of(left, 2);
  sums.left.squares += count_of(left, 0);
  sums.left.x += count_of(left, 0) - 2 * count_of(left, 1);
  sums.right.called += count_of(left, 2);
  sums.right.squares += count_of(right, 0);
  sums.right.x += count_of(right, 0) - 2 * count_of(right, 1);
}

// Adds the pairs of a variant with `n` neighbours, whose planes are `stride` words apart.
// `complete`: for each neighbour, whether both variants are complete.
template <std::size_t kLanes>
ANCIFY_ALWAYS_INLINE void add_row(const Planes& left, Planes right, std::size_t stride,
                                  std::int64_t n, const bool* complete, std::size_t words,
                                  SharedSums* sums) {
  for (std::int64_t i = 0; i < n; ++i) {
    add_products<kLanes>(left, right, words, sums[i]);
    if (!complete[i]) add_shared<kLanes>(left, right, words, sums[i]);
    right = {right.homozygous + stride, right.two + stride, right.called + stride};
  }
}

using AddRow = void (*)(const Planes&, Planes, std::size_t, std::int64_t, const bool*, std::size_t,
                        SharedSums*);

void add_row_plain(const Planes& left, Planes right, std::size_t stride, std::int64_t n,
                   const bool* complete, std::size_t words, SharedSums* sums) {
  add_row<1>(left, right, stride, n, complete, words, sums);
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void add_row_avx2(const Planes& left, Planes right, std::size_t stride,
                                     std::int64_t n, const bool* complete, std::size_t words,
                                     SharedSums* sums) {
  add_row<1>(left, right, stride, n, complete, words, sums);
}

// AVX-512 with VPOPCNTDQ, which counts the bits of vectors
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq"))) void add_row_avx512(
    const Planes& left, Planes right, std::size_t stride, std::int64_t n, const bool* complete,
    std::size_t words, SharedSums* sums) {
  add_row<kLanesOfVector>(left, right, stride, n, complete, words, sums);
}

#endif

AddRow add_row_for([[maybe_unused]] SimdLevel simd) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512 && __builtin_cpu_supports("avx512vpopcntdq")) {
    return add_row_avx512;
  }
  if (simd != SimdLevel::kScalar) return add_row_avx2;
#endif
  return add_row_plain;
}

// The scores of some neighbouring variants, from `begin` on.
struct ScoreSums {
  ScoreSums(std::int64_t first, std::int64_t end)
      : begin(first),
        score(static_cast<std::size_t>(end - first)),
        corrected(score.size()),
        n_variants(score.size()) {}

  void add(std::int64_t variant, double r2, double corrected_r2) {
    const auto at = static_cast<std::size_t>(variant - begin);
    score[at] += r2;
    corrected[at] += corrected_r2;
    n_variants[at] += 1;
  }

  std::int64_t begin;
  std::vector<double> score;
  std::vector<double> corrected;
  std::vector<double> n_variants;
};

void add_pair(std::int64_t left, std::int64_t right, const SharedSums& sums, ScoreSums& scores) {
  const std::int64_t of_left = spread(sums.left);
  const std::int64_t of_right = spread(sums.right);
  if (of_left == 0 || of_right == 0) return;
  const std::int64_t n = sums.left.called;
  const auto covariance =
      static_cast<double>(n * sums.products - std::int64_t{sums.left.x} * sums.right.x);
  const double r2 =
      covariance * covariance / (static_cast<double>(of_left) * static_cast<double>(of_right));
  // Two samples have an r^2 of 1, which needs no correction.
  const auto freedom = static_cast<double>(std::max<std::int64_t>(1, n - 2));
  const double corrected = r2 - (1 - r2) / freedom;
  scores.add(left, r2, corrected);
  scores.add(right, r2, corrected);
}

class PairScorer {
 public:
  PairScorer(const PackedCalls& calls, const std::vector<std::int64_t>& ends, SimdLevel simd)
      : calls_(calls), ends_(ends), add_row_(add_row_for(simd)) {}

  // The pairs of the variants [first, end), at most kTile, with the later ones in their windows.
  ScoreSums score(std::int64_t first, std::int64_t end) const {
    const std::int64_t last = ends_[static_cast<std::size_t>(end - 1)];
    ScoreSums scores(first, last);
    for (std::int64_t left = first; left < end; ++left) {
      if (spread(calls_.sums(left)) != 0) scores.add(left, 1, 1);
    }
    for (std::int64_t right = first; right < last; right += kTile) {
      score_tile(first, end, right, std::min(right + kTile, last), scores);
    }
    return scores;
  }

 private:
  // The end of the pairs of `left` up to `end`.
  std::int64_t end_of(std::int64_t left, std::int64_t end) const {
    return std::min(end, ends_[static_cast<std::size_t>(left)]);
  }

  bool are_complete(std::int64_t left, std::int64_t right) const {
    return calls_.is_complete(left) && calls_.is_complete(right);
  }

  Planes planes(std::int64_t variant, std::size_t word) const {
    return {calls_.homozygous(variant) + word, calls_.two(variant) + word,
            calls_.called(variant) + word};
  }

  void score_tile(std::int64_t left_begin, std::int64_t left_end, std::int64_t right_begin,
                  std::int64_t right_end, ScoreSums& scores) const {
    std::vector<SharedSums> sums(static_cast<std::size_t>(kTile * kTile));
    const auto sums_of = [&](std::int64_t left, std::int64_t right) -> SharedSums& {
      return sums[static_cast<std::size_t>((left - left_begin) * kTile + right - right_begin)];
    };
    for (std::size_t word = 0; word < calls_.words(); word += kTileWords) {
      const std::size_t words = std::min(kTileWords, calls_.words() - word);
      for (std::int64_t left = left_begin; left < left_end; ++left) {
        const std::int64_t first = std::max(left + 1, right_begin);
        const std::int64_t n = end_of(left, right_end) - first;
        if (n <= 0) continue;
        std::array<bool, kTile> complete = {};
        for (std::int64_t i = 0; i < n; ++i) {
          complete[static_cast<std::size_t>(i)] = are_complete(left, first + i);
        }
        add_row_(planes(left, word), planes(first, word), calls_.stride(), n, complete.data(),
                 words, &sums_of(left, first));
      }
    }
    for (std::int64_t left = left_begin; left < left_end; ++left) {
      const std::int64_t end = end_of(left, right_end);
      for (std::int64_t right = std::max(left + 1, right_begin); right < end; ++right) {
        SharedSums& pair = sums_of(left, right);
        if (are_complete(left, right)) {
          pair.left = calls_.sums(left);
          pair.right = calls_.sums(right);
        }
        add_pair(left, right, pair, scores);
      }
    }
  }

  const PackedCalls& calls_;
  const std::vector<std::int64_t>& ends_;
  AddRow add_row_;
};

void check_ends(const std::vector<std::int64_t>& ends, std::size_t n_variants) {
  const auto n = static_cast<std::int64_t>(n_variants);
  bool good = ends.size() == n_variants && std::is_sorted(ends.begin(), ends.end());
  for (std::int64_t i = 0; good && i < n; ++i) {
    const std::int64_t end = ends[static_cast<std::size_t>(i)];
    good = i < end && end <= n;
  }
  if (!good) throw InputError("ends of windows must be behind their variants and never decrease");
}

// The end of the tiles from `begin` on whose windows take at most `most` variants together.
std::int64_t end_of_group(const std::vector<std::int64_t>& ends, std::int64_t begin,
                          std::int64_t most) {
  const auto n = static_cast<std::int64_t>(ends.size());
  std::int64_t group_end = begin;
  while (group_end < n) {
    const std::int64_t next = std::min(group_end + kTile, n);
    if (ends[static_cast<std::size_t>(next - 1)] - begin > most) break;
    group_end = next;
  }
  return group_end;
}

}  // namespace

LdScores ld_scores(const GenotypeFile& file, const GenotypeSelection& selection,
                   const std::vector<std::int64_t>& ends, std::int64_t memory, SimdLevel simd,
                   int threads, JobControl& control) {
  check_selection(file, selection);
  check_ends(ends, selection.variants.size());
  if (selection.samples.size() > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("LD scores take at most 2^31 - 1 samples");
  }
  const std::size_t n = selection.variants.size();
  LdScores all = {std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  PackedCalls calls(file, selection);
  control.expect(static_cast<std::int64_t>(n));
  const std::int64_t most = memory / calls.bytes_of_variant();
  std::int64_t end = 0;
  for (std::int64_t begin = 0; begin < static_cast<std::int64_t>(n); begin = end) {
    end = end_of_group(ends, begin, most);
    if (end == begin) {
      const std::int64_t tile_end = std::min(begin + kTile, static_cast<std::int64_t>(n));
      const std::int64_t wide = ends[static_cast<std::size_t>(tile_end - 1)] - begin;
      throw InputError("the windows from variant " + std::to_string(begin + 1) + " on have " +
                       std::to_string(wide) + " variants, whose calls take " +
                       std::to_string(wide * calls.bytes_of_variant()) +
                       " bytes: choose a smaller window, or more memory");
    }
    calls.keep(begin, ends[static_cast<std::size_t>(end - 1)], threads, control);
    const PairScorer scorer(calls, ends, simd);
    join_in_order(
        control, threads, (end - begin + kTile - 1) / kTile, kTasksAtOnce,
        [&](std::int64_t task, const TaskContext& context) {
          context.throw_if_stopped();
          const std::int64_t first = begin + task * kTile;
          const std::int64_t last = std::min(first + kTile, end);
          ScoreSums scores = scorer.score(first, last);
          control.advance(last - first);
          return scores;
        },
        [&](std::int64_t, const ScoreSums& part) {
          for (std::size_t i = 0; i < part.score.size(); ++i) {
            const std::size_t at = static_cast<std::size_t>(part.begin) + i;
            all.score[at] += part.score[i];
            all.corrected[at] += part.corrected[i];
            all.n_variants[at] += part.n_variants[i];
          }
        });
  }
  file.check_unchanged();
  return all;
}

}  // namespace ancify
