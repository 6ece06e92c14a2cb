// The outgroups' bases at the records of a variant file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"
#include "core/genome/sequence_source.h"
#include "core/genome/sequence_window.h"

namespace ancify {

// By chromosome name in the variant file: the outgroups' one-line FASTA files, in the history's
// order. Each comes with the name of its sequence.
using OutgroupFiles = std::unordered_map<std::string, std::vector<SequenceFile>>;

class OutgroupBases {
 public:
  // Both arguments must outlive this.
  OutgroupBases(const OutgroupFiles& files, VariantReader& reader);

  // Call it at the first record of each chromosome.
  void begin_chromosome(const std::string& name);
  // The index of the outgroups' pattern at the reader's record; none if no outgroup has a base.
  std::optional<std::int64_t> pattern();
  // The class of the record's site by its neighbours, see neighbours.h.
  int neighbours();

 private:
  struct Outgroup {
    std::string path;
    std::unique_ptr<SequenceSource> source;
    SequenceWindow bases;
  };

  const OutgroupFiles& files_;
  VariantReader& reader_;
  std::vector<Outgroup> outgroups_;  // of the current chromosome; empty without files
};

}  // namespace ancify
