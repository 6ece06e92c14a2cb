// A plain projection, column by column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/genome/lengths.h"

namespace ancify::test {

// Rows of an alignment from position `start` on, counted from 1.
struct Block {
  std::string chromosome;
  std::int64_t start = 0;
  std::string target;
  std::string query;
};

inline std::string project_slowly(const std::vector<Block>& blocks, const Chromosome& chromosome) {
  std::string bases(static_cast<std::size_t>(chromosome.length), 'N');
  for (const auto& block : blocks) {
    if (block.chromosome != chromosome.name) continue;
    std::int64_t position = block.start;
    for (std::size_t column = 0; column < block.target.size(); ++column) {
      if (block.target[column] == '-') continue;
      bases[static_cast<std::size_t>(position++ - 1)] = block.query[column];
    }
  }
  return bases;
}

}  // namespace ancify::test
