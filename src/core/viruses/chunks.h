// Chunks of long sequences.
#pragma once

#include <cstdint>
#include <vector>

namespace ancify {

struct Chunk {
  std::int64_t start;  // from 0
  std::int64_t end;    // the base after the last
};

enum class ChunkRule {
  kVirnucpro,  // overlaps fill up the chunks; the last chunk is often short
  kEven        // chunks of `size` with evenly spaced starts
};

// The chunks of a sequence of `length` bases, in order: ceil(length / size) of them.
std::vector<Chunk> chunks_of(std::int64_t length, std::int64_t size, ChunkRule rule);

}  // namespace ancify
