// Pairs each site with the sites to its right, bin by bin. Pairs are processed in batches.
#include "core/ld/pair_sums.h"

#include <algorithm>
#include <limits>

#include "core/exec/join_in_order.h"
#include "core/exec/threads.h"
#include "core/ld/pair_moments.h"
#include "core/ld/statistics.h"

namespace ancify {

namespace {

// The most left sites of a task. All are of one block and chromosome.
constexpr std::int64_t kTaskSites = 64;

struct LeftSites {
  std::int64_t first;
  std::int64_t end;
  std::int64_t end_of_chromosome;
};

// The result of a task: for each bin the sums of all terms, and the number of pairs.
struct TermSums {
  std::vector<double> sums;
  std::vector<std::int64_t> pairs;
};

// Collects pairs of one bin until a batch of them can be estimated together.
class PairBatch {
 public:
  PairBatch(const SitePlanes& planes, const std::vector<LdTerm>& terms, SimdLevel simd)
      : planes_(planes),
        terms_(terms),
        simd_(simd),
        units_(planes.populations()),
        moments_(planes.populations()) {}

  // Adds pairs to the batch; a full batch adds to `sums` and `pairs`.
  void add(PairRange range, double* sums, std::int64_t& pairs) {
    while (range.n > 0) {
      PairRange part = range;
      part.n = std::min(range.n, kBatchPairs - n_);
      for (std::size_t k = 0; k < units_.size(); ++k) {
        sum_units(planes_, k, part, simd_, n_, units_[k]);
      }
      n_ = remove_small(n_, n_ + part.n);
      range.right += static_cast<std::int64_t>(part.n);
      range.n -= part.n;
      if (n_ == kBatchPairs) flush(sums, pairs);
    }
  }

  void flush(double* sums, std::int64_t& pairs) {
    if (n_ == 0) return;
    for (std::size_t k = 0; k < units_.size(); ++k) {
      estimate_moments(units_[k], n_, planes_.kind(), simd_, moments_[k]);
    }
    for (std::size_t t = 0; t < terms_.size(); ++t) sums[t] += sum_of(terms_[t]);
    pairs += static_cast<std::int64_t>(n_);
    n_ = 0;
  }

 private:
  bool is_small(std::size_t pair) const {
    return std::any_of(units_.begin(), units_.end(),
                       [&](const UnitRows& rows) { return rows[kN][pair] < kFewestUnits; });
  }

  // Removes pairs from `first` on that have too few units. Returns the end of the remaining pairs.
  std::size_t remove_small(std::size_t first, std::size_t end) {
    std::size_t kept = first;
    for (std::size_t pair = first; pair < end; ++pair) {
      if (is_small(pair)) continue;
      if (kept != pair) {
        for (UnitRows& rows : units_) {
          for (BatchRow& row : rows) row[kept] = row[pair];
        }
      }
      ++kept;
    }
    return kept;
  }

  double sum_of(const LdTerm& term) const {
    if (term.empty()) return static_cast<double>(n_);
    std::array<const BatchRow*, 4> factors = {};
    for (std::size_t f = 0; f < term.size(); ++f) {
      factors[f] = &moments_[term[f].population][term[f].moment];
    }
    return sum_products(factors, term.size(), n_, simd_);
  }

  const SitePlanes& planes_;
  const std::vector<LdTerm>& terms_;
  SimdLevel simd_;
  std::vector<UnitRows> units_;
  std::vector<MomentRows> moments_;
  std::size_t n_ = 0;
};

std::vector<LeftSites> tasks_of(const PairedSites& sites) {
  std::vector<LeftSites> tasks;
  const auto n = static_cast<std::int64_t>(sites.chromosome.size());
  // The end of the run of sites with the same number as site `first`, at most `end`.
  const auto end_of = [](const std::vector<int>& numbers, std::int64_t first, std::int64_t end) {
    const int number = numbers[static_cast<std::size_t>(first)];
    return std::find_if(numbers.begin() + first, numbers.begin() + end,
                        [&](int other) { return other != number; }) -
           numbers.begin();
  };
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    end = end_of(sites.chromosome, begin, n);
    if (sites.chromosome[static_cast<std::size_t>(begin)] == kLeftOut) continue;
    for (std::int64_t first = begin; first < end; first = tasks.back().end) {
      tasks.push_back({first, end_of(sites.block, first, std::min(first + kTaskSites, end)), end});
    }
  }
  return tasks;
}

// Map positions are rounded, so a distance may be off by this share of the right site's position.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

// The first site from `from` on that is at least `distance` to the right of `left`.
std::int64_t first_beyond(const PairedSites& sites, std::int64_t left, std::int64_t from,
                          std::int64_t end, double distance) {
  const auto begin = sites.morgans.begin();
  const double origin = sites.morgans[static_cast<std::size_t>(left)];
  return std::partition_point(begin + from, begin + end,
                              [&](double m) { return m - origin < distance - kRounding * m; }) -
         begin;
}

TermSums sum_terms(const PairedSites& sites, const LeftSites& task,
                   const std::vector<double>& limits, const std::vector<LdTerm>& terms,
                   SimdLevel simd) {
  const std::size_t bins = limits.size() - 1;
  TermSums found = {std::vector<double>(bins * terms.size()), std::vector<std::int64_t>(bins)};
  PairBatch batch(*sites.planes, terms, simd);
  std::vector<std::int64_t> next;  // by left site: the first site on its right in the bin
  for (std::int64_t left = task.first; left < task.end; ++left) {
    std::int64_t right = left + 1;
    const std::int64_t position = sites.position[static_cast<std::size_t>(left)];
    while (right < task.end_of_chromosome &&
           sites.position[static_cast<std::size_t>(right)] == position) {
      ++right;
    }
    next.push_back(first_beyond(sites, left, right, task.end_of_chromosome, limits[0]));
  }
  for (std::size_t bin = 0; bin < bins; ++bin) {
    double* const sums = &found.sums[bin * terms.size()];
    for (std::int64_t left = task.first; left < task.end; ++left) {
      std::int64_t& first = next[static_cast<std::size_t>(left - task.first)];
      const std::int64_t end =
          first_beyond(sites, left, first, task.end_of_chromosome, limits[bin + 1]);
      batch.add({left, first, static_cast<std::size_t>(end - first)}, sums, found.pairs[bin]);
      first = end;
    }
    batch.flush(sums, found.pairs[bin]);
  }
  return found;
}

// Copies of ALT, and called alleles.
struct AlleleShare {
  double copies;
  double called;
};

AlleleShare share_of(const SitePlanes& planes, std::int64_t site, std::size_t population) {
  const UnitSums& sums = planes.sums(site, population);
  const double lacking = sums.called - sums.x;
  if (planes.kind() == UnitKind::kHaplotypes)
    return {lacking / 2, static_cast<double>(sums.called)};
  return {lacking, 2.0 * sums.called};
}

void add_heterozygosity(const SitePlanes& planes, std::int64_t site, double* sums) {
  for (std::size_t i = 0; i < planes.populations(); ++i) {
    const AlleleShare a = share_of(planes, site, i);
    *sums++ += 2 * a.copies * (a.called - a.copies) / (a.called * (a.called - 1));
    for (std::size_t j = i + 1; j < planes.populations(); ++j) {
      const AlleleShare b = share_of(planes, site, j);
      *sums++ += (a.copies * (b.called - b.copies) + b.copies * (a.called - a.copies)) /
                 (a.called * b.called);
    }
  }
}

// Statistics of a block's bin, from the sums of terms.
void combine(const LdStatistics& statistics, const double* terms, double* out) {
  for (const auto& sum : statistics.sums) {
    double value = 0;
    for (const auto& [term, coefficient] : sum) value += coefficient * terms[term];
    *out++ = value;
  }
}

}  // namespace

PairSums sum_pairs(const PairedSites& sites, const PairBins& bins, int threads, SimdLevel simd,
                   JobControl& control) {
  const SitePlanes& planes = *sites.planes;
  const std::size_t populations = planes.populations();
  const LdStatistics statistics = ld_statistics(populations);
  const std::size_t n_terms = statistics.terms.size();
  const std::size_t n_bins = bins.limits.size() - 1;
  const auto rows = static_cast<std::size_t>(bins.blocks) * n_bins;
  const std::size_t of_heterozygosity = populations * (populations + 1) / 2;
  PairSums found = {n_bins, statistics.sums.size(),
                    std::vector<double>(rows * statistics.sums.size()),
                    std::vector<std::int64_t>(rows),
                    std::vector<double>(static_cast<std::size_t>(bins.blocks) * of_heterozygosity)};
  std::vector<double> terms(rows * n_terms);

  const std::vector<LeftSites> tasks = tasks_of(sites);
  const auto block_of = [&](std::int64_t site) {
    return static_cast<std::size_t>(sites.block[static_cast<std::size_t>(site)]);
  };
  control.expect(static_cast<std::int64_t>(tasks.size()));
  constexpr std::int64_t at_once = 1024;
  join_in_order(
      control, in_forked_child() ? 1 : threads, static_cast<std::int64_t>(tasks.size()), at_once,
      [&](std::int64_t t, const TaskContext& context) {
        context.throw_if_stopped();
        TermSums sums = sum_terms(sites, tasks[static_cast<std::size_t>(t)], bins.limits,
                                  statistics.terms, simd);
        control.advance(1);
        return sums;
      },
      [&](std::int64_t t, const TermSums& part) {
        const std::size_t row = block_of(tasks[static_cast<std::size_t>(t)].first) * n_bins;
        for (std::size_t k = 0; k < part.sums.size(); ++k) terms[row * n_terms + k] += part.sums[k];
        for (std::size_t k = 0; k < n_bins; ++k) found.pairs[row + k] += part.pairs[k];
      });

  for (std::size_t row = 0; row < rows; ++row) {
    combine(statistics, &terms[row * n_terms], &found.sums[row * statistics.sums.size()]);
  }
  for (std::int64_t site = 0; site < static_cast<std::int64_t>(sites.block.size()); ++site) {
    if (sites.chromosome[static_cast<std::size_t>(site)] == kLeftOut) continue;
    add_heterozygosity(planes, site, &found.heterozygosity[block_of(site) * of_heterozygosity]);
  }
  return found;
}

}  // namespace ancify
