// Random genotypes in memory, for what computes with packed ones.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/genotype_matrix.h"

namespace ancify::bench {

// Frequencies in 65,536ths, from `least` to less than `end`.
struct Frequencies {
  unsigned least;
  unsigned end;
};

constexpr Frequencies kCommon = {12 * 256, 128 * 256};
constexpr Frequencies kRare = {1, 328};  // below 0.5 %

// A file whose calls a hash makes: two alleles with a frequency of the variant's own, and no
// missing call.
class RandomGenotypes : public GenotypeFile {
 public:
  RandomGenotypes(std::int64_t samples, std::int64_t variants, Frequencies frequencies)
      : samples_(samples), variants_(variants), frequencies_(frequencies) {}
  const std::string& path() const override { return path_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override {
    for (std::int64_t j = first; j < first + n; ++j, calls += stride()) {
      std::uint64_t state = static_cast<std::uint64_t>(j) * 0x9e3779b97f4a7c15U + 1;
      const unsigned frequency =
          frequencies_.least +
          static_cast<unsigned>(next(state) % (frequencies_.end - frequencies_.least));
      std::fill_n(calls, stride(), std::uint8_t{0});
      for (std::int64_t i = 0; i < samples_; ++i) {
        const std::uint64_t bits = next(state);
        const unsigned call = static_cast<unsigned>((bits & 65535U) < frequency) +
                              static_cast<unsigned>((bits >> 16 & 65535U) < frequency);
        calls[i / 4] |= static_cast<std::uint8_t>(call << (2 * (i % 4)));
      }
    }
  }
  void check_unchanged() const override {}

 private:
  static std::uint64_t next(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
  }

  std::int64_t samples_;
  std::int64_t variants_;
  Frequencies frequencies_;
  std::string path_ = "random";
};

// All samples and variants of a file.
inline std::unique_ptr<GenotypeMatrix> matrix_of(std::unique_ptr<GenotypeFile> file,
                                                 const GenotypeWork& work, JobControl& control) {
  GenotypeSelection all;
  all.samples.resize(static_cast<std::size_t>(file->samples()));
  std::iota(all.samples.begin(), all.samples.end(), 0);
  all.variants.resize(static_cast<std::size_t>(file->variants()));
  std::iota(all.variants.begin(), all.variants.end(), 0);
  return std::make_unique<GenotypeMatrix>(std::move(file), std::move(all), work, control);
}

inline std::unique_ptr<GenotypeMatrix> random_matrix(std::int64_t samples, std::int64_t variants,
                                                     const GenotypeWork& work, JobControl& control,
                                                     Frequencies frequencies = kCommon) {
  return matrix_of(std::make_unique<RandomGenotypes>(samples, variants, frequencies), work,
                   control);
}

}  // namespace ancify::bench
