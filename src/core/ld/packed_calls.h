// Calls of variants as planes of bits, a bit for each sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/ld/site_planes.h"

namespace ancify {

// The planes of some neighbouring variants of a selection.
class PackedCalls {
 public:
  // `selection` and `file` must outlive this.
  PackedCalls(const GenotypeFile& file, const GenotypeSelection& selection);

  std::int64_t samples() const { return static_cast<std::int64_t>(selection_.samples.size()); }
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(sums_.size()); }
  // Words of a plane, a multiple of 8.
  std::size_t words() const { return words_; }
  // Words from a variant's planes to the next variant's.
  std::size_t stride() const { return kPlanes * words_; }
  std::int64_t bytes_of_variant() const;

  // Keeps the variants [begin, end) alone. Reads the missing ones.
  void keep(std::int64_t begin, std::int64_t end, int threads, JobControl& control);

  // Samples that are homozygous, that have two copies, and that have a call.
  const std::uint64_t* homozygous(std::int64_t variant) const {
    return planes_.data() + static_cast<std::size_t>(variant - begin_) * stride();
  }
  const std::uint64_t* two(std::int64_t variant) const { return homozygous(variant) + words_; }
  const std::uint64_t* called(std::int64_t variant) const { return two(variant) + words_; }
  // Sums over the called samples of x = 1 - copies.
  const UnitSums& sums(std::int64_t variant) const {
    return sums_[static_cast<std::size_t>(variant - begin_)];
  }
  bool is_complete(std::int64_t variant) const { return sums(variant).called == samples(); }

 private:
  static constexpr std::size_t kPlanes = 3;

  void pack(std::int64_t variant, const std::uint8_t* calls);

  const GenotypeFile& file_;
  const GenotypeSelection& selection_;
  bool all_samples_;
  std::size_t words_;
  std::int64_t begin_ = 0;
  std::vector<std::uint64_t> planes_;
  std::vector<UnitSums> sums_;
};

}  // namespace ancify
