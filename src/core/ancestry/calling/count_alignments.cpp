// Counts patterns in windows, and takes the letters of records from them.
#include "core/ancestry/calling/count_alignments.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "core/ancestry/calling/window_schedule.h"
#include "core/ancestry/calling/window_work.h"
#include "core/genome/bases.h"
#include "core/genome/packed.h"
#include "core/genome/stretch.h"

namespace ancify {

namespace {

constexpr std::int64_t kCountedAtOnce = 1 << 15;
constexpr std::int64_t kLongestPiece = 32 * kCountedAtOnce;

// Takes bases of `other` where packed bases are missing.
void fill_missing(char* packed, const char* other, std::size_t bytes) {
  static_assert(kMissing == 4, "the bit of a missing base");
  constexpr std::uint64_t missing = 0x4444444444444444;
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t here;
    std::uint64_t there;
    std::memcpy(&here, packed + i, sizeof here);
    std::memcpy(&there, other + i, sizeof there);
    const std::uint64_t mask = ((here & missing) >> 2) * 7;
    here = (here & ~mask) | (there & mask);
    std::memcpy(packed + i, &here, sizeof here);
  }
}

class WindowCounts : public WindowWork {
 public:
  // All arguments must outlive this. `focal` has the focal genome, or is not set.
  WindowCounts(std::size_t outgroups, std::size_t files, const std::vector<Chromosome>& chromosomes,
               const OpenFocal& focal, SimdLevel simd, std::int64_t window, RecordPatterns& records)
      : outgroups_(outgroups),
        files_(focal ? 0 : files),
        chromosomes_(chromosomes),
        simd_(simd),
        piece_(std::min(kLongestPiece, window)),
        records_(records) {
    for (std::size_t c = 0; c < chromosomes.size(); ++c) {
      parts_.emplace_back(static_cast<std::size_t>((chromosomes[c].length + piece_ - 1) / piece_));
      if (focal) focal_.push_back(focal(c));
    }
  }

  std::size_t sequences() const override { return outgroups_ + files_; }
  SimdLevel simd() const override { return simd_; }
  std::int64_t piece() const override { return piece_; }

  void do_piece(const WindowPiece& piece, const SequenceSources& sources, std::size_t /*device*/,
                const TaskContext& context) override {
    const auto& [chromosome, number, start, end] = piece;
    std::vector<std::unique_ptr<PatternCounter>> counter;
    counter.push_back(make_pattern_counter(leaves()));
    StretchReader reader(sources, chromosomes_[chromosome].length, 0);
    std::vector<const char*> species(outgroups_ + 1);
    std::vector<char> focal(packed_size(kCountedAtOnce));
    species.back() = focal.data();
    for (std::int64_t from = start; from < end; from += kCountedAtOnce) {
      context.throw_if_stopped();
      const Stretch stretch = reader.read(from, std::min(from + kCountedAtOnce, end));
      std::copy_n(stretch.species, outgroups_, species.begin());
      take_focal(chromosome, stretch, focal.data());
      counter.front()->count({species.data(), stretch.form, stretch.size()}, simd_);
      take_letters(chromosome, stretch);
    }
    parts_[chromosome][number] = sum_of(counter, leaves());
  }

  std::vector<PatternCounts> counts() const {
    std::vector<PatternCounts> counts;
    for (const auto& parts : parts_) counts.push_back(sum_of(parts, leaves()));
    return counts;
  }

 private:
  int leaves() const { return static_cast<int>(outgroups_) + 1; }

  // Writes the focal bases of a stretch.
  void take_focal(std::size_t chromosome, const Stretch& stretch, char* packed) const {
    const std::size_t n = stretch.size();
    if (files_ == 0) {
      std::vector<char> buffer(n);
      const char* const bases = focal_[chromosome]->bases(stretch.start, n, buffer.data());
      if (focal_[chromosome]->form() == SequenceForm::kPacked) {
        std::copy_n(bases, packed_size(n), packed);
      } else {
        pack_bases(bases, n, 0, packed, simd_);
      }
      return;
    }
    std::copy_n(stretch.species[outgroups_], packed_size(n), packed);
    for (std::size_t f = 1; f < files_; ++f) {
      fill_missing(packed, stretch.species[outgroups_ + f], packed_size(n));
    }
  }

  void take_letters(std::size_t chromosome, const Stretch& stretch) {
    records_.for_sites(chromosome, stretch.start, stretch.end,
                       [&](std::int64_t position, char* letters) {
                         const auto at = static_cast<std::size_t>(position - stretch.start);
                         for (std::size_t i = 0; i < outgroups_; ++i) {
                           letters[i] = upper_base(packed_code(stretch.species[i], at));
                         }
                       });
  }

  std::size_t outgroups_;
  std::size_t files_;  // whose focal rows are taken
  const std::vector<Chromosome>& chromosomes_;
  SimdLevel simd_;
  std::int64_t piece_;  // positions
  RecordPatterns& records_;
  SequenceSources focal_;                          // by chromosome, if it comes from a genome
  std::vector<std::vector<PatternCounts>> parts_;  // by chromosome, then piece
};

// Keeps the letters of one outgroup at records.
class RecordStore : public SequenceStore {
 public:
  explicit RecordStore(RecordPatterns& records) : records_(records) {}
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override {
    for_sites(chromosome, position, n,
              [&](std::int64_t at, char* letter) { *letter = bases[at - position]; });
  }
  void read(std::size_t chromosome, std::int64_t position, char* letters, std::size_t n) override {
    std::fill_n(letters, n, 'N');
    for_sites(chromosome, position, n, [&](std::int64_t at, const char* letter) {
      if (*letter != RecordPatterns::kNoLetter) letters[at - position] = *letter;
    });
  }
  void commit(const TaskContext& /*context*/) override {}

 private:
  template <class Use>
  void for_sites(std::size_t chromosome, std::int64_t position, std::size_t n, Use use) {
    records_.for_sites(chromosome, position, position + static_cast<std::int64_t>(n), use);
  }

  RecordPatterns& records_;
};

}  // namespace

CountedAlignments count_alignments(const std::vector<OutgroupAlignment>& outgroups,
                                   const std::vector<Chromosome>& chromosomes,
                                   const ProjectionOptions& options, int threads,
                                   RecordPatterns& records, JobControl& control,
                                   const WindowLimits& limits) {
  CountedAlignments result;
  records.require_within(chromosomes);
  run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
    WindowCounts work(outgroups.size(), alignment_files(outgroups).size(), chromosomes,
                      options.open_focal, options.simd, limits.window, records);
    WindowSchedule schedule(work, chromosomes, limits.window);
    result.reports = read_windows(outgroups, !options.open_focal, chromosomes, options, schedule,
                                  limits, {}, control, context);
    result.counts = work.counts();
  });
  return result;
}

ProjectionReport take_letters(const OutgroupAlignment& outgroup,
                              const std::vector<Chromosome>& chromosomes,
                              const ProjectionOptions& options, int threads,
                              RecordPatterns& records, JobControl& control) {
  records.require_within(chromosomes);
  std::vector<Alignment> alignments;
  alignments.push_back({outgroup.species, outgroup.file, std::make_unique<RecordStore>(records),
                        outgroup.name_in_file});
  return project_alignments(alignments, chromosomes, options, threads, control).front();
}

}  // namespace ancify
