// The sites of a sample, those with equal allele counts put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/spectra/hypergeometric.h"
#include "core/spectra/tuple_numbers.h"

namespace ancify {

// How much there is of each combination of the populations' counts in each window: sums over sites
// of the probability that the allele counted is the derived one, and that the other is.
class SiteTable {
 public:
  // `sizes`: to how many haplotypes each population is to be projected.
  explicit SiteTable(std::vector<int> sizes);

  // A site of a window, with a count for each population, 0 <= derived <= called. One where fewer
  // are called than are to be drawn is only counted.
  void add(const AlleleCount* counts, double posterior, int window);
  // Adds the sites of another table of the same sizes, as if they came after this one's.
  void add(const SiteTable& other);
  // The sites of a table of sizes 0, which leaves none out, for others.
  SiteTable projected_to(std::vector<int> sizes) const;

  const std::vector<int>& sizes() const { return sizes_; }
  std::size_t populations() const { return sizes_.size(); }
  std::int64_t sites() const { return sites_; }
  std::int64_t used() const { return used_; }
  // Sites with too few called, for each population.
  const std::vector<std::int64_t>& too_few() const { return too_few_; }
  // The most haplotypes called at any site used, for each population.
  std::vector<int> most_called() const;

  // The combinations, in the order in which they came.
  std::size_t size() const { return combinations_.size(); }
  AlleleCount count(std::size_t i, std::size_t population) const;
  int window(std::size_t i) const;
  double as_counted(std::size_t i) const { return sums_[i].as_counted; }
  double swapped(std::size_t i) const { return sums_[i].swapped; }

 private:
  struct Sums {
    std::int64_t sites;
    double as_counted;
    double swapped;
  };

  void add(const AlleleCount* counts, int window, const Sums& more);

  std::vector<int> sizes_;
  std::int64_t sites_ = 0;
  std::int64_t used_ = 0;
  std::vector<std::int64_t> too_few_;
  TupleNumbers combinations_;  // a word for each population's count, and the window
  std::vector<Sums> sums_;
  std::vector<std::uint64_t> words_;  // room for those of one combination
};

// Sites in memory, column by column.
struct SiteColumns {
  std::int64_t sites;
  std::vector<const int*> derived;  // of each population
  std::vector<const int*> called;
  const double* posterior;  // null where all are certain
  const int* window;        // null where there are none
};

// Puts the sites into a table, in pieces whose sums do not depend on the number of threads.
SiteTable tabulate_sites(const SiteColumns& columns, const std::vector<int>& sizes, int threads,
                         JobControl& control);

}  // namespace ancify
