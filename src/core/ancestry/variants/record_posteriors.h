// Posteriors of the ancestral base at the records of a file of variants, from the outgroups' bases
// there and how many of the samples' haplotypes have which allele.
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
  // By the chromosomes' names in the variants: one-line FASTA files of the outgroups, in the order
  // of the history, each with the name that its sequence has.
  std::unordered_map<std::string, std::vector<SequenceFile>> outgroups;
  std::vector<std::string> samples;  // whose alleles are counted; empty for all
};

class RecordPosteriors {
 public:
  // All have to stay. InputError where samples are not there.
  RecordPosteriors(const SampleHistory& options, VariantReader& reader, const JobControl& control);

  void begin_chromosome(const std::string& name);

  // Of the reader's record; nothing unless it has two alleles of one base, both of them in the
  // samples, and an outgroup has a base there, nor where the history gives it no chance.
  std::optional<Posterior> of_record();

 private:
  struct Outgroup {
    std::string path;
    std::unique_ptr<SequenceSource> source;
    SequenceWindow bases;
  };

  std::optional<std::int64_t> pattern();
  void count_alleles(PolymorphicSite& site);

  const SampleHistory& options_;
  VariantReader& reader_;
  const JobControl& control_;
  std::vector<std::size_t> samples_;  // their columns
  std::vector<Outgroup> outgroups_;   // of the chromosome at hand; empty where there are none
  std::unique_ptr<SitePolariser> polariser_;
};

}  // namespace ancify
