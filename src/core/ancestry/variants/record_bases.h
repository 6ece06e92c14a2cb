// What sequences and the errors of calls are at the records of a file of variants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"

namespace ancify {

// Sequences by chromosome; there may be none at all.
class RecordBases {
 public:
  // `chromosomes`, which have to stay: the names in the variants. `what` they are, for messages.
  RecordBases(const std::vector<SequenceFile>& files, const std::vector<std::string>& chromosomes,
              const char* what, const TaskContext& context);

  // At the first record of each chromosome. FormatError for one that is not among `chromosomes`, so
  // that nobody has looked for its sequence.
  void begin_chromosome(const VariantReader& reader, const TaskContext& context);
  // Null where there is none.
  const std::string* sequence() const { return sequence_; }
  std::string name_of(const std::string& chromosome) const { return set_.name_of(chromosome); }

  // The base so many positions after the record; nothing where there is no sequence, or before
  // its start and after its end. FormatError for a record that is itself behind the end.
  std::optional<char> at(const VariantReader& reader, int offset = 0) const;

 private:
  SequenceSet set_;
  bool has_files_;
  const std::vector<std::string>& chromosomes_;
  const char* what_;
  const std::string* sequence_ = nullptr;
};

// The errors of calls, as calling writes them, by chromosome.
class RecordErrors {
 public:
  explicit RecordErrors(const std::unordered_map<std::string, std::string>& files)
      : files_(files) {}

  // `calls`: the chromosome's, null where there are none.
  void begin_chromosome(const std::string& name, const std::string* calls);
  // The probability that the base called at the record is right; only where there is a base.
  std::optional<double> posterior(const VariantReader& reader) const;

 private:
  std::unordered_map<std::string, std::string> files_;
  std::vector<char> phred_;
};

}  // namespace ancify
