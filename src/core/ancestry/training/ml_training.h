// A sample of sites with known ancestral bases, for training boosted trees.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/patterns/voting.h"
#include "core/ancestry/trained/site_features.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify {

// The source of labels: upper-case calls by vote, or a reference, which is the last source of each
// chromosome.
enum class Labels { kVoting, kReference };

struct TrainingOptions {
  Voting voting;  // with a reference only the numbers of species matter
  Labels labels = Labels::kVoting;
  std::int64_t most_sites = 0;
  std::uint64_t seed = 0;
  int threads = 1;
};

// A sample with an equal number of sites for each base, spread evenly over all labelled sites.
// These are cut into as many runs as sites are wanted; the seed draws one site from each run. The
// sample does not depend on the number of threads.
class TrainingSample {
 public:
  // Reads all labels. InputError if a base has no labelled site, or if fewer than one site a base
  // is wanted.
  TrainingSample(const std::vector<ChromosomeSequences>& chromosomes,
                 const TrainingOptions& options, JobControl& control);
  std::int64_t sites() const { return kBases * per_base_; }
  int features() const { return features_.count(); }
  // The number of labelled sites of each base, drawn or not.
  const std::array<std::int64_t, kBases>& labelled() const { return labelled_; }
  // Writes feature f of site i to features[f * sites() + i], and its base code to labels[i].
  void extract(double* features, int* labels, JobControl& control);

 private:
  // A part of a chromosome; `before`: the labelled sites before it, by base.
  struct Piece {
    std::size_t chromosome;
    std::int64_t start;
    std::int64_t end;
    std::array<std::int64_t, kBases> before;
  };

  // Takes a labelled position, counted from the stretch's start.
  using UseLabel = std::function<void(int base, const Stretch& stretch, std::size_t at)>;
  // Passes each piece's labels, in order, to the function that use(piece) returns.
  void for_each_label(JobControl& control, const std::function<UseLabel(Piece&)>& use);
  void read_labels(const Piece& piece, const SequenceSources& sources, const TaskContext& context,
                   JobControl& control, const UseLabel& use) const;
  std::int64_t drawn(int base, std::int64_t which) const;
  std::int64_t first_run(int base, std::int64_t passed) const;
  std::int64_t run_start(int base, std::int64_t which) const;

  const std::vector<ChromosomeSequences>& chromosomes_;
  TrainingOptions options_;
  SiteFeatures features_;
  std::vector<Piece> pieces_;
  std::array<std::int64_t, kBases> labelled_ = {};
  std::int64_t per_base_ = 0;
};

}  // namespace ancify
