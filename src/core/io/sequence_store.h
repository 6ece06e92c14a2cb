// Where the sequences of one species are built: files of a folder, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/io/lengths.h"
#include "core/io/sequence_file.h"

namespace ancify {

class SequenceStore {
 public:
  virtual ~SequenceStore() = default;
  // Memory for all bases of a chromosome, as it was left. Valid until the next call of open().
  virtual char* open(std::size_t chromosome) = 0;
  // Every chromosome is whole: makes the result last.
  virtual void commit() = 0;
};

// <folder>/<chromosome>.fa, all appearing at commit().
class FileStore : public SequenceStore {
 public:
  // `most_open`: files mapped at a time.
  FileStore(std::string folder, const std::vector<Chromosome>& chromosomes, std::size_t most_open);
  char* open(std::size_t chromosome) override;
  void commit() override;

 private:
  std::string folder_;
  const std::vector<Chromosome>& chromosomes_;
  std::size_t most_open_;
  std::vector<std::unique_ptr<SequenceWriter>> files_;
  std::vector<char*> mapped_;       // null where not mapped
  std::deque<std::size_t> opened_;  // mapped chromosomes, the first opened in front
};

class MemoryStore : public SequenceStore {
 public:
  explicit MemoryStore(const std::vector<Chromosome>& chromosomes);
  char* open(std::size_t chromosome) override;
  void commit() override {}
  const char* bases(std::size_t chromosome) const { return sequences_[chromosome].get(); }

 private:
  const std::vector<Chromosome>& chromosomes_;
  std::vector<std::unique_ptr<char[]>> sequences_;
};

// The file of a chromosome in a folder of sequences.
std::string sequence_path(const std::string& folder, const std::string& chromosome);

}  // namespace ancify
