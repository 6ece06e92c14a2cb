// Keeps blocks in memory, and writes a part to the file once memory is used up.
#include "core/kmers/partitions.h"

#include <utility>

namespace ancify {

void Partitions::append(std::size_t part, Block block) {
  std::vector<Block> to_write;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Part& to = parts_[part];
    to.bytes += block.size();
    to.bytes_in_memory += block.size();
    in_memory_ += block.size();
    to.blocks.push_back(std::move(block));
    if (in_memory_ <= memory_) return;
    if (file_ == nullptr) file_ = std::make_unique<ScratchFile>(folder_);
    to_write = std::exchange(to.blocks, {});
    in_memory_ -= std::exchange(to.bytes_in_memory, 0);
  }
  write(part, to_write);
}

void Partitions::write(std::size_t part, const std::vector<Block>& blocks) {
  Block together;
  std::vector<std::size_t> sizes;
  for (const Block& block : blocks) {
    together.insert(together.end(), block.begin(), block.end());
    sizes.push_back(block.size());
  }
  const std::int64_t offset = file_->append(together.data(), together.size());
  std::lock_guard<std::mutex> lock(mutex_);
  parts_[part].extents.push_back({offset, std::move(sizes)});
}

}  // namespace ancify
