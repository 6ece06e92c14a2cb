// Genotypes in memory that stand for a file, and plain versions of computations with them.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/genotype_matrix.h"

namespace ancify {

// Calls 0, 1, 2 or kMissingCall of variants x samples.
struct Calls {
  std::int64_t samples;
  std::vector<std::vector<unsigned>> of_variants;

  // Frequencies are uniform, except that each tenth variant is constant.
  static Calls random(std::int64_t samples, std::int64_t variants, double missing, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    Calls calls{samples, {}};
    for (std::int64_t j = 0; j < variants; ++j) {
      const double frequency = j % 10 == 9 ? 0 : uniform(random);
      std::vector<unsigned> row;
      for (std::int64_t i = 0; i < samples; ++i) {
        const unsigned call = static_cast<unsigned>(uniform(random) < frequency) +
                              static_cast<unsigned>(uniform(random) < frequency);
        row.push_back(uniform(random) < missing ? kMissingCall : call);
      }
      calls.of_variants.push_back(row);
    }
    return calls;
  }

  // Rare variants of all kinds: with few carriers of either allele, or none; with few missing
  // calls; with only missing calls, or all but one. Each tenth variant is common.
  static Calls rare(std::int64_t samples, std::int64_t variants, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::int64_t> any(0, samples - 1);
    Calls calls{samples, {}};
    for (std::int64_t j = 0; j < variants; ++j) {
      const unsigned usual = j % 31 == 30 ? kMissingCall : j % 3 == 2 ? 2 : 0;
      std::vector<unsigned> row(static_cast<std::size_t>(samples), usual);
      const std::int64_t carriers = j % 10 == 9  ? samples
                                    : j % 7 == 6 ? 0
                                                 : 1 + samples * (j % 5) / 50;
      for (std::int64_t k = 0; k < carriers; ++k) {
        row[static_cast<std::size_t>(any(random))] = static_cast<unsigned>(random() % 4);
      }
      calls.of_variants.push_back(row);
    }
    return calls;
  }
};

// The core has a class of this name.
inline namespace tests {

class MemoryGenotypes : public GenotypeFile {
 public:
  explicit MemoryGenotypes(Calls calls) : calls_(std::move(calls)) {}
  const std::string& path() const override { return path_; }
  std::int64_t samples() const override { return calls_.samples; }
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(calls_.of_variants.size());
  }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* out) const override {
    std::fill_n(out, n * stride(), std::uint8_t{0});
    for (std::int64_t j = 0; j < n; ++j) {
      const auto& row = calls_.of_variants[static_cast<std::size_t>(first + j)];
      for (std::int64_t i = 0; i < samples(); ++i) {
        out[j * stride() + i / 4] |=
            static_cast<std::uint8_t>(row[static_cast<std::size_t>(i)] << (2 * (i % 4)));
      }
    }
  }
  void check_unchanged() const override {}

 private:
  std::string path_ = "memory";
  Calls calls_;
};

}  // namespace tests

inline std::vector<std::int64_t> first_numbers(std::int64_t n) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(i);
  return numbers;
}

// Standardised genotypes z, variants x samples, as in GenotypeProducts.
inline std::vector<std::vector<double>> standardised(const Calls& calls, double scale_power,
                                                     std::vector<double>* means = nullptr,
                                                     std::vector<double>* scales = nullptr) {
  std::vector<std::vector<double>> all;
  for (const auto& row : calls.of_variants) {
    double n = 0;
    double sum = 0;
    for (const unsigned call : row) {
      if (call == kMissingCall) continue;
      n += 1;
      sum += call;
    }
    const double mean = n > 0 ? sum / n : 0;
    double squares = 0;
    for (const unsigned call : row) {
      if (call != kMissingCall) squares += (call - mean) * (call - mean);
    }
    const double scale = squares > 1e-12 ? std::pow(squares / n, scale_power / 2) : 0;
    std::vector<double> z;
    for (const unsigned call : row) z.push_back(call == kMissingCall ? 0 : scale * (call - mean));
    all.push_back(z);
    if (means != nullptr) means->push_back(mean);
    if (scales != nullptr) scales->push_back(scale);
  }
  return all;
}

inline std::vector<double> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(normal(random));
  return numbers;
}

inline std::vector<SimdLevel> simd_levels() {
  std::vector<SimdLevel> levels = {SimdLevel::kScalar};
  for (const auto level : {SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level <= best_simd_level()) levels.push_back(level);
  }
  return levels;
}

}  // namespace ancify
