// Collects bytes of many parts in memory and, beyond a limit, in a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "core/io/scratch_file.h"

namespace ancify {

using Block = std::vector<char>;

// A part is a list of blocks in order of arrival. Any thread may add blocks. Once memory is used
// up, a part's blocks go to an unnamed file in `folder`.
class Partitions {
 public:
  // `memory`: bytes of blocks that may stay in memory.
  Partitions(std::size_t parts, std::size_t memory, std::string folder)
      : memory_(memory), folder_(std::move(folder)), parts_(parts) {}

  void append(std::size_t part, Block block);

  std::size_t size() const { return parts_.size(); }
  std::size_t bytes(std::size_t part) const { return parts_[part].bytes; }

  // Passes a part on, block by block, and frees it. Call it after all blocks were added.
  template <class Take>
  void take(std::size_t part, Take&& pass) {
    Part taken = std::move(parts_[part]);
    parts_[part] = Part();
    Block buffer;
    for (const Extent& extent : taken.extents) {
      // Blocks that were written together are passed on one by one.
      buffer.resize(std::accumulate(extent.sizes.begin(), extent.sizes.end(), std::size_t{0}));
      file_->read_at(buffer.data(), buffer.size(), extent.offset);
      const char* at = buffer.data();
      for (const std::size_t size : extent.sizes) {
        pass(at, size);
        at += size;
      }
    }
    for (Block& block : taken.blocks) {
      pass(static_cast<const char*>(block.data()), block.size());
      Block().swap(block);
    }
  }

 private:
  // Blocks in the file.
  struct Extent {
    std::int64_t offset;
    std::vector<std::size_t> sizes;
  };
  struct Part {
    std::vector<Extent> extents;
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    std::size_t bytes_in_memory = 0;
  };

  void write(std::size_t part, const std::vector<Block>& blocks);

  std::size_t memory_;
  std::string folder_;
  std::mutex mutex_;
  std::size_t in_memory_ = 0;
  std::unique_ptr<ScratchFile> file_;
  std::vector<Part> parts_;
};

// One thread's buffers for all parts, passed on in blocks.
class PartWriter {
 public:
  PartWriter(Partitions& parts, std::size_t block_size)
      : parts_(parts), block_size_(block_size), blocks_(parts.size()) {}

  // Space for n bytes at the end of a part's block. Records are never split between blocks.
  char* room(std::size_t part, std::size_t n) {
    Block& block = blocks_[part];
    if (block.size() + n > block.capacity()) {
      flush(part);
      blocks_[part].reserve(std::max(block_size_, n));
    }
    block.resize(block.size() + n);
    return block.data() + block.size() - n;
  }
  // Passes on the last, incomplete blocks.
  void flush() {
    for (std::size_t part = 0; part < blocks_.size(); ++part) flush(part);
  }

 private:
  void flush(std::size_t part) {
    if (!blocks_[part].empty()) parts_.append(part, std::move(blocks_[part]));
    blocks_[part] = Block();
  }

  Partitions& parts_;
  std::size_t block_size_;
  std::vector<Block> blocks_;
};

}  // namespace ancify
