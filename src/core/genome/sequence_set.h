// Finds the sequence of a chromosome, which its file may name differently.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// A FASTA file of one chromosome, whatever the name of its sequence. If `chromosome` is empty, a
// FASTA or 2bit file of any number of chromosomes.
struct SequenceFile {
  std::string chromosome;
  std::string path;
};

// A file of many sequences is read whole at the start. A file of one chromosome is read when find()
// requests it, and kept until find() requests the next.
class SequenceSet {
 public:
  // `wanted` holds the chromosomes' names. In a file of many sequences, names may differ by a
  // leading chr, or have Ensembl's form (ANCESTOR_for_chromosome:GRCh38:22:1:50818468:1). Throws
  // InputError if the file has none of them.
  SequenceSet(const std::vector<SequenceFile>& files, const std::vector<std::string>& wanted,
              const TaskContext& context);
  // The bases of a chromosome, valid until the next call; null if no file has it.
  const std::string* find(const std::string& chromosome, const TaskContext& context);
  // The chromosome's name in a file of many sequences, or the path of its own file; empty if
  // neither exists.
  std::string name_of(const std::string& chromosome) const;

 private:
  void read_all(const std::string& path, const std::vector<std::string>& wanted,
                const TaskContext& context);

  std::unordered_map<std::string, std::string> paths_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_map<std::string, std::string> bases_;
};

}  // namespace ancify
