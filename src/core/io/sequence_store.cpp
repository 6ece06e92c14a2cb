#include "core/io/sequence_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/io/file.h"

namespace ancify {

std::string sequence_path(const std::string& folder, const std::string& chromosome) {
  return folder + "/" + chromosome + ".fa";
}

FileStore::FileStore(std::string folder, const std::vector<Chromosome>& chromosomes)
    : folder_(std::move(folder)),
      chromosomes_(chromosomes),
      files_(chromosomes.size()),
      opened_(chromosomes.size()),
      gathered_(std::size_t{1} << 17) {}

void FileStore::open(std::size_t chromosome) {
  if (opened_ < files_.size()) files_[opened_]->file().close();
  auto& writer = files_[chromosome];
  if (writer == nullptr) {
    const auto& [name, length] = chromosomes_[chromosome];
    make_folder(folder_);
    writer = std::make_unique<SequenceWriter>(sequence_path(folder_, name), name, length);
  }
  writer->file().open();
  opened_ = chromosome;
}

void FileStore::write_gathered() {
  if (n_gathered_ == 0) return;
  files_[opened_]->write(gathered_.data(), n_gathered_, position_);
  position_ += static_cast<std::int64_t>(n_gathered_);
  n_gathered_ = 0;
}

template <class Put>
void FileStore::gather(std::size_t chromosome, std::int64_t position, std::size_t n, Put put) {
  if (chromosome != opened_ || position != position_ + static_cast<std::int64_t>(n_gathered_)) {
    write_gathered();
    if (chromosome != opened_) open(chromosome);
    position_ = position;
  }
  for (std::size_t done = 0; done < n;) {
    const std::size_t here = std::min(n - done, gathered_.size() - n_gathered_);
    put(&gathered_[n_gathered_], done, here);
    n_gathered_ += here;
    done += here;
    if (n_gathered_ == gathered_.size()) write_gathered();
  }
}

void FileStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                      std::size_t n) {
  gather(chromosome, position, n, [&](char* to, std::size_t from, std::size_t here) {
    std::memcpy(to, bases + from, here);
  });
}

void FileStore::fill(std::size_t chromosome, std::int64_t position, std::size_t n) {
  gather(chromosome, position, n,
         [](char* to, std::size_t, std::size_t here) { std::memset(to, 'N', here); });
}

void FileStore::commit() {
  write_gathered();
  // A projected file that a crash of the machine loses can be made again, so none is synced.
  // What can fail comes before the first file takes its name.
  for (auto& writer : files_) {
    if (writer != nullptr) writer->file().prepare(false);
  }
  for (auto& writer : files_) {
    if (writer != nullptr) writer->file().commit();
  }
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
