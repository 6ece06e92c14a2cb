// Simulates realistic alignments: blocks with indels and soft-masked runs, and gaps between blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "core/genome/lengths.h"

namespace ancify::bench {

struct Outgroup {
  double divergence;      // substitutions per site
  double mean_block;      // columns
  double covered = 0.93;  // share of the genome in blocks
};

// The focal genome of all alignments: random bases by chromosome and position.
class FocalGenome {
 public:
  explicit FocalGenome(const std::string& chromosome)
      : seed_(std::hash<std::string>()(chromosome)) {}

  char base(std::int64_t position) {
    const std::int64_t word = position / 32;
    if (word != word_) {
      word_ = word;
      bits_ = mixed(seed_ + static_cast<std::uint64_t>(word));
    }
    return "ACGT"[bits_ >> 2 * (position % 32) & 3];
  }

 private:
  // SplitMix64 (Steele, Lea and Flood 2014)
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  std::uint64_t seed_;
  std::int64_t word_ = -1;
  std::uint64_t bits_ = 0;
};

class Simulator {
 public:
  Simulator(const Outgroup& outgroup, unsigned seed) : outgroup_(outgroup), random_(seed) {}

  // Calls write(text) for every block of a chromosome.
  void chromosome(const Chromosome& chromosome,
                  const std::function<void(const std::string&)>& write) {
    FocalGenome genome(chromosome.name);
    const double mean_hole = outgroup_.mean_block * (1 - outgroup_.covered) / outgroup_.covered;
    for (std::int64_t at = 1 + draw(mean_hole); at <= chromosome.length; at += draw(mean_hole)) {
      std::string focal;
      std::string outgroup;
      const std::int64_t span =
          std::min(1 + draw(outgroup_.mean_block), chromosome.length - at + 1);
      rows(genome, at, span, focal, outgroup);
      const std::string start = std::to_string(at);
      const std::string end = std::to_string(at + span - 1);
      write(std::to_string(number_++) + " " + chromosome.name + " " + start + " " + end + " chr7 " +
            start + " " + end + " + 12345\n" + focal + "\n" + outgroup + "\n\n");
      at += span;
    }
  }

 private:
  // An exponentially distributed whole number with this mean.
  std::int64_t draw(double mean) {
    return static_cast<std::int64_t>(std::exponential_distribution<double>(1 / mean)(random_));
  }

  void rows(FocalGenome& genome, std::int64_t at, std::int64_t span, std::string& focal,
            std::string& outgroup) {
    constexpr double mean_masked = 300;
    constexpr double mean_gap = 3;
    const double mean_between_gaps = 8 / outgroup_.divergence;
    std::int64_t next_gap = draw(mean_between_gaps);
    std::int64_t next_case = draw(mean_masked);
    std::int64_t next_change = draw(1 / outgroup_.divergence);
    char lower = 0;
    for (std::int64_t i = 0; i < span; ++i) {
      if (--next_case < 0) {
        lower ^= 0x20;
        next_case = draw(mean_masked);
      }
      if (--next_gap < 0) {
        next_gap = draw(mean_between_gaps);
        const auto n = static_cast<std::size_t>(1 + draw(mean_gap));
        if (random_() % 2 == 0) {
          focal.append(n, '-');
          for (std::size_t k = 0; k < n; ++k) outgroup += base(lower);
        } else {
          for (std::size_t k = 0; k < n && i + 1 < span; ++k, ++i) {
            focal += static_cast<char>(genome.base(at + i) | lower);
          }
          outgroup.append(focal.size() - outgroup.size(), '-');
        }
      }
      const char here = static_cast<char>(genome.base(at + i) | lower);
      focal += here;
      if (--next_change < 0) {
        outgroup += base(lower);
        next_change = draw(1 / outgroup_.divergence);
      } else {
        outgroup += here;
      }
    }
  }

  char base(char lower) {
    if (bits_left_ == 0) {
      bits_ = random_();
      bits_left_ = 32;
    }
    const char base = "ACGT"[bits_ & 3];
    bits_ >>= 2;
    bits_left_ -= 1;
    return static_cast<char>(base | lower);
  }

  Outgroup outgroup_;
  std::mt19937_64 random_;
  std::uint64_t bits_ = 0;
  int bits_left_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace ancify::bench
