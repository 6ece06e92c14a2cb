// The kinship of two samples from counts of variants at which both have a call (Manichaikul and
// others 2010, Bioinformatics 26:2867, equation 11; KING-robust):
//
//   phi = 1/2 - (4 opposite + h1 + h2) / (4 (h12 + min(h1, h2)))
//
// h12 counts variants at which both are heterozygous, h1 and h2 those at which only the first or
// the second is, and the other homozygous; `opposite` counts different homozygotes. It needs no
// allele frequencies, so samples may come from several populations.
#include "core/genotypes/kinship.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

namespace ancify {

double PairCounts::kinship() const {
  const double either = static_cast<double>(first_heterozygous) + second_heterozygous;
  const double fewer =
      static_cast<double>(both_heterozygous) + std::min(first_heterozygous, second_heterozygous);
  return fewer > 0 ? 0.5 - (4.0 * opposite + either) / (4 * fewer)
                   : std::numeric_limits<double>::quiet_NaN();
}

namespace {

constexpr std::int64_t kWordBits = 64;
// Words of 64 variants that are counted between two readings. Their planes take 1.5 kB a sample, so
// the planes of several samples stay in cache.
constexpr std::size_t kWords = 64;
constexpr std::int64_t kVariantsAtOnce = kWordBits * static_cast<std::int64_t>(kWords);
// Samples whose pairs with all later samples are a task.
constexpr std::int64_t kTaskSamples = 8;

// Bits of one sample, by variants. The first two planes are 0 for missing calls.
struct SamplePlanes {
  std::array<std::uint64_t, kWords> heterozygous;
  std::array<std::uint64_t, kWords> homozygous;
  std::array<std::uint64_t, kWords> counted;  // homozygous for the counted allele, or missing
};

ANCIFY_ALWAYS_INLINE std::uint64_t bits(std::uint64_t word) {
  return static_cast<std::uint64_t>(__builtin_popcountll(word));
}

ANCIFY_ALWAYS_INLINE void count_pair(const SamplePlanes& first, const SamplePlanes& second,
                                     PairCounts& counts) {
  // Sums as wide as the words, so that vectors of counts need no narrowing.
  std::uint64_t both_heterozygous = 0;
  std::uint64_t first_heterozygous = 0;
  std::uint64_t second_heterozygous = 0;
  std::uint64_t both_homozygous = 0;
  std::uint64_t opposite = 0;
#pragma GCC unroll 1  // else the first sample's planes leave no registers
  for (std::size_t w = 0; w < kWords; ++w) {
    const std::uint64_t homozygous = first.homozygous[w] & second.homozygous[w];
    both_heterozygous += bits(first.heterozygous[w] & second.heterozygous[w]);
    first_heterozygous += bits(first.heterozygous[w] & second.homozygous[w]);
    second_heterozygous += bits(first.homozygous[w] & second.heterozygous[w]);
    both_homozygous += bits(homozygous);
    opposite += bits(homozygous & (first.counted[w] ^ second.counted[w]));
  }
  counts.both_heterozygous += static_cast<std::uint32_t>(both_heterozygous);
  counts.first_heterozygous += static_cast<std::uint32_t>(first_heterozygous);
  counts.second_heterozygous += static_cast<std::uint32_t>(second_heterozygous);
  counts.both_homozygous += static_cast<std::uint32_t>(both_homozygous);
  counts.opposite += static_cast<std::uint32_t>(opposite);
}

ANCIFY_ALWAYS_INLINE void count_row(const SamplePlanes* planes, std::int64_t first, std::int64_t n,
                                    PairCounts* counts) {
  for (std::int64_t second = first + 1; second < n; ++second) {
    count_pair(planes[first], planes[second], *counts++);
  }
}

using CountRow = void (*)(const SamplePlanes*, std::int64_t, std::int64_t, PairCounts*);

void count_row_plain(const SamplePlanes* planes, std::int64_t first, std::int64_t n,
                     PairCounts* counts) {
  count_row(planes, first, n, counts);
}

#if defined(__x86_64__)

ANCIFY_TARGET_AVX2 void count_row_avx2(const SamplePlanes* planes, std::int64_t first,
                                       std::int64_t n, PairCounts* counts) {
  count_row(planes, first, n, counts);
}

// AVX-512 with VPOPCNTDQ, which counts the bits of vectors
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq"))) void count_row_avx512(
    const SamplePlanes* planes, std::int64_t first, std::int64_t n, PairCounts* counts) {
  count_row(planes, first, n, counts);
}

#endif

CountRow count_row_for([[maybe_unused]] SimdLevel simd) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512 && __builtin_cpu_supports("avx512vpopcntdq")) {
    return count_row_avx512;
  }
  if (simd != SimdLevel::kScalar) return count_row_avx2;
#endif
  return count_row_plain;
}

// Sets word w of all planes to n variants, at most 64. Calls have their low and high bits: 0 and 2
// are homozygous, 1 is heterozygous, 3 is missing.
void fill_word(const std::uint8_t* calls, std::int64_t stride, std::int64_t n, std::size_t w,
               const std::vector<std::int64_t>& samples, SamplePlanes* planes) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::uint64_t call = call_at(calls + k * stride, samples[i]);
      low |= (call & 1U) << k;
      high |= (call >> 1U) << k;
    }
    const std::uint64_t filled = n == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    planes[i].heterozygous[w] = low & ~high;
    planes[i].homozygous[w] = filled & ~low;
    planes[i].counted[w] = high;
  }
}

// The pairs of the samples [begin, end) with all later samples.
class PairTable {
 public:
  PairTable(std::int64_t begin, std::int64_t end, std::int64_t n) : begin_(begin), n_(n) {
    starts_.push_back(0);
    for (std::int64_t i = begin; i < end; ++i) starts_.push_back(starts_.back() + n - 1 - i);
    counts_.resize(static_cast<std::size_t>(starts_.back()));
  }

  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(starts_.size()) - 1; }
  PairCounts* row(std::int64_t first) {
    return counts_.data() + starts_[static_cast<std::size_t>(first - begin_)];
  }

  void append_related(double bound, std::vector<RelatedPair>& pairs) {
    for (std::int64_t first = begin_; first < end(); ++first) {
      const PairCounts* counts = row(first);
      for (std::int64_t second = first + 1; second < n_; ++second, ++counts) {
        if (counts->kinship() >= bound) pairs.push_back({first, second, *counts});
      }
    }
  }

 private:
  std::int64_t begin_;
  std::int64_t n_;
  std::vector<std::int64_t> starts_;
  std::vector<PairCounts> counts_;
};

// The end of the samples from `begin` on whose pairs fit in `memory`; at least one sample.
std::int64_t end_of_group(std::int64_t begin, std::int64_t n, std::int64_t memory) {
  std::int64_t left = memory / static_cast<std::int64_t>(sizeof(PairCounts));
  std::int64_t end = begin;
  while (end < n && (end == begin || left >= n - 1 - end)) left -= n - 1 - end++;
  return end;
}

class PairCounter {
 public:
  PairCounter(const GenotypeFile& file, const GenotypeSelection& selection, SimdLevel simd,
              int threads, JobControl& control)
      : file_(file),
        selection_(selection),
        count_row_(count_row_for(simd)),
        threads_(threads),
        control_(control),
        planes_(selection.samples.size()) {}

  void count(PairTable& table) {
    const auto n = static_cast<std::int64_t>(selection_.variants.size());
    for (std::int64_t first = 0; first < n; first += kVariantsAtOnce) {
      const std::int64_t here = std::min(kVariantsAtOnce, n - first);
      read(first, here);
      add_counts(table);
      control_.advance(here);
    }
  }

 private:
  void read(std::int64_t first, std::int64_t n) {
    run_tasks(control_, threads_, static_cast<std::int64_t>(kWords),
              [&](std::int64_t w, const TaskContext& context) {
                context.throw_if_stopped();
                const std::int64_t at = first + w * kWordBits;
                const std::int64_t here = std::clamp<std::int64_t>(first + n - at, 0, kWordBits);
                std::vector<std::uint8_t> calls(static_cast<std::size_t>(here * file_.stride()));
                if (here > 0) {
                  read_chosen(file_, selection_.variants.data() + at, here, calls.data());
                }
                fill_word(calls.data(), file_.stride(), here, static_cast<std::size_t>(w),
                          selection_.samples, planes_.data());
              });
  }

  void add_counts(PairTable& table) {
    const auto n = static_cast<std::int64_t>(planes_.size());
    const std::int64_t rows = table.end() - table.begin();
    run_tasks(control_, threads_, (rows + kTaskSamples - 1) / kTaskSamples,
              [&](std::int64_t task, const TaskContext& context) {
                context.throw_if_stopped();
                const std::int64_t begin = table.begin() + task * kTaskSamples;
                const std::int64_t end = std::min(begin + kTaskSamples, table.end());
                for (std::int64_t i = begin; i < end; ++i) {
                  count_row_(planes_.data(), i, n, table.row(i));
                }
              });
  }

  const GenotypeFile& file_;
  const GenotypeSelection& selection_;
  CountRow count_row_;
  int threads_;
  JobControl& control_;
  std::vector<SamplePlanes> planes_;
};

}  // namespace

std::vector<RelatedPair> related_pairs(const GenotypeFile& file, const GenotypeSelection& selection,
                                       double bound, std::int64_t memory, SimdLevel simd,
                                       int threads, JobControl& control) {
  check_selection(file, selection);
  if (selection.variants.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("kinship takes at most 2^32 - 1 variants");
  }
  const auto n = static_cast<std::int64_t>(selection.samples.size());
  PairCounter counter(file, selection, simd, threads, control);
  std::vector<RelatedPair> pairs;
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t end = end_of_group(begin, n, memory);
    control.expect(static_cast<std::int64_t>(selection.variants.size()));
    PairTable table(begin, end, n);
    counter.count(table);
    table.append_related(bound, pairs);
    begin = end;
  }
  file.check_unchanged();
  return pairs;
}

}  // namespace ancify
