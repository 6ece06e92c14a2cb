// Draws sites with known ancestral bases. The sample does not depend on the number of threads.
#include "core/ancestry/training/ml_training.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/stretch.h"

namespace ancify {

namespace {

constexpr std::int64_t kPieceLength = 1 << 20;
constexpr std::int64_t kStretchLength = 1 << 15;

// A hash that looks random (the finaliser of splitmix64).
std::uint64_t scatter(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

int code_at(const Stretch& stretch, int species, std::size_t i) {
  const char* bases = stretch.species[species];
  return stretch.form == SequenceForm::kPacked ? packed_code(bases, i) : base_code(bases[i]);
}

}  // namespace

void TrainingSample::read_labels(const Piece& piece, const SequenceSources& sources,
                                 const TaskContext& context, JobControl& control,
                                 const UseLabel& use) const {
  const bool by_vote = options_.labels == Labels::kVoting;
  Voting voting = options_.voting;
  // Without labels at ties, a model would be overconfident at such sites. Labels by the alphabet
  // are often wrong there, which lowers its confidence.
  voting.ties = Ties::kAlphabet;
  if (!by_vote) voting.min_inner = voting.min_outer = 1;  // so that N means no data
  StretchReader reader(sources, chromosomes_[piece.chromosome].length, kFeatureReach);
  for (std::int64_t start = piece.start; start < piece.end; start += kStretchLength) {
    context.throw_if_stopped();
    const Stretch stretch = reader.read(start, std::min(start + kStretchLength, piece.end));
    const auto before = static_cast<std::size_t>(stretch.start - stretch.first);
    for (std::size_t i = 0; i < stretch.size(); ++i) {
      const auto code = [&](int s) { return code_at(stretch, s, before + i); };
      const char call = call_by_vote(voting, code);
      const int voted = call >= 'A' && call <= 'Z' ? base_code(call) : kMissing;
      const int base = by_vote ? voted : call == 'N' ? kMissing : code(features_.species());
      if (base != kMissing) use(base, stretch, i);
    }
    control.advance(stretch.end - stretch.start);
  }
}

void TrainingSample::for_each_label(JobControl& control,
                                    const std::function<UseLabel(Piece&)>& use) {
  // A chromosome is open while its pieces are read.
  struct Opened {
    std::once_flag once;
    SequenceSources sources;
    std::atomic<int> left{0};
  };
  std::vector<Opened> opened(chromosomes_.size());
  for (const auto& piece : pieces_) {
    ++opened[piece.chromosome].left;
    control.expect(piece.end - piece.start);
  }
  run_tasks(control, options_.threads, static_cast<std::int64_t>(pieces_.size()),
            [&](std::int64_t p, const TaskContext& context) {
              Piece& piece = pieces_[static_cast<std::size_t>(p)];
              Opened& chromosome = opened[piece.chromosome];
              std::call_once(chromosome.once,
                             [&] { chromosome.sources = chromosomes_[piece.chromosome].open(); });
              read_labels(piece, chromosome.sources, context, control, use(piece));
              if (--chromosome.left == 0) chromosome.sources.clear();
            });
}

TrainingSample::TrainingSample(const std::vector<ChromosomeSequences>& chromosomes,
                               const TrainingOptions& options, JobControl& control)
    : chromosomes_(chromosomes),
      options_(options),
      features_(options.voting.n_inner, options.voting.n_outer) {
  if (options.most_sites < kBases) throw InputError("at least one site of each base is needed");
  for (std::size_t c = 0; c < chromosomes.size(); ++c) {
    for (std::int64_t start = 0; start < chromosomes[c].length; start += kPieceLength) {
      pieces_.push_back({c, start, std::min(start + kPieceLength, chromosomes[c].length), {}});
    }
  }
  for_each_label(control, [](Piece& piece) {
    return [&piece](int base, const Stretch&, std::size_t) { ++piece.before[base]; };
  });
  // Turns the counts in each piece into counts before it.
  for (auto& piece : pieces_) {
    for (std::size_t base = 0; base < kBases; ++base) {
      const std::int64_t here = piece.before[base];
      piece.before[base] = labelled_[base];
      labelled_[base] += here;
    }
  }
  per_base_ = options.most_sites / kBases;
  for (std::size_t base = 0; base < kBases; ++base) {
    if (labelled_[base] == 0) {
      throw InputError(std::string("no training site has the ancestral base ") +
                       upper_base(static_cast<int>(base)) + ": all four bases are needed");
    }
    per_base_ = std::min(per_base_, labelled_[base]);
  }
}

// The first site of a run. The labelled sites of a base make per_base_ runs of nearly equal length.
std::int64_t TrainingSample::run_start(int base, std::int64_t which) const {
  const std::int64_t n = labelled_[static_cast<std::size_t>(base)];
  return n / per_base_ * which + n % per_base_ * which / per_base_;
}

// The site that is drawn from a run.
std::int64_t TrainingSample::drawn(int base, std::int64_t which) const {
  const auto number = static_cast<std::uint64_t>(which) * kBases + static_cast<std::uint64_t>(base);
  const auto size = static_cast<std::uint64_t>(run_start(base, which + 1) - run_start(base, which));
  const std::uint64_t random = scatter(scatter(options_.seed + 1) + number);
  return run_start(base, which) + static_cast<std::int64_t>(random % size);
}

// The first run of a base whose drawn site is not among the first `passed` labelled sites.
std::int64_t TrainingSample::first_run(int base, std::int64_t passed) const {
  std::int64_t low = 0;
  std::int64_t high = per_base_;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (drawn(base, middle) < passed) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void TrainingSample::extract(double* features, int* labels, JobControl& control) {
  for_each_label(control, [&](Piece& piece) {
    std::array<std::int64_t, kBases> run;
    for (int base = 0; base < kBases; ++base) run[base] = first_run(base, piece.before[base]);
    return [=, rank = piece.before, values = std::vector<float>(features_.count())](
               int base, const Stretch& stretch, std::size_t at) mutable {
      if (run[base] == per_base_ || drawn(base, run[base]) != rank[base]++) return;
      const std::int64_t row = base * per_base_ + run[base]++;
      Stretch site = stretch;
      site.start += static_cast<std::int64_t>(at);
      site.end = site.start + 1;
      features_.compute(site, values.data());
      double* out = features + row;
      for (const float value : values) {
        *out = static_cast<double>(value);
        out += sites();
      }
      labels[row] = base;
    };
  });
}

}  // namespace ancify
