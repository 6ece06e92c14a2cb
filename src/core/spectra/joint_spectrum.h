// Joint site frequency spectra of a table of sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/threads.h"
#include "core/spectra/hypergeometric.h"
#include "core/spectra/site_table.h"

namespace ancify {

// Projects the sites of a table, all of them or those of windows drawn with replacement.
class JointSpectrum {
 public:
  explicit JointSpectrum(const SiteTable& table);

  // Cells of the spectrum: the product of the sizes plus 1.
  std::size_t cells() const { return strides_.back(); }

  // Fills `spectrum`, the first population's copies fastest. Each window's sites count
  // draws[window] times; once where `draws` is null. The same numbers at any number of threads.
  void project(const int* draws, double* spectrum, const TaskContext& context) const;

 private:
  // Sites of one combination in one window.
  struct Term {
    int window;
    std::uint32_t combination;
    double sites;
  };
  // Combinations with the same counts in some populations.
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
  std::vector<std::uint32_t> numbers_;  // of each combination's counts, in its population's cache
  std::size_t combinations_ = 0;        // in the order of the last population's, then of the next
  std::vector<Term> terms_;
};

// The spectrum of all sites, and of each of `replicates` draws of windows, a row of `windows`
// numbers each, into `bootstrap`.
void joint_spectra(const SiteTable& table, const int* draws, int windows, int replicates,
                   double* spectrum, double* bootstrap, int threads, JobControl& control);

}  // namespace ancify
