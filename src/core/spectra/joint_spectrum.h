// Joint site frequency spectra, and bootstrap replicates of them, from a table of sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/threads.h"
#include "core/spectra/hypergeometric.h"
#include "core/spectra/site_table.h"

namespace ancify {

// Projects the sites of a table: all sites, or the sites of windows drawn with replacement.
class JointSpectrum {
 public:
  explicit JointSpectrum(const SiteTable& table);

  // The number of cells: the product of (size + 1) over the populations.
  std::size_t cells() const { return strides_.back(); }

  // Fills the cells() values of `spectrum`; the first population's index changes fastest. The sites
  // of a window count draws[window] times, or once if `draws` is null. The number of threads does
  // not change the result.
  void project(const int* draws, double* spectrum, const TaskContext& context) const;

 private:
  // The number of sites with one combination of counts in one window.
  struct Term {
    int window;
    std::uint32_t combination;
    double sites;
  };
  // Adjacent combinations, `end` excluded.
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  struct Buffers;

  std::vector<std::uint32_t> number_counts(const SiteTable& table, std::size_t population);
  std::vector<Range> runs(Range range, std::size_t population) const;
  std::uint32_t number(std::size_t combination, std::size_t population) const {
    return numbers_[combination * caches_.size() + population];
  }
  void add(Range range, std::size_t populations, const double* sites, Buffers& buffers,
           double* out) const;

  std::vector<std::size_t> strides_;  // cells of the spectrum of the first 0, 1, ... populations
  std::vector<ProjectionCache> caches_;
  std::vector<std::uint32_t> numbers_;  // the cache indices of each combination's counts
  std::size_t combinations_ = 0;        // sorted by the last population first
  std::vector<Term> terms_;
};

// Writes the spectrum of all sites to `spectrum`, and the spectra of `replicates` bootstrap
// replicates to `bootstrap`, one after the other. `draws` has `windows` values for each replicate:
// how often each window was drawn. Throws Interrupted if the job is stopped.
void joint_spectra(const SiteTable& table, const int* draws, int windows, int replicates,
                   double* spectrum, double* bootstrap, int threads, JobControl& control);

}  // namespace ancify
