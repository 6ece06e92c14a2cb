// The sites of populations, packed a bit for each unit: a genotype of unknown phase, or a
// haplotype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// The fewest called units from which all statistics can be estimated: some average over four
// distinct units.
constexpr int kFewestUnits = 4;

// Units in a word of a plane.
constexpr std::size_t kWordBits = 64;

// A unit's value: x = 1 - copies of ALT for a genotype, and x = 1 or -1 for REF or ALT on a
// haplotype. So the mean of x is 1 - 2 p, with p the frequency of ALT.
enum class UnitKind { kGenotypes, kHaplotypes };

// The called units of a population at a site, and the sums of their x and x^2.
struct UnitSums {
  std::int32_t called = 0;
  std::int32_t x = 0;
  std::int32_t squares = 0;
};

enum class FilterStatus {
  kKept,
  kTooFew,  // a population has fewer than kFewestUnits units
  kFixed    // all populations are fixed for one allele
};

class SitePlanes {
 public:
  // `units`: of each population.
  SitePlanes(std::vector<std::int64_t> units, UnitKind kind);

  UnitKind kind() const { return kind_; }
  std::size_t populations() const { return units_.size(); }
  std::int64_t size() const { return static_cast<std::int64_t>(sums_.size() / populations()); }
  std::size_t words(std::size_t population) const { return words_of_[population]; }
  std::int64_t units(std::size_t population) const { return units_[population]; }

  // begin() adds a site whose units are all missing, set() sets a unit at most once, and close()
  // drops the site unless it returns kKept.
  void begin();
  void set(std::size_t population, std::int64_t unit, int x);
  FilterStatus close();

  // Bit planes of the units that are called, that have nonzero x, and that have negative x. Each
  // has words() words.
  const std::uint64_t* called(std::int64_t site, std::size_t population) const {
    return &planes_[static_cast<std::size_t>(site) * stride_ + begins_[population]];
  }
  const std::uint64_t* unlike(std::int64_t site, std::size_t population) const {
    return called(site, population) + words(population);
  }
  const std::uint64_t* negative(std::int64_t site, std::size_t population) const {
    return called(site, population) + 2 * words(population);
  }

  const UnitSums& sums(std::int64_t site, std::size_t population) const {
    return sums_[static_cast<std::size_t>(site) * populations() + population];
  }
  bool is_complete(std::int64_t site, std::size_t population) const {
    return sums(site, population).called == units(population);
  }

 private:
  UnitSums summed(std::int64_t site, std::size_t population) const;

  std::vector<std::int64_t> units_;
  UnitKind kind_;
  std::vector<std::size_t> words_of_;
  std::vector<std::size_t> begins_;  // of each population, in the words of a site
  std::size_t stride_ = 0;           // words of a site
  std::vector<std::uint64_t> planes_;
  std::vector<UnitSums> sums_;
};

}  // namespace ancify
