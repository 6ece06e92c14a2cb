// For L bases, n = ceil(L / C) chunks exceed the sequence by nC - L bases, which are overlaps.
// virnucpro: q = floor((nC - L) / n), m = nC - L - q (n - 1). The overlap after chunk j is q + 1
// for j < m, else q. So m counts chunks, but only n - 1 of them have an overlap, and the last chunk
// is short if m is not below n. even: chunk j begins at floor(j (L - C) / (n - 1)).
#include "core/viruses/chunks.h"

#include <algorithm>

namespace ancify {

std::vector<Chunk> chunks_of(std::int64_t length, std::int64_t size, ChunkRule rule) {
  const std::int64_t n = length / size + (length % size > 0 ? 1 : 0);
  std::vector<Chunk> chunks;
  if (n == 0) return chunks;
  chunks.reserve(static_cast<std::size_t>(n));
  const std::int64_t more = n * size - length;
  const std::int64_t overlap = more / n;
  const std::int64_t wider = more - overlap * (n - 1);
  // j (L - C) / (n - 1), without a product that overflows
  const std::int64_t step = n > 1 ? (length - size) / (n - 1) : 0;
  const std::int64_t rest = n > 1 ? (length - size) % (n - 1) : 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t start = rule == ChunkRule::kVirnucpro
                                   ? j * (size - overlap) - std::min(j, wider)
                                   : j * step + (n > 1 ? j * rest / (n - 1) : 0);
    chunks.push_back({start, std::min(start + size, length)});
  }
  return chunks;
}

}  // namespace ancify
