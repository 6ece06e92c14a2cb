// Posteriors of the ancestral base at the records of a variant file, from the outgroups' bases, the
// two alleles and, if the record has them, the samples' allele counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/variants/outgroup_bases.h"
#include "core/ancestry/variants/record_site.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

struct SampleHistory {
  History history;
  MutationModels models;
  OutgroupFiles outgroups;
  std::vector<std::string> samples;         // the samples to count; empty for all
  std::optional<CountFields> count_fields;  // in their place
};

class RecordPosteriors {
 public:
  // All arguments must outlive this. InputError if a sample is not in the file.
  RecordPosteriors(const SampleHistory& options, VariantReader& reader, const JobControl& control);

  // Call it at the first record of each chromosome.
  void begin_chromosome(const std::string& name);

  struct Result {
    Posterior posterior;
    bool counted;  // whether allele counts are known
  };
  // The posterior at the reader's record. None unless site_of_record() has a site and an outgroup
  // has a base there. None also if the history gives probability 0.
  std::optional<Result> of_record();

 private:
  const SampleHistory& options_;
  VariantReader& reader_;
  const JobControl& control_;
  CountedSamples samples_;
  OutgroupBases outgroups_;
  std::unique_ptr<SitePolariser> polariser_;
};

}  // namespace ancify
