// The bases of sequences, and the errors of calls, at the records of a variant file.
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

// The sequences of chromosomes; there may be none.
class RecordBases {
 public:
  // `chromosomes`: their names in the variant file; they must outlive this. `what` names the
  // sequences in messages.
  RecordBases(const std::vector<SequenceFile>& files, const std::vector<std::string>& chromosomes,
              const char* what, const TaskContext& context);

  // Call it at the first record of each chromosome. FormatError if the chromosome is not
  // among `chromosomes`, because its sequence was never looked for.
  void begin_chromosome(const VariantReader& reader, const TaskContext& context);
  // The current chromosome's sequence; null if there is none.
  const std::string* sequence() const { return sequence_; }
  // The chromosome's name in the files, or its file; empty if it has no sequence.
  std::string name_of(const std::string& chromosome) const { return set_.name_of(chromosome); }

  // The base `offset` positions after the record; none without a sequence or outside it.
  // FormatError if the record itself is beyond the sequence's end.
  std::optional<char> at(const VariantReader& reader, int offset = 0) const;

 private:
  SequenceSet set_;
  bool has_files_;
  const std::vector<std::string>& chromosomes_;
  const char* what_;
  const std::string* sequence_ = nullptr;
};

// The phred-scaled errors of calls, by chromosome, from the files that calling writes.
class RecordErrors {
 public:
  explicit RecordErrors(const std::unordered_map<std::string, std::string>& files)
      : files_(files) {}

  // `calls`: the chromosome's calls, null if there are none. FormatError unless there is an error
  // for each call.
  void begin_chromosome(const std::string& name, const std::string* calls);
  // The probability that the base called at the record is correct; none if it is unknown. There
  // must be a call.
  std::optional<double> posterior(const VariantReader& reader) const;

 private:
  std::unordered_map<std::string, std::string> files_;
  std::vector<char> phred_;
};

}  // namespace ancify
