// Projects one outgroup: its bases in the focal genome's coordinates, from pairs of aligned rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ancestry/projection/focal_check.h"
#include "core/ancestry/projection/placed_blocks.h"
#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// The rule for a position that several blocks cover: the block with the best score counts, all of
// them, or the last of the file. If the counting blocks have different bases, the base is unknown.
enum class Overlaps { kScore, kMissing, kLast };

// The score by which a block is placed.
inline double score_in(Overlaps overlaps, const AlignedPair& pair) {
  return overlaps == Overlaps::kScore ? pair.score : 0;
}

struct ProjectionOptions {
  OnBadBlock on_bad_block = OnBadBlock::kError;
  Overlaps overlaps = Overlaps::kScore;
  // Bytes of text, and of the file, at a time; best if they fit a core's own cache.
  std::size_t chunk_size = 1 << 18;
  // Positions of an outgroup that are gathered for its store. They suit a core's own cache too.
  std::size_t gathered = 1 << 16;
  SimdLevel simd = SimdLevel::kScalar;
  std::vector<ChromosomeAlias> aliases;  // that files may have for the chromosomes
  bool focal_row = false;                // whether the last target takes the focal rows
  // True if pairs describe insertions in the outgroup: they then have AlignedPair::continues, and
  // the inserted bases of chains.
  bool insertions = false;
  // The focal species' name and all its chromosomes, in files of several species.
  std::string focal_name;
  std::vector<std::string> focal_chromosomes;
  OpenFocal open_focal = {};  // if set, blocks are compared with the focal genome
  // The outgroups' genomes, 2bit files, by the alignment files that lack bases.
  std::unordered_map<std::string, std::string> genomes = {};
};

// The report on one outgroup of an alignment.
struct ProjectionReport {
  std::vector<std::int64_t> blocks;      // used, for each chromosome
  std::int64_t passed_over = 0;          // blocks on chromosomes that were not asked for
  std::vector<std::string> other_names;  // the first few such chromosomes
  std::int64_t bad = 0;                  // blocks left out
  std::vector<BadBlocks::Example> bad_examples;
  std::int64_t duplicates = 0;  // further rows of the outgroup in blocks, besides one a block
  std::int64_t shared = 0;      // positions that several blocks cover
  std::int64_t secondary = 0;   // alignments left out, as others of the same bases are better
};

// The letter of equally good rows: N if they differ; lower case if only their case differs. N is
// final, so that the order of several rows does not matter.
char agreed_letter(char letter, char other);

// The problem of a pair of rows of equal length on this chromosome; empty if there is none.
std::string problem_of(const AlignedPair& pair, const Chromosome& chromosome);
// The message for a pair whose rows differ in length.
std::string rows_differ_in_length(const AlignedPair& pair);

// Checks pairs of rows, hands on the good ones, and makes the report.
class PairChecker : public PairSink {
 public:
  // `file` is for messages. `chromosomes` and `check` must outlive this. If `check` is null, blocks
  // are not compared with the focal genome.
  PairChecker(const std::string& file, const std::vector<Chromosome>& chromosomes,
              FocalCheck* check, const ProjectionOptions& options);

  void project(const AlignedPair& pair, std::int64_t duplicates) final;
  void pass_over(std::string_view chromosome) final;
  void leave_out_secondary() final { ++report_.secondary; }
  void bad(std::int64_t line, const std::string& problem) final { bad_.add(line, problem); }
  ProjectionReport report() const;

 protected:
  // Takes a good pair.
  virtual void write(const AlignedPair& pair, std::size_t chromosome) = 0;
  const std::vector<Chromosome>& chromosomes() const { return chromosomes_; }

 private:
  const std::vector<Chromosome>& chromosomes_;
  // The chromosome of this name; empty if it is unknown.
  std::optional<std::size_t> find(std::string_view name);

  FocalCheck* check_;
  BadBlocks bad_;
  ChromosomeNames names_;
  std::size_t last_ = 0;  // the chromosome found last
  ProjectionReport report_;
};

// Projects pairs of rows into a store. A column with a focal letter is a position. Uncovered
// positions become N.
class Projector : public PairChecker {
 public:
  // The arguments of PairChecker. `store` and `context` must outlive this too. Interrupted if the
  // task is stopped.
  Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
            SequenceStore& store, FocalCheck* check, const ProjectionOptions& options,
            const TaskContext& context);

  // Writes all gathered positions to the store. The file has passed the positions before this one,
  // which get N if they are uncovered.
  void flush(std::size_t chromosome, std::int64_t position) {
    write_gathered();
    fill_rest(chromosome, position);
  }
  // Fills uncovered positions with N, and writes the rest to the store.
  void finish();
  std::int64_t shared() const { return placed_.shared(); }

 private:
  void write(const AlignedPair& pair, std::size_t chromosome) override;
  // Writes a piece of a row, of which `letters` has the positions.
  void write_piece(std::size_t chromosome, const PlacedBlocks::Piece& piece, const char* letters);
  void fill_up_to(std::size_t chromosome, std::int64_t position);
  void fill_rest(std::size_t chromosome, std::int64_t position);
  void go_to(std::size_t chromosome, std::int64_t position);
  // Calls put(out, from, n) for pieces of the next n characters or columns. put() writes at most n
  // bases and returns their number.
  template <class Put>
  void gather(std::size_t n, Put put);
  void write_gathered();

  SequenceStore& store_;
  const TaskContext& context_;
  SimdLevel simd_;
  bool focal_row_;
  Overlaps overlaps_;
  PlacedBlocks placed_;
  std::vector<char> letters_;         // of a row that is written in pieces
  std::vector<char> earlier_;         // letters of blocks before, where the scores are equal
  std::vector<std::int64_t> filled_;  // end of the positions gathered

  // Blocks are short and nearly always in order. Their bases are gathered, and go to the store in
  // pieces that fit a core's own cache.
  std::vector<char> gathered_;
  std::size_t n_gathered_ = 0;
  std::size_t chromosome_ = 0;  // of the gathered bases
  std::int64_t position_ = 0;
};

}  // namespace ancify
