// Sites with known ancestral bases, from which boosted trees are trained.
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

// Where labels come from: calls by vote in upper case, or a reference, the last of a chromosome's
// sources.
enum class Labels { kVoting, kReference };

struct TrainingOptions {
  Voting voting;  // for a reference only its numbers of species matter
  Labels labels = Labels::kVoting;
  std::int64_t most_sites = 0;
  std::uint64_t seed = 0;
  int threads = 1;
};

// An equal number of sites of each base, spread evenly over all labelled ones: of as many runs of
// labelled sites as are wanted, each gives one, drawn by the seed. The same at any number of
// threads.
class TrainingSample {
 public:
  // Looks at all labels. InputError where a base has none.
  TrainingSample(const std::vector<ChromosomeSequences>& chromosomes,
                 const TrainingOptions& options, JobControl& control);
  std::int64_t sites() const { return kBases * per_base_; }
  int features() const { return features_.count(); }
  // Labelled sites by base, those that are not drawn too.
  const std::array<std::int64_t, kBases>& labelled() const { return labelled_; }
  // Feature f of site i becomes features[f * sites() + i], its base's code labels[i].
  void extract(double* features, int* labels, JobControl& control);

 private:
  // Part of a chromosome, and the labelled sites before it by base.
  struct Piece {
    std::size_t chromosome;
    std::int64_t start;
    std::int64_t end;
    std::array<std::int64_t, kBases> before;
  };

  // A labelled position of a stretch, counted from its start.
  using UseLabel = std::function<void(int base, const Stretch& stretch, std::size_t at)>;
  // Gives each piece's labels in turn to what use(piece) makes.
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
