// The work on windows whose bases are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_source.h"

namespace ancify {

// A piece of a window.
struct WindowPiece {
  std::size_t chromosome;
  std::size_t number;  // in the chromosome
  std::int64_t start;
  std::int64_t end;
};

// Threads do pieces of windows in any order. A piece is done again if bases came too late.
class WindowWork {
 public:
  WindowWork() = default;
  virtual ~WindowWork() = default;
  WindowWork(const WindowWork&) = delete;
  WindowWork& operator=(const WindowWork&) = delete;

  // The number of sequences whose bases are needed.
  virtual std::size_t sequences() const = 0;
  // True if a piece depends on bases of the neighbouring windows.
  virtual bool needs_neighbours() const { return false; }
  virtual SimdLevel simd() const = 0;
  // The positions of a piece.
  virtual std::int64_t piece() const = 0;
  // The number of devices that do pieces; 0 if threads do. Pieces of one device come from one
  // thread at a time.
  virtual std::size_t devices() const { return 0; }
  // `sources` have the chromosome's bases, packed.
  virtual void do_piece(const WindowPiece& piece, const SequenceSources& sources,
                        std::size_t device, const TaskContext& context) = 0;
  // Pieces of these chromosomes were done in the round that ends.
  virtual void end_round(const std::set<std::size_t>& /*chromosomes*/) {}
};

}  // namespace ancify
