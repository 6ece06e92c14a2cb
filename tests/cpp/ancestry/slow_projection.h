// A plain projection, column by column.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ancestry/projection/projector.h"
#include "core/formats/alignment/block_score.h"
#include "core/genome/lengths.h"

namespace ancify::test {

// Rows of an alignment from position `start` on, counted from 1.
struct Block {
  std::string chromosome;
  std::int64_t start = 0;
  std::string target;
  std::string query;
  double score = kNoScore;
};

// The letter that all these blocks have; N if they differ.
inline char common_letter(const std::string& letters) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  for (const char c : letters) {
    if (c == 'N' || lower(c) != lower(letters.front())) return 'N';
  }
  return *std::max_element(letters.begin(), letters.end());
}

// The bases and the number of positions that several blocks cover.
struct SlowProjection {
  std::string bases;
  std::int64_t shared = 0;
};

inline SlowProjection project_slowly(const std::vector<Block>& blocks, const Chromosome& chromosome,
                                     Overlaps overlaps = Overlaps::kScore) {
  // All letters of each position by score.
  std::vector<std::map<double, std::string>> found(static_cast<std::size_t>(chromosome.length));
  for (const auto& block : blocks) {
    if (block.chromosome != chromosome.name) continue;
    std::int64_t position = block.start;
    for (std::size_t column = 0; column < block.target.size(); ++column) {
      if (block.target[column] == '-') continue;
      const double score = overlaps == Overlaps::kScore ? block.score : 0;
      found[static_cast<std::size_t>(position++ - 1)][score] += block.query[column];
    }
  }
  SlowProjection result;
  for (const auto& by_score : found) {
    std::size_t n = 0;
    for (const auto& [score, letters] : by_score) n += letters.size();
    result.shared += n > 1 ? 1 : 0;
    const std::string best = n == 0 ? "N" : by_score.rbegin()->second;
    result.bases += overlaps == Overlaps::kLast ? best.back() : common_letter(best);
  }
  return result;
}

}  // namespace ancify::test
