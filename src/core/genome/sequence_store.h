// Where the sequences of one species are built: files of a folder, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/threads.h"
#include "core/genome/lengths.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_file.h"
#include "core/io/checksum.h"
#include "core/io/file.h"
#include "core/io/memory.h"

namespace ancify {

// Chromosomes are named by their index, positions count from 0. What is never written is undefined.
class SequenceStore {
 public:
  virtual ~SequenceStore() = default;
  virtual void write(std::size_t chromosome, std::int64_t position, const char* bases,
                     std::size_t n) = 0;
  // Every chromosome is whole: makes the result last. Interrupted where the task is no longer
  // wanted.
  virtual void commit(const TaskContext& context) = 0;
  // After commit() those of the chromosomes' files; empty where there are none.
  virtual std::vector<FileChecksum> checksums() const { return {}; }
};

// <folder>/<chromosome>.fa, all appearing at commit().
class FileStore : public SequenceStore {
 public:
  FileStore(std::string folder, const std::vector<Chromosome>& chromosomes);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void commit(const TaskContext& context) override;
  std::vector<FileChecksum> checksums() const override { return checksums_; }

 private:
  // The checksum of what is written from the first position on, as long as that goes in order.
  struct InOrder {
    std::int64_t end = 0;
    std::uint32_t checksum = 0;
    bool still = true;
  };

  void open(std::size_t chromosome);

  std::string path_;
  const std::vector<Chromosome>& chromosomes_;
  std::optional<OutputFolder> folder_;  // before the files in it, as those must go first
  std::vector<std::unique_ptr<SequenceWriter>> files_;
  std::vector<InOrder> in_order_;
  std::vector<FileChecksum> checksums_;
  std::size_t opened_;  // the one chromosome whose file is open, if there is one
};

// The sequences of all chromosomes one behind the other in one piece of memory.
class ChromosomeMemory {
 public:
  // bytes(length): what a chromosome of this length takes.
  template <class Bytes>
  ChromosomeMemory(const std::vector<Chromosome>& chromosomes, Bytes bytes)
      : starts_(starts(chromosomes, bytes)), memory_(starts_.back()) {}
  char* at(std::size_t chromosome) { return memory_.data() + starts_[chromosome]; }
  const char* at(std::size_t chromosome) const { return memory_.data() + starts_[chromosome]; }

 private:
  template <class Bytes>
  static std::vector<std::size_t> starts(const std::vector<Chromosome>& chromosomes, Bytes bytes) {
    std::vector<std::size_t> starts = {0};
    for (const auto& chromosome : chromosomes) {
      const std::size_t size = bytes(static_cast<std::size_t>(chromosome.length));
      if (size > std::numeric_limits<std::size_t>::max() - starts.back()) throw std::bad_alloc();
      starts.push_back(starts.back() + size);
    }
    return starts;
  }

  std::vector<std::size_t> starts_;
  Memory memory_;
};

// A character a position.
class MemoryStore : public SequenceStore {
 public:
  explicit MemoryStore(const std::vector<Chromosome>& chromosomes);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void commit(const TaskContext&) override {}
  const char* bases(std::size_t chromosome) const { return memory_.at(chromosome); }

 private:
  ChromosomeMemory memory_;
};

// Base codes, half a byte a position: what calling needs, and no more.
class PackedStore : public SequenceStore {
 public:
  PackedStore(const std::vector<Chromosome>& chromosomes, SimdLevel simd);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void commit(const TaskContext&) override {}
  const char* packed(std::size_t chromosome) const { return memory_.at(chromosome); }

 private:
  SimdLevel simd_;
  ChromosomeMemory memory_;
};

// The file of a chromosome in a folder of sequences.
std::string sequence_path(const std::string& folder, const std::string& chromosome);

}  // namespace ancify
