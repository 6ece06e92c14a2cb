// Packs of sequences, and windows of long ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// Indices of items in packs of at most `budget` tokens: the longest items first, each in the first
// pack with enough space (first fit decreasing). An item above the budget gets its own pack. The
// packs depend on the lengths alone.
std::vector<std::vector<std::size_t>> pack_by_length(const std::vector<std::int64_t>& lengths,
                                                     std::int64_t budget);

// A part of a sequence that a model reads at once, and the residues taken from it.
struct Window {
  std::size_t sequence;
  std::int64_t first;      // residue, from 0
  std::int64_t size;       // residues
  std::int64_t own_first;  // the residues taken from this window: [own_first, own_end)
  std::int64_t own_end;
};

// Windows of at most `most` residues, each `step` after the previous one, with the last at the end.
// A residue is taken from the window with the nearest centre, the earlier of two.
std::vector<Window> windows_of(std::size_t sequence, std::int64_t length, std::int64_t most,
                               std::int64_t step);

}  // namespace ancify
