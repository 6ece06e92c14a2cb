// Builds the sequences of one species, in the files of a folder or in memory.
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

// Chromosomes are given by index, positions count from 0. Positions that are never written are
// undefined.
class SequenceStore {
 public:
  virtual ~SequenceStore() = default;
  virtual void write(std::size_t chromosome, std::int64_t position, const char* bases,
                     std::size_t n) = 0;
  // Writes N at n positions.
  virtual void fill(std::size_t chromosome, std::int64_t position, std::int64_t n);
  // Copies n written letters. A store may keep only bases, without case; it returns N for anything
  // else.
  virtual void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n);
  // A block begins here. If the alignment is sorted, later blocks begin at or after this position.
  virtual void begin_block(std::size_t /*chromosome*/, std::int64_t /*position*/) {}
  // Makes the result permanent, when every chromosome is complete. Throws Interrupted if the task
  // is stopped.
  virtual void commit(const TaskContext& context) = 0;
  // The checksums of the chromosomes' files, after commit(); empty without files.
  virtual std::vector<FileChecksum> checksums() const { return {}; }
};

// Writes <folder>/<chromosome>.fa. All files appear at commit().
class FileStore : public SequenceStore {
 public:
  FileStore(std::string folder, const std::vector<Chromosome>& chromosomes);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) override;
  void commit(const TaskContext& context) override;
  std::vector<FileChecksum> checksums() const override { return checksums_; }

 private:
  // The checksum so far, valid as long as positions are written in order from the first.
  struct InOrder {
    std::int64_t end = 0;
    std::uint32_t checksum = 0;
    bool still = true;
  };

  void open(std::size_t chromosome);

  std::string path_;
  const std::vector<Chromosome>& chromosomes_;
  std::optional<OutputFolder> folder_;  // declared before its files, which are destroyed first
  std::vector<std::unique_ptr<SequenceWriter>> files_;
  std::vector<InOrder> in_order_;
  std::vector<FileChecksum> checksums_;
  std::size_t opened_;  // the chromosome whose file is open; files_.size() if none is
};

// The sequences of all chromosomes, one after the other, in one block of memory.
class ChromosomeMemory {
 public:
  // bytes(length) returns the bytes that a chromosome of this length takes.
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

// Keeps a character per position.
class MemoryStore : public SequenceStore {
 public:
  explicit MemoryStore(const std::vector<Chromosome>& chromosomes);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) override;
  void commit(const TaskContext&) override {}
  const char* bases(std::size_t chromosome) const { return memory_.at(chromosome); }

 private:
  ChromosomeMemory memory_;
};

// Keeps base codes, half a byte per position, which suffices for calling.
class PackedStore : public SequenceStore {
 public:
  PackedStore(const std::vector<Chromosome>& chromosomes, SimdLevel simd);
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override;
  void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) override;
  void commit(const TaskContext&) override {}
  const char* packed(std::size_t chromosome) const { return memory_.at(chromosome); }

 private:
  SimdLevel simd_;
  ChromosomeMemory memory_;
};

// The path of a chromosome's file in a folder of sequences.
std::string sequence_path(const std::string& folder, const std::string& chromosome);

}  // namespace ancify
