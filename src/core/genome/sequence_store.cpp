// Writes sequences to files, or keeps them in memory.
#include "core/genome/sequence_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/io/file.h"

namespace ancify {

std::string sequence_path(const std::string& folder, const std::string& chromosome) {
  return path_of_name(folder, chromosome, ".fa");
}

void SequenceStore::fill(std::size_t chromosome, std::int64_t position, std::int64_t n) {
  constexpr std::int64_t most = 1 << 16;
  const std::vector<char> unknown(static_cast<std::size_t>(std::min(n, most)), 'N');
  for (std::int64_t done = 0; done < n; done += most) {
    write(chromosome, position + done, unknown.data(),
          static_cast<std::size_t>(std::min(n - done, most)));
  }
}

void SequenceStore::read(std::size_t, std::int64_t, char* letters, std::size_t n) {
  std::fill_n(letters, n, 'N');
}

FileStore::FileStore(std::string folder, const std::vector<Chromosome>& chromosomes)
    : path_(std::move(folder)),
      chromosomes_(chromosomes),
      files_(chromosomes.size()),
      in_order_(chromosomes.size()),
      opened_(chromosomes.size()) {}

void FileStore::open(std::size_t chromosome) {
  if (opened_ < files_.size()) files_[opened_]->file().close();
  auto& writer = files_[chromosome];
  if (writer == nullptr) {
    const auto& [name, length] = chromosomes_[chromosome];
    if (!folder_) folder_.emplace(path_);
    writer = std::make_unique<SequenceWriter>(sequence_path(path_, name), name, length);
  }
  writer->file().open();
  opened_ = chromosome;
}

void FileStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                      std::size_t n) {
  if (chromosome != opened_) open(chromosome);
  files_[chromosome]->write(bases, n, position);
  auto& so_far = in_order_[chromosome];
  so_far.still = so_far.still && position == so_far.end;
  if (!so_far.still) return;
  so_far.checksum = extend_checksum(so_far.checksum, bases, n);
  so_far.end += static_cast<std::int64_t>(n);
}

void FileStore::read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) {
  if (chromosome != opened_) open(chromosome);
  files_[chromosome]->read(letters, n, position);
}

void FileStore::commit(const TaskContext& context) {
  // Files are not synced: if a machine crash damages one, its checksum shows this, and it can be
  // made again. All steps that can fail precede the first renaming.
  for (std::size_t i = 0; i < files_.size(); ++i) {
    auto& writer = files_[i];
    if (writer == nullptr) {
      checksums_.emplace_back();
      continue;
    }
    writer->file().prepare();
    checksums_.push_back(in_order_[i].still
                             ? writer->checksum(in_order_[i].checksum)
                             : checksum_of_file(writer->file().temporary(), context));
  }
  for (auto& writer : files_) {
    if (writer != nullptr) writer->file().commit();
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] != nullptr) checksums_[i].identity = files_[i]->file().identity();
  }
}

MemoryStore::MemoryStore(const std::vector<Chromosome>& chromosomes)
    : memory_(chromosomes, [](std::size_t length) { return length; }) {}

void MemoryStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                        std::size_t n) {
  std::memcpy(memory_.at(chromosome) + position, bases, n);
}

void MemoryStore::read(std::size_t chromosome, std::int64_t position, char* letters,
                       std::size_t n) {
  std::memcpy(letters, memory_.at(chromosome) + position, n);
}

PackedStore::PackedStore(const std::vector<Chromosome>& chromosomes, SimdLevel simd)
    : simd_(simd), memory_(chromosomes, packed_size) {}

void PackedStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                        std::size_t n) {
  pack_bases(bases, n, static_cast<std::size_t>(position), memory_.at(chromosome), simd_);
}

void PackedStore::read(std::size_t chromosome, std::int64_t position, char* letters,
                       std::size_t n) {
  unpack_bases(memory_.at(chromosome), static_cast<std::size_t>(position), n, letters);
}

}  // namespace ancify
