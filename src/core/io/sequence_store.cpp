#include "core/io/sequence_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/io/file.h"

namespace ancify {

std::string sequence_path(const std::string& folder, const std::string& chromosome) {
  return folder + "/" + chromosome + ".fa";
}

FileStore::FileStore(std::string folder, const std::vector<Chromosome>& chromosomes,
                     std::size_t most_open)
    : folder_(std::move(folder)),
      chromosomes_(chromosomes),
      most_open_(most_open),
      files_(chromosomes.size()),
      mapped_(chromosomes.size(), nullptr),
      populated_(chromosomes.size(), 0) {}

char* FileStore::map(std::size_t chromosome) {
  if (mapped_[chromosome] != nullptr) return mapped_[chromosome];
  if (opened_.size() >= most_open_) {
    files_[opened_.front()]->unmap();
    mapped_[opened_.front()] = nullptr;
    opened_.pop_front();
  }
  auto& file = files_[chromosome];
  if (file == nullptr) {
    const auto& [name, length] = chromosomes_[chromosome];
    make_folder(folder_);
    file = std::make_unique<SequenceWriter>(sequence_path(folder_, name), name, length);
  }
  mapped_[chromosome] = file->map();
  opened_.push_back(chromosome);
  return mapped_[chromosome];
}

void FileStore::commit() {
  // A projected file that a crash of the machine loses can be made again, so none is synced.
  // What can fail comes before the first file takes its name.
  for (auto& file : files_) {
    if (file != nullptr) file->prepare(false);
  }
  for (auto& file : files_) {
    if (file != nullptr) file->commit();
  }
}

void FileStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                      std::size_t n) {
  std::memcpy(ready(chromosome, position, n), bases, n);
}

void FileStore::fill(std::size_t chromosome, std::int64_t position, std::size_t n) {
  std::memset(ready(chromosome, position, n), 'N', n);
}

char* FileStore::ready(std::size_t chromosome, std::int64_t position, std::size_t n) {
  char* const bases = map(chromosome);
#ifdef MADV_POPULATE_WRITE
  // Pages are asked for many at a time: one by one, on first touch, they cost a good deal more.
  constexpr std::int64_t page = 4096;
  constexpr std::int64_t ahead = std::int64_t{4} << 20;
  const std::int64_t end = position + static_cast<std::int64_t>(n);
  auto& populated = populated_[chromosome];
  if (end > populated) {
    const std::int64_t begin = std::max(position, populated);
    const std::int64_t length =
        std::min(std::max(end, begin + ahead), chromosomes_[chromosome].length) - begin;
    const auto offset =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(bases + begin)) % page;
    // An older system knows no such request; then first touch does it.
    madvise(bases + begin - offset, static_cast<std::size_t>(length + offset), MADV_POPULATE_WRITE);
    populated = begin + length;
  }
#endif
  return bases + position;
}

MemoryStore::MemoryStore(const std::vector<Chromosome>& chromosomes)
    : memory_(chromosomes, [](std::size_t length) { return length; }) {}

void MemoryStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                        std::size_t n) {
  std::memcpy(memory_.at(chromosome) + position, bases, n);
}

void MemoryStore::fill(std::size_t chromosome, std::int64_t position, std::size_t n) {
  std::memset(memory_.at(chromosome) + position, 'N', n);
}

PackedStore::PackedStore(const std::vector<Chromosome>& chromosomes, SimdLevel simd)
    : simd_(simd), memory_(chromosomes, packed_size) {}

void PackedStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                        std::size_t n) {
  pack_bases(bases, n, static_cast<std::size_t>(position), memory_.at(chromosome), simd_);
}

void PackedStore::fill(std::size_t chromosome, std::int64_t position, std::size_t n) {
  pack_missing(n, static_cast<std::size_t>(position), memory_.at(chromosome));
}

}  // namespace ancify
