// Texts, and their k-mers counted plainly.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>

#include "core/kmers/counter.h"

namespace ancify::test {

inline std::string random_text(std::size_t n, unsigned seed, std::string_view letters) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < n) text += letters[random() % letters.size()];
  return text;
}

// Repeats, long runs of one base, and other letters.
inline std::string some_text(unsigned seed) {
  const std::string unit = random_text(300, seed, "ACGT");
  return unit + "N" + random_text(2000, seed + 1, "ACGTACGTACGTacgtN") + unit +
         std::string(700, 'A') + unit + random_text(3000, seed + 2, "ACGT");
}

inline std::string complement_of(const std::string& kmer) {
  std::string other(kmer.rbegin(), kmer.rend());
  for (char& c : other) c = upper_base(3 - base_code(c));
  return other;
}

using Counts = std::map<std::string, std::uint32_t>;

inline Counts count_plainly(const std::string& text, int k) {
  Counts counts;
  for (std::size_t i = 0; i + static_cast<std::size_t>(k) <= text.size(); ++i) {
    std::string kmer = text.substr(i, static_cast<std::size_t>(k));
    bool known = true;
    for (char& c : kmer) {
      known = known && base_code(c) != kMissing;
      c = upper_base(base_code(c));
    }
    if (known) ++counts[std::min(kmer, complement_of(kmer))];
  }
  return counts;
}

inline Counts counts_of(const KmerDatabase& database) {
  Counts counts;
  with_key(database.header().k, [&](auto key) {
    for (KmerCursor<decltype(key)> at(database); at.valid(); at.next()) {
      counts[key_text(at.key(), database.header().k)] = at.count();
    }
  });
  return counts;
}

// The text comes in pieces of this size.
inline PassSequences pieces_of(const std::string& text, std::size_t piece) {
  return [&text, piece](const SequencePasser& passer, const TaskContext&) {
    passer.begin();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      passer.bases(std::string_view(text).substr(at, piece));
    }
  };
}

}  // namespace ancify::test
