// Posteriors of the ancestral base at the records of a variant file, from the outgroups' bases, the
// two alleles and, where genotypes tell them, the samples' allele counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/sequence_set.h"
#include "core/genome/sequence_source.h"
#include "core/genome/sequence_window.h"

namespace ancify {

struct SampleHistory {
  History history;
  MutationModel model;
  // By chromosome name in the variant file: the outgroups' one-line FASTA files, in the history's
  // order. Each comes with the name of its sequence.
  std::unordered_map<std::string, std::vector<SequenceFile>> outgroups;
  std::vector<std::string> samples;  // the samples to count; empty for all
};

class RecordPosteriors {
 public:
  // All arguments must outlive this. InputError if a sample is not in the file.
  RecordPosteriors(const SampleHistory& options, VariantReader& reader, const JobControl& control);

  // Must be called at the first record of each chromosome.
  void begin_chromosome(const std::string& name);

  struct Result {
    Posterior posterior;
    bool counted;  // whether allele counts are known
  };
  // The posterior at the reader's record. None unless site_of_record() has a site and an outgroup
  // has a base there. None also if the history gives probability 0.
  std::optional<Result> of_record();

 private:
  struct Outgroup {
    std::string path;
    std::unique_ptr<SequenceSource> source;
    SequenceWindow bases;
  };

  std::optional<std::int64_t> pattern();

  const SampleHistory& options_;
  VariantReader& reader_;
  const JobControl& control_;
  std::vector<std::size_t> samples_;  // columns of the samples
  std::vector<Outgroup> outgroups_;   // of the current chromosome; empty without files
  std::unique_ptr<SitePolariser> polariser_;
};

}  // namespace ancify
