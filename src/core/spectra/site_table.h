// The sites of a sample, grouped by their allele counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/spectra/hypergeometric.h"
#include "core/spectra/tuple_numbers.h"

namespace ancify {

// A row for each combination of the populations' allele counts and a window. A row sums two
// probabilities over its sites: that the counted allele is derived, and that the other is.
class SiteTable {
 public:
  // The contributions of sites to a row.
  struct Sums {
    std::int64_t sites;
    double as_counted;
    double swapped;
  };

  // `sizes`: the number of haplotypes to which each population is projected.
  explicit SiteTable(std::vector<int> sizes);

  // Adds a site of a window: a count for each population, 0 <= derived <= called, and the posterior
  // of the ancestral allele. A site with too few haplotypes called adds only to sites() and
  // too_few(). Throws InputError for more than about four billion combinations.
  void add(const AlleleCount* counts, double posterior, int window);
  // Adds sites of equal counts, by their sums.
  void add(const AlleleCount* counts, int window, const Sums& more);
  // Appends the sites of another table of equal sizes.
  void add(const SiteTable& other);
  // Projects the sites to other sizes. This table's own sizes must be 0, so that it has all sites.
  SiteTable projected_to(std::vector<int> sizes) const;

  const std::vector<int>& sizes() const { return sizes_; }
  std::size_t populations() const { return sizes_.size(); }
  std::int64_t sites() const { return sites_; }
  std::int64_t used() const { return used_; }
  // For each population, the number of sites with too few haplotypes called.
  const std::vector<std::int64_t>& too_few() const { return too_few_; }
  // For each population, the most haplotypes called at any used site.
  std::vector<int> most_called() const;

  // The rows, in the order in which they first appeared.
  std::size_t size() const { return combinations_.size(); }
  AlleleCount count(std::size_t i, std::size_t population) const;
  int window(std::size_t i) const;
  double as_counted(std::size_t i) const { return sums_[i].as_counted; }
  double swapped(std::size_t i) const { return sums_[i].swapped; }

 private:
  std::vector<int> sizes_;
  std::int64_t sites_ = 0;
  std::int64_t used_ = 0;
  std::vector<std::int64_t> too_few_;
  TupleNumbers combinations_;  // a word for each population's count, and one for the window
  std::vector<Sums> sums_;
  std::vector<std::uint64_t> words_;  // workspace for one combination
};

// Sites in memory, column by column.
struct SiteColumns {
  std::int64_t sites;
  std::vector<const int*> derived;  // of each population
  std::vector<const int*> called;
  const double* posterior;  // null if all ancestral alleles are certain
  const int* window;        // null without windows
};

// Makes a table of the sites, for projection to `sizes`. The number of threads does not change the
// sums. Throws Interrupted if the job is stopped.
SiteTable tabulate_sites(const SiteColumns& columns, const std::vector<int>& sizes, int threads,
                         JobControl& control);

}  // namespace ancify
