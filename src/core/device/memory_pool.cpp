// Keeps returned device memory for the next request of about the same size.
#include "core/device/memory_pool.h"

#include <algorithm>

namespace ancify {

MemoryPool::~MemoryPool() { release_idle(); }

std::size_t MemoryPool::free_memory() {
  return device_.free_memory() + of(MemoryKind::kDevice).idle_bytes;
}

MemoryPool::Piece MemoryPool::take(std::size_t n, MemoryKind kind) {
  Pieces& pieces = of(kind);
  pieces.idle.reserve(pieces.idle.size() + pieces.taken + 1);  // so that give_back() cannot fail
  Piece piece = remove_fitting(pieces, n);
  if (piece.data == nullptr) {
    // Taken and idle bytes together never exceed the largest need so far.
    const std::size_t needed = pieces.taken_bytes + n;
    release_idle(kind, std::max(pieces.most_taken, needed) - needed);
    piece = {device_.allocate(n, kind), n};
  }
  if (piece.data == nullptr && has_idle()) {
    release_idle();
    piece.data = device_.allocate(n, kind);
  }
  if (piece.data == nullptr) return {};
  ++pieces.taken;
  pieces.taken_bytes += piece.size;
  pieces.most_taken = std::max(pieces.most_taken, pieces.taken_bytes);
  return piece;
}

void MemoryPool::give_back(const Piece& piece, MemoryKind kind) noexcept {
  Pieces& pieces = of(kind);
  --pieces.taken;
  pieces.taken_bytes -= piece.size;
  pieces.idle.push_back(piece);
  pieces.idle_bytes += piece.size;
}

MemoryPool::Piece MemoryPool::remove_fitting(Pieces& pieces, std::size_t n) {
  auto best = pieces.idle.end();
  for (auto piece = pieces.idle.begin(); piece != pieces.idle.end(); ++piece) {
    if (piece->size < n || piece->size - n > n / 8) continue;
    if (best == pieces.idle.end() || piece->size < best->size) best = piece;
  }
  if (best == pieces.idle.end()) return {};
  const Piece piece = *best;
  pieces.idle.erase(best);
  pieces.idle_bytes -= piece.size;
  return piece;
}

bool MemoryPool::has_idle() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Pieces& pieces) { return !pieces.idle.empty(); });
}

void MemoryPool::release_idle() noexcept {
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kHost}) release_idle(kind, 0);
}

void MemoryPool::release_idle(MemoryKind kind, std::size_t most) noexcept {
  Pieces& pieces = of(kind);
  while (pieces.idle_bytes > most) {
    device_.release(pieces.idle.front().data, kind);
    pieces.idle_bytes -= pieces.idle.front().size;
    pieces.idle.erase(pieces.idle.begin());
  }
}

}  // namespace ancify
