// Reads the focal genome from FASTA or 2bit, or assembles it from the focal rows of alignments.
#include "core/ancestry/projection/focal_genome.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/twobit.h"
#include "core/genome/bases.h"
#include "core/io/file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;

// Copies the sequences of a genome's file to their chromosomes in a store.
class FocalFasta {
 public:
  FocalFasta(const std::string& file, const std::vector<Chromosome>& chromosomes,
             const std::vector<ChromosomeAlias>& aliases, SequenceStore& store)
      : file_(file),
        chromosomes_(chromosomes),
        store_(store),
        wanted_names_(chromosomes, aliases),
        found_(chromosomes.size()) {}

  void begin(std::string_view name, std::int64_t line) {
    end();
    constexpr std::size_t most_names = 5;
    if (names_.size() < most_names) names_.emplace_back(name);
    line_ = line;
    length_ = written_ = 0;
    const auto found = wanted_names_.find(name);
    wanted_ = found.has_value();
    if (!wanted_) return;
    chromosome_ = *found;
    if (found_[chromosome_]) {
      throw FormatError(file_, line, "a second sequence is called " + excerpt(name));
    }
    found_[chromosome_] = true;
  }

  void add(std::string_view bases) {
    length_ += static_cast<std::int64_t>(bases.size());
    if (!wanted_ || length_ > chromosomes_[chromosome_].length) return;
    gathered_ += bases;
    if (gathered_.size() >= kPiece) write_gathered();
  }

  // Call it after the last sequence. FormatError if a chromosome is missing.
  void finish() {
    end();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) throw_missing(chromosomes_[i].name);
    }
  }

 private:
  // Ends the current sequence. FormatError if a wanted one has another length than its chromosome.
  void end() {
    if (!wanted_) return;
    write_gathered();
    const auto& [name, length] = chromosomes_[chromosome_];
    if (length_ == length) return;
    throw FormatError(file_, line_,
                      "the sequence " + excerpt(name) + " has " + std::to_string(length_) +
                          " bases, but " + std::to_string(length) + " in the table of lengths" +
                          ": give the focal genome that was aligned");
  }

  // The gathered bases always end at the current position.
  void write_gathered() {
    if (!gathered_.empty()) {
      store_.write(chromosome_, written_, gathered_.data(), gathered_.size());
    }
    written_ += static_cast<std::int64_t>(gathered_.size());
    gathered_.clear();
  }

  [[noreturn]] void throw_missing(const std::string& name) const {
    std::string list;
    for (const auto& found : names_) list += (list.empty() ? "" : ", ") + excerpt(found);
    throw FormatError(file_, 0,
                      "the file has no sequence called " + excerpt(name) +
                          (list.empty() ? "" : "; its first sequences are " + list));
  }

  const std::string& file_;
  const std::vector<Chromosome>& chromosomes_;
  SequenceStore& store_;
  ChromosomeNames wanted_names_;
  std::vector<bool> found_;
  std::vector<std::string> names_;  // the first few names in the file
  bool wanted_ = false;             // whether the current sequence is wanted
  std::size_t chromosome_ = 0;      // its chromosome
  std::int64_t line_ = 0;
  std::int64_t length_ = 0;
  std::int64_t written_ = 0;
  std::string gathered_;
};

// The bases of several files that are read at the same time. At each position the first file's base
// wins. The largest byte wins, so the order of arrival does not matter: a byte is 0 for no base,
// else 255 - 4 * (rank of the file) - (base code).
class FirstBases {
 public:
  static constexpr int kRanks = 63;  // rank 0 is for bases of earlier files

  explicit FirstBases(const std::vector<Chromosome>& chromosomes)
      : chromosomes_(chromosomes),
        memory_(chromosomes, [](std::size_t length) { return length; }) {}

  void add(int rank, std::size_t chromosome, std::int64_t position, const char* bases,
           std::size_t n) {
    while (n > 0) {
      const auto at = static_cast<std::size_t>(position);
      const std::size_t region = at / kRegion;
      const std::size_t here = std::min(n, (region + 1) * kRegion - at);
      const std::lock_guard<std::mutex> lock(locks_[(chromosome + region) % locks_.size()]);
      keep_largest(rank, bases, here, memory_.at(chromosome) + position);
      position += static_cast<std::int64_t>(here);
      bases += here;
      n -= here;
    }
  }

  // Gives all bases so far rank 0.
  void make_first(const TaskContext& context) {
    for_each_piece(context, [](std::size_t, std::int64_t, char* bytes, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto byte = static_cast<std::uint8_t>(bytes[i]);
        bytes[i] = static_cast<char>(byte == 0 ? 0 : byte | 0xfc);
      }
    });
  }

  void write_to(SequenceStore& store, const TaskContext& context) {
    std::string bases(kPiece, 'N');
    for_each_piece(
        context, [&](std::size_t chromosome, std::int64_t start, const char* bytes, std::size_t n) {
          for (std::size_t i = 0; i < n; ++i) {
            const auto byte = static_cast<std::uint8_t>(bytes[i]);
            bases[i] = byte == 0 ? 'N' : upper_base(3 - byte % 4);
          }
          store.write(chromosome, start, bases.data(), n);
        });
  }

 private:
  static constexpr std::size_t kRegion = std::size_t{1} << 20;  // positions that share a lock

  static void keep_largest(int rank, const char* bases, std::size_t n, char* bytes) {
    const auto first = static_cast<std::uint8_t>(255 - kBases * rank);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t code = base_code(bases[i]);
      const auto is_base = static_cast<std::uint8_t>(-(code != kMissing));
      const auto byte = static_cast<std::uint8_t>((first - code) & is_base);
      bytes[i] = static_cast<char>(std::max(static_cast<std::uint8_t>(bytes[i]), byte));
    }
  }

  template <class Use>
  void for_each_piece(const TaskContext& context, Use use) {
    constexpr auto piece = static_cast<std::int64_t>(kPiece);
    for (std::size_t c = 0; c < chromosomes_.size(); ++c) {
      for (std::int64_t start = 0; start < chromosomes_[c].length; start += piece) {
        context.throw_if_stopped();
        const auto n = static_cast<std::size_t>(std::min(piece, chromosomes_[c].length - start));
        use(c, start, memory_.at(c) + start, n);
      }
    }
  }

  const std::vector<Chromosome>& chromosomes_;
  ChromosomeMemory memory_;
  std::array<std::mutex, 64> locks_;
};

// Passes the bases of one file to FirstBases.
class OneOfFirstBases : public SequenceStore {
 public:
  OneOfFirstBases(FirstBases& all, int rank) : all_(all), rank_(rank) {}
  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override {
    all_.add(rank_, chromosome, position, bases, n);
  }
  void commit(const TaskContext&) override {}

 private:
  FirstBases& all_;
  int rank_;
};

}  // namespace

void focal_from_fasta(const std::string& fasta, const std::vector<Chromosome>& chromosomes,
                      const std::vector<ChromosomeAlias>& aliases, SequenceStore& store,
                      int threads, JobControl& control) {
  control.expect(InputFile(fasta).size());
  run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
    FocalFasta focal(fasta, chromosomes, aliases, store);
    const FastaSink sink = {
        [&](std::string_view name, std::int64_t line) { focal.begin(name, line); },
        [&](std::string_view bases) { focal.add(bases); }};
    read_genome(fasta, sink, control, context);
    focal.finish();
    context.throw_if_stopped();
    store.commit(context);
  });
}

OpenFocal focal_in(const PackedStore& store) {
  return [&store](std::size_t i) { return memory_source(store.packed(i), SequenceForm::kPacked); };
}

OpenFocal focal_in(const std::string& folder, const std::vector<Chromosome>& chromosomes,
                   const InputIdentities& inputs) {
  return [folder, &chromosomes, inputs](std::size_t i) {
    const auto& [name, length] = chromosomes[i];
    return file_source(sequence_path(folder, name), name, length, inputs);
  };
}

void focal_from_alignments(const std::vector<std::string>& alignments,
                           const std::vector<Chromosome>& chromosomes,
                           const ProjectionOptions& options, SequenceStore& store, int threads,
                           JobControl& control) {
  for (const auto& file : alignments) control.expect(InputFile(file).size());
  FirstBases bases(chromosomes);
  constexpr std::size_t most_at_once = FirstBases::kRanks - 1;
  for (std::size_t first = 0; first < alignments.size(); first += most_at_once) {
    const std::size_t n = std::min(alignments.size() - first, most_at_once);
    run_tasks(control, threads, static_cast<std::int64_t>(n),
              [&](std::int64_t i, const TaskContext& context) {
                OneOfFirstBases one(bases, static_cast<int>(i) + 1);
                project_alignment(alignments[first + static_cast<std::size_t>(i)],
                                  {{"", &one, true}}, chromosomes, options, control, context);
              });
    run_tasks(control, 1, 1,
              [&](std::int64_t, const TaskContext& context) { bases.make_first(context); });
  }
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    bases.write_to(store, context);
    store.commit(context);
  });
}

}  // namespace ancify
