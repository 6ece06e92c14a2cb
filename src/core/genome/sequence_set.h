// Sequences of chromosomes by the names that another file has for them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// A FASTA file of one chromosome, whatever its sequence is called; or of any number of them, if
// `chromosome` is empty.
struct SequenceFile {
  std::string chromosome;
  std::string path;
};

// A file of many sequences is read at once, one of a single chromosome when it is asked for and
// kept until the next is.
class SequenceSet {
 public:
  // `wanted`: the chromosomes' names. Those in a file of many may differ by a leading chr, and may
  // be Ensembl's (ANCESTOR_for_chromosome:GRCh38:22:1:50818468:1). InputError if there is none.
  SequenceSet(const std::vector<SequenceFile>& files, const std::vector<std::string>& wanted,
              const TaskContext& context);
  // Null for a chromosome that it does not have; valid until the next call.
  const std::string* find(const std::string& chromosome, const TaskContext& context);
  // What a chromosome is called there, or its file; empty where it is not.
  std::string name_of(const std::string& chromosome) const;

 private:
  void read_all(const std::string& path, const std::vector<std::string>& wanted,
                const TaskContext& context);

  std::unordered_map<std::string, std::string> paths_;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_map<std::string, std::string> bases_;
};

}  // namespace ancify
