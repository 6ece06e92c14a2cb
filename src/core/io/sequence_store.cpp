#include "core/io/sequence_store.h"

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
      mapped_(chromosomes.size(), nullptr) {}

char* FileStore::open(std::size_t chromosome) {
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

MemoryStore::MemoryStore(const std::vector<Chromosome>& chromosomes)
    : chromosomes_(chromosomes), sequences_(chromosomes.size()) {}

char* MemoryStore::open(std::size_t chromosome) {
  auto& sequence = sequences_[chromosome];
  if (sequence == nullptr) {
    sequence.reset(new char[static_cast<std::size_t>(chromosomes_[chromosome].length)]);
  }
  return sequence.get();
}

}  // namespace ancify
