// The bases of a genome's windows, in memory that is reused.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/ancestry/calling/reading_order.h"
#include "core/ancestry/calling/windows.h"
#include "core/device/simd.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_source.h"
#include "core/genome/sequence_store.h"
#include "core/io/memory.h"

namespace ancify {

// Packed bases of each species in each window. Unwritten positions are N. A window without bases of
// a species takes no memory. Threads may write different species at once.
class WindowMemory {
 public:
  // `windows` must outlive this.
  WindowMemory(const Windows& windows, std::size_t species, SimdLevel simd);

  // The bytes of a window's bases of all species.
  std::int64_t most_bytes(std::size_t window) const {
    return static_cast<std::int64_t>(species_ * bytes(window));
  }
  // The bytes in use, of one window and of all.
  std::int64_t used(std::size_t window) const;
  std::int64_t used() const { return used_; }
  // Writes bases of one window from `offset` on. True if they are its first bases of this species.
  bool write(std::size_t window, std::size_t species, std::size_t offset, const char* bases,
             std::size_t n);
  // Copies written letters of one window: A, C, G, T or N. All are N in a window without bases of
  // the species.
  void read(std::size_t window, std::size_t species, std::size_t offset, char* letters,
            std::size_t n) const;
  // Writes N after the last written position. Until then, bases() lacks these positions.
  void complete(std::size_t window);
  // Packed; null if all are N.
  const char* bases(std::size_t window, std::size_t species) const {
    return buffers_[window * species_ + species].bases.data();
  }
  const char* unknown() const { return unknown_.data(); }
  // Discards a window's bases; their memory serves other windows.
  void release(std::size_t window);
  // Sources of all species on a chromosome.
  SequenceSources sources(std::size_t chromosome) const;

 private:
  struct Buffer {
    Memory bases;
    std::size_t end = 0;  // of the written positions
  };

  std::size_t length(std::size_t window) const;
  std::size_t bytes(std::size_t window) const { return packed_size(length(window)); }
  Memory take(std::size_t size);
  void fill_up_to(std::size_t position, Buffer& buffer) const;

  const Windows& windows_;
  std::size_t species_;
  SimdLevel simd_;
  std::vector<char> unknown_;    // a window of N
  std::vector<Buffer> buffers_;  // by window, then species
  std::atomic<std::int64_t> used_{0};
  std::mutex mutex_;
  std::vector<Memory> free_;  // each for a whole window
};

// Writes a species' bases into windows and, if they are kept, into files.
class WindowStore : public SequenceStore {
 public:
  // `files` may be null. All other arguments must outlive this.
  WindowStore(WindowMemory& memory, const Windows& windows, std::size_t species, Passage& passage,
              std::unique_ptr<SequenceStore> files);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) override;
  // Windows are initially N.
  void fill(std::size_t chromosome, std::int64_t position, std::int64_t n) override;
  void begin_block(std::size_t chromosome, std::int64_t position) override {
    passage_.begin_block(chromosome, position);
  }
  void commit(const TaskContext& context) override;
  std::vector<FileChecksum> checksums() const override;

  // Windows that since the last call received their first bases of this species, or bases too late.
  std::vector<std::size_t> take_begun() { return std::exchange(begun_, {}); }
  std::vector<std::size_t> take_late() { return std::exchange(late_, {}); }

 private:
  // Calls use(window, offset in it, positions already done, their number) for the windows of n
  // positions.
  template <class Use>
  void for_windows(std::size_t chromosome, std::int64_t position, std::size_t n, Use use) const;
  void write_in_window(std::size_t window, std::size_t offset, const char* bases, std::size_t n);

  WindowMemory& memory_;
  const Windows& windows_;
  std::size_t species_;
  Passage& passage_;
  std::unique_ptr<SequenceStore> files_;
  std::vector<std::size_t> begun_;
  std::vector<std::size_t> late_;
};

}  // namespace ancify
