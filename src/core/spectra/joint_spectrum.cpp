// Joint spectrum: E[sites with k derived] = sum over sites of the product over populations of
// hypergeometric probabilities (Gutenkunst and others 2009, PLoS Genet. 5:e1000695). Sites with
// equal counts in a population are projected there together.
#include "core/spectra/joint_spectrum.h"

#include <algorithm>
#include <numeric>

#include "core/exec/join_in_order.h"

namespace ancify {

namespace {

// The most values held by the spectra of parts that are computed concurrently.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 25;

AlleleCount swapped(AlleleCount count) { return {count.called, count.called - count.derived}; }

void add_multiple(double factor, const double* values, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] += factor * values[i];
}

}  // namespace

// For each population but the last, a spectrum of the preceding populations, and workspace for its
// weights.
struct JointSpectrum::Buffers {
  explicit Buffers(const std::vector<std::size_t>& strides) {
    for (std::size_t k = 0; k + 2 < strides.size(); ++k) {
      spectra.emplace_back(strides[k]);
      weights.emplace_back(strides[k + 1] / strides[k]);
    }
  }
  std::vector<std::vector<double>> spectra;
  std::vector<std::vector<double>> weights;
};

JointSpectrum::JointSpectrum(const SiteTable& table) : strides_(1, 1) {
  const std::size_t populations = table.populations();
  std::vector<std::vector<std::uint32_t>> columns;
  for (std::size_t k = 0; k < populations; ++k) {
    strides_.push_back(strides_.back() * (static_cast<std::size_t>(table.sizes()[k]) + 1));
    columns.push_back(number_counts(table, k));
  }
  const auto before = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = populations; k-- > 0;) {
      if (columns[k][a] != columns[k][b]) return columns[k][a] < columns[k][b];
    }
    return false;
  };
  // Entry 2 i is row i of the table as counted; entry 2 i + 1 has its alleles swapped.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.size(); ++i) {
    order.push_back(2 * i);
    if (table.swapped(i) != 0) order.push_back(2 * i + 1);
  }
  std::stable_sort(order.begin(), order.end(), before);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t entry = order[i];
    if (i == 0 || before(order[i - 1], entry)) {
      ++combinations_;
      for (std::size_t k = 0; k < populations; ++k) numbers_.push_back(columns[k][entry]);
    }
    terms_.push_back({table.window(entry / 2), static_cast<std::uint32_t>(combinations_ - 1),
                      entry % 2 == 0 ? table.as_counted(entry / 2) : table.swapped(entry / 2)});
  }
}

// Makes the population's cache and returns the cache index of each entry's count.
std::vector<std::uint32_t> JointSpectrum::number_counts(const SiteTable& table,
                                                        std::size_t population) {
  std::vector<AlleleCount> counts;
  for (std::size_t i = 0; i < table.size(); ++i) {
    counts.push_back(table.count(i, population));
    if (table.swapped(i) != 0) counts.push_back(swapped(table.count(i, population)));
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const auto number = [&](AlleleCount count) {
    const auto place = std::lower_bound(counts.begin(), counts.end(), count);
    return static_cast<std::uint32_t>(place - counts.begin());
  };
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const AlleleCount count = table.count(i, population);
    numbers.push_back(number(count));
    numbers.push_back(table.swapped(i) != 0 ? number(swapped(count)) : 0);
  }
  caches_.emplace_back(counts, table.sizes()[population]);
  return numbers;
}

std::vector<JointSpectrum::Range> JointSpectrum::runs(Range range, std::size_t population) const {
  std::vector<Range> result;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (i == range.begin || number(i, population) != number(i - 1, population)) {
      result.push_back({i, i});
    }
    result.back().end = i + 1;
  }
  return result;
}

// Adds the spectrum of the first `populations` populations to `out`. The combinations in `range`
// have equal counts in all later populations. Combinations with equal counts in the last of these
// populations are projected there together.
void JointSpectrum::add(Range range, std::size_t populations, const double* sites, Buffers& buffers,
                        double* out) const {
  if (populations == 0) {
    *out += sites[range.begin];
    return;
  }
  const std::size_t last = populations - 1;
  const std::size_t n = strides_[last];
  for (Range run = {range.begin, range.begin}; run.begin < range.end; run.begin = run.end) {
    const std::uint32_t shared = number(run.begin, last);
    for (run.end = run.begin; run.end < range.end && number(run.end, last) == shared;) ++run.end;
    const auto projected = caches_[last].weights(shared, buffers.weights[last].data());
    double* const first = out + static_cast<std::size_t>(projected.first) * n;
    if (projected.n == 1) {
      add(run, last, sites, buffers, first);
    } else {
      // The spectrum of no populations is a single number.
      double one = 0;
      double* const part = last > 0 ? buffers.spectra[last].data() : &one;
      std::fill(part, part + n, 0);
      add(run, last, sites, buffers, part);
      for (std::size_t k = 0; k < projected.n; ++k) {
        add_multiple(projected.weights[k], part, n, first + k * n);
      }
    }
  }
}

void JointSpectrum::project(const int* draws, double* spectrum, const TaskContext& context) const {
  std::vector<double> sites(combinations_);
  for (const Term& term : terms_) {
    sites[term.combination] += (draws != nullptr ? draws[term.window] : 1) * term.sites;
  }
  std::fill(spectrum, spectrum + cells(), 0);
  const std::size_t last = caches_.size() - 1;
  const std::size_t n = strides_[last];
  const std::vector<Range> parts = runs({0, combinations_}, last);
  const std::size_t at_once = std::clamp(kMostAtOnce / n, std::size_t{1}, std::size_t{256});
  std::vector<double> workspace(strides_[last + 1] / n);
  join_in_order(
      context, static_cast<std::int64_t>(parts.size()), static_cast<std::int64_t>(at_once),
      [&](std::int64_t part, const TaskContext& /*context*/) {
        std::vector<double> spectrum_of_part(n);
        Buffers buffers(strides_);
        add(parts[static_cast<std::size_t>(part)], last, sites.data(), buffers,
            spectrum_of_part.data());
        return spectrum_of_part;
      },
      [&](std::int64_t part, const std::vector<double>& spectrum_of_part) {
        const Range& range = parts[static_cast<std::size_t>(part)];
        const auto projected = caches_[last].weights(number(range.begin, last), workspace.data());
        for (std::size_t k = 0; k < projected.n; ++k) {
          add_multiple(projected.weights[k], spectrum_of_part.data(), n,
                       spectrum + (static_cast<std::size_t>(projected.first) + k) * n);
        }
      });
}

void joint_spectra(const SiteTable& table, const int* draws, int windows, int replicates,
                   double* spectrum, double* bootstrap, int threads, JobControl& control) {
  const JointSpectrum joint(table);
  run_tasks(control, threads, 1 + replicates, [&](std::int64_t i, const TaskContext& context) {
    if (i == 0) {
      joint.project(nullptr, spectrum, context);
    } else {
      const auto replicate = static_cast<std::size_t>(i - 1);
      joint.project(draws + replicate * static_cast<std::size_t>(windows),
                    bootstrap + replicate * joint.cells(), context);
    }
  });
}

}  // namespace ancify
