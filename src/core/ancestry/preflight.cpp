#include "core/ancestry/preflight.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/ancestry/alignment_pairs.h"
#include "core/device/simd.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/bases.h"
#include "core/io/byte_source.h"
#include "core/io/fasta.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"
#include "core/io/row_scan.h"
#include "core/io/text.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

// ---- How much is read --------------------------------------------------------------------------

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kMostText = 16 * kMebi;
constexpr std::int64_t kLeastText = kMebi;
constexpr std::int64_t kBriefShare = 64;  // of a file's bytes
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// A text that ends early.
class FirstText : public ByteSource {
 public:
  FirstText(const std::string& path, std::int64_t most_text, const PreflightOptions& options,
            const TaskContext& context)
      : source_(open_text(path, options.projection.chunk_size, context)),
        most_text_(options.brief ? kMostText : most_text),
        most_consumed_(options.brief ? InputFile(path).size() / kBriefShare : kNoLimit) {}

  std::size_t read(char* out, std::size_t n) override {
    if (enough_ || given_ >= most_text_) return 0;
    if (given_ >= kLeastText && source_->consumed() >= most_consumed_) return 0;
    const std::size_t got =
        source_->read(out, std::min(n, static_cast<std::size_t>(most_text_ - given_)));
    given_ += static_cast<std::int64_t>(got);
    ended_ = got == 0;
    return got;
  }
  std::int64_t consumed() const override { return source_->consumed(); }

  // No more is wanted.
  void stop() { enough_ = true; }
  bool ended() const { return ended_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::int64_t most_text_;
  std::int64_t most_consumed_;
  std::int64_t given_ = 0;
  bool ended_ = false;
  std::atomic<bool> enough_{false};  // as text is read ahead on another thread
};

// ---- What is remembered of each position -------------------------------------------------------

// The focal base's code, of which kMissing is a bit of its own, and whether the outgroup has a base
// and another one.
constexpr std::uint8_t kFocal = 7;
constexpr std::uint8_t kKnown = 8;
constexpr std::uint8_t kDiffers = 16;

constexpr std::size_t kPage = 512;
using Page = std::array<std::uint8_t, kPage>;

// Sums over the positions of a page.
struct PageSums {
  int sites = 0;
  int first = 0;
  int second = 0;
};

// Calls count(i, sites, first, second) for each position; it adds 0 or 1 to each. In bytes, which a
// stretch of this length cannot overflow, so that compilers make good vector code of it.
template <class Count>
ANCIFY_ALWAYS_INLINE PageSums sum_page(Count count) {
  constexpr std::size_t stretch = 128;
  PageSums sums;
  for (std::size_t at = 0; at < kPage; at += stretch) {
    std::uint8_t sites = 0;
    std::uint8_t first = 0;
    std::uint8_t second = 0;
    for (std::size_t i = at; i < at + stretch; ++i) count(i, sites, first, second);
    sums.sites += sites;
    sums.first += first;
    sums.second += second;
  }
  return sums;
}

constexpr std::uint8_t flag(int value) { return static_cast<std::uint8_t>(value != 0); }

class SeenPositions {
 public:
  static std::uint64_t key(std::size_t chromosome, std::int64_t position) {
    return static_cast<std::uint64_t>(chromosome) << kPageBits |
           static_cast<std::uint64_t>(position) / kPage;
  }
  static std::int64_t position(std::uint64_t key, std::size_t in_page) {
    constexpr std::uint64_t of_page = (std::uint64_t{1} << kPageBits) - 1;
    return static_cast<std::int64_t>((key & of_page) * kPage + in_page);
  }
  static std::size_t chromosome(std::uint64_t key) {
    return static_cast<std::size_t>(key >> kPageBits);
  }

  // Where blocks overlap the later one stays.
  void put(std::size_t chromosome, std::int64_t position, const std::uint8_t* states,
           std::size_t n) {
    while (n > 0) {
      const std::size_t in_page = static_cast<std::size_t>(position) % kPage;
      const std::size_t here = std::min(n, kPage - in_page);
      std::copy_n(states, here, &page(key(chromosome, position))[in_page]);
      states += here;
      position += static_cast<std::int64_t>(here);
      n -= here;
    }
  }

  const Page* find(std::uint64_t key) const {
    const auto at = pages_.find(key);
    return at == pages_.end() ? nullptr : &at->second;
  }
  const std::map<std::uint64_t, Page>& pages() const { return pages_; }

 private:
  // Of a key: 2^49 positions on each of 2^24 chromosomes.
  static constexpr int kPageBits = 40;

  Page& page(std::uint64_t key) {
    if (last_ == nullptr || key != last_key_) {
      const auto [at, is_new] = pages_.try_emplace(key);
      if (is_new) at->second.fill(kMissing);
      last_ = &at->second;
      last_key_ = key;
    }
    return *last_;
  }

  std::map<std::uint64_t, Page> pages_;
  std::uint64_t last_key_ = 0;
  Page* last_ = nullptr;
};

PageSums divergence_of(const Page& page) {
  return sum_page([&](std::size_t i, auto& sites, auto& differ, auto&) {
    sites += flag(page[i] & kKnown);
    differ += flag(page[i] & kDiffers);
  });
}

// ---- Reading an alignment ----------------------------------------------------------------------

void make_states(const char* focal, const char* outgroup, std::size_t n, std::uint8_t* states) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t base = base_code(focal[i]);
    const std::uint8_t other = base_code(outgroup[i]);
    const auto known = static_cast<std::uint8_t>((base != kMissing) & (other != kMissing));
    const auto differs = static_cast<std::uint8_t>(known & (base != other));
    states[i] = static_cast<std::uint8_t>(base | known * kKnown | differs * kDiffers);
  }
}

// Takes the pairs of one outgroup.
class OutgroupReader : public PairSink {
 public:
  OutgroupReader(const std::string& file, const std::vector<Chromosome>& chromosomes)
      : chromosomes_(chromosomes), bad_(file, OnBadBlock::kSkip) {
    for (std::size_t i = 0; i < chromosomes.size(); ++i) index_[chromosomes[i].name] = i;
  }

  void project(const AlignedPair& pair, std::int64_t) override {
    if (pair.focal.size() != pair.outgroup.size()) {
      return bad(pair.line, rows_differ_in_length(pair));
    }
    auto& seen = see(pair.chromosome);
    seen.end = std::max(seen.end, pair.end);
    const auto found = index_.find(seen.name);
    if (found == index_.end()) return;
    const std::string problem = problem_of(pair, chromosomes_[found->second]);
    if (problem.empty()) {
      keep(pair, found->second);
    } else {
      bad(pair.line, problem);
    }
  }
  void pass_over(std::string_view chromosome) override { see(chromosome); }
  void bad(std::int64_t line, const std::string& problem) override { bad_.add(line, problem); }

  // `common`: blocks that are bad for all outgroups of the file.
  OutgroupLook result(const BadBlocks& common) const {
    OutgroupLook look;
    look.chromosomes = seen_;
    look.bad = bad_.count() + common.count();
    look.bad_examples = bad_.examples();
    auto& examples = look.bad_examples;
    examples.insert(examples.end(), common.examples().begin(), common.examples().end());
    std::sort(examples.begin(), examples.end(),
              [](const auto& a, const auto& b) { return a.line < b.line; });
    for (const auto& [key, page] : positions_.pages()) {
      const PageSums sums = divergence_of(page);
      look.sites += sums.sites;
      look.differ += sums.first;
    }
    return look;
  }
  const SeenPositions& positions() const { return positions_; }

 private:
  SeenChromosome& see(std::string_view name) {
    if (seen_.empty() || seen_[last_].name != name) {
      const auto [at, is_new] = seen_index_.emplace(name, seen_.size());
      if (is_new) seen_.push_back({std::string(name)});
      last_ = at->second;
    }
    ++seen_[last_].blocks;
    return seen_[last_];
  }

  void keep(const AlignedPair& pair, std::size_t chromosome) {
    constexpr std::size_t piece = 4096;
    std::array<char, piece> focal;
    std::array<char, piece> outgroup;
    std::array<std::uint8_t, piece> states;
    std::int64_t position = pair.start - 1;
    for (std::size_t column = 0; column < pair.focal.size(); column += piece) {
      const std::string_view row = pair.focal.substr(column, piece);
      const std::size_t n = copy_columns(row, row.data(), focal.data(), SimdLevel::kScalar);
      copy_columns(row, &pair.outgroup[column], outgroup.data(), SimdLevel::kScalar);
      make_states(focal.data(), outgroup.data(), n, states.data());
      positions_.put(chromosome, position, states.data(), n);
      position += static_cast<std::int64_t>(n);
    }
  }

  const std::vector<Chromosome>& chromosomes_;
  BadBlocks bad_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<SeenChromosome> seen_;  // in the file's order
  std::unordered_map<std::string, std::size_t> seen_index_;
  std::size_t last_ = 0;
  SeenPositions positions_;
};

// The outgroups of one file.
struct FileToLookAt {
  std::string file;
  std::vector<std::size_t> outgroups;
};

std::vector<FileToLookAt> by_file(const std::vector<PreflightOutgroup>& outgroups) {
  std::vector<FileToLookAt> files;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    const auto [at, is_new] = index.emplace(outgroups[i].file, files.size());
    if (is_new) files.push_back({outgroups[i].file, {}});
    files[at->second].outgroups.push_back(i);
  }
  return files;
}

class Look {
 public:
  Look(const std::vector<PreflightOutgroup>& outgroups, const std::vector<Chromosome>& chromosomes,
       const PreflightOptions& options)
      : outgroups_(outgroups), chromosomes_(chromosomes), options_(options) {
    for (const auto& outgroup : outgroups) readers_.emplace_back(outgroup.file, chromosomes);
    result.outgroups.resize(outgroups.size());
  }

  void read(const FileToLookAt& file, const TaskContext& context) {
    std::vector<std::string> names;
    std::vector<PairSink*> sinks;
    for (const std::size_t i : file.outgroups) {
      names.push_back(outgroups_[i].maf_name);
      sinks.push_back(&readers_[i]);
    }
    BadBlocks bad(file.file, OnBadBlock::kSkip);
    AlignmentPairs pairs(file.file, names, chromosomes_, options_.projection, bad);
    OutgroupLook ending;
    note_problem(ending, [&] {
      FirstText text(file.file, kMostText, options_, context);
      JobControl unwatched;
      for_each_chunk(text, options_.projection.chunk_size, unwatched, context,
                     [&](std::string_view part, bool last) {
                       return pairs.consume(part, last && text.ended(), sinks);
                     });
      ending.whole = text.ended();
    });
    for (std::size_t k = 0; k < file.outgroups.size(); ++k) {
      const std::size_t i = file.outgroups[k];
      auto& look = result.outgroups[i];
      look = readers_[i].result(bad);
      look.whole = ending.whole;
      look.problem = ending.problem;
      look.problem_line = ending.problem_line;
      if (look.whole) note_problem(look, [&] { pairs.throw_if_never_seen(k); });
    }
  }

  const SeenPositions& positions(std::size_t i) const { return readers_[i].positions(); }

  Preflight result;

 private:
  template <class Read>
  static void note_problem(OutgroupLook& look, Read read) {
    try {
      read();
    } catch (const Interrupted&) {
      throw;
    } catch (const FormatError& error) {
      look.problem = error.what();
      look.problem_line = error.line;
    } catch (const Error& error) {
      look.problem = error.what();
    }
  }

  const std::vector<PreflightOutgroup>& outgroups_;
  const std::vector<Chromosome>& chromosomes_;
  const PreflightOptions& options_;
  std::deque<OutgroupReader> readers_;
};

// ---- Comparing ---------------------------------------------------------------------------------

std::string place(const std::vector<Chromosome>& chromosomes, std::uint64_t key,
                  std::size_t in_page) {
  return chromosomes[SeenPositions::chromosome(key)].name + ":" +
         std::to_string(SeenPositions::position(key, in_page) + 1);
}

bool focal_differs(std::uint8_t a, std::uint8_t b) {
  return (a & kFocal) != kMissing && (b & kFocal) != kMissing && (a & kFocal) != (b & kFocal);
}

PageSums compare_focal(const Page& a, const Page& b) {
  return sum_page([&](std::size_t i, auto& sites, auto& first, auto&) {
    const std::uint8_t both = flag((a[i] & kMissing) == 0) & flag((b[i] & kMissing) == 0);
    sites += both;
    first += both & flag((a[i] ^ b[i]) & kFocal);
  });
}

PageSums compare_divergence(const Page& a, const Page& b) {
  return sum_page([&](std::size_t i, auto& sites, auto& first, auto& second) {
    const std::uint8_t both = flag(a[i] & b[i] & kKnown);
    sites += both;
    first += both & flag(a[i] & kDiffers);
    second += both & flag(b[i] & kDiffers);
  });
}

void compare(const SeenPositions& a, const SeenPositions& b,
             const std::vector<Chromosome>& chromosomes, FocalComparison& result) {
  for (const auto& [key, page] : a.pages()) {
    const Page* const other = b.find(key);
    if (other == nullptr) continue;
    const PageSums sums = compare_focal(page, *other);
    if (sums.first > 0 && result.differ == 0) {
      std::size_t i = 0;
      while (!focal_differs(page[i], (*other)[i])) ++i;
      result.first_difference = place(chromosomes, key, i);
    }
    result.sites += sums.sites;
    result.differ += sums.first;
  }
}

void compare(const SeenPositions& inner, const SeenPositions& outer, DivergenceComparison& result) {
  double variance = 0;
  for (const auto& [key, page] : inner.pages()) {
    const Page* const other = outer.find(key);
    if (other == nullptr) continue;
    const PageSums sums = compare_divergence(page, *other);
    result.sites += sums.sites;
    result.inner_differ += sums.first;
    result.outer_differ += sums.second;
    const double more = sums.first - sums.second;
    variance += more * more;
  }
  const auto more = static_cast<double>(result.inner_differ - result.outer_differ);
  if (variance > 0) result.excess = more / std::sqrt(variance);
}

// Every outgroup with the few behind it that have another file: enough to tell whose focal row is
// the odd one out, in a time that grows with the outgroups and not with their pairs.
std::vector<FocalComparison> focal_comparisons(const std::vector<PreflightOutgroup>& outgroups) {
  constexpr int most_partners = 8;
  std::vector<FocalComparison> all;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    int partners = 0;
    for (std::size_t j = i + 1; j < outgroups.size() && partners < most_partners; ++j) {
      if (outgroups[j].file == outgroups[i].file) continue;
      all.push_back({i, j});
      ++partners;
    }
  }
  return all;
}

std::vector<DivergenceComparison> divergence_comparisons(
    const std::vector<PreflightOutgroup>& outgroups) {
  std::vector<DivergenceComparison> all;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    for (std::size_t j = 0; j < outgroups.size(); ++j) {
      if (outgroups[i].inner && !outgroups[j].inner) all.push_back({i, j});
    }
  }
  return all;
}

// ---- The focal genome --------------------------------------------------------------------------

// Takes the sequences of a FASTA file until all positions seen have come by.
class GenomeLook {
 public:
  GenomeLook(const std::vector<Chromosome>& chromosomes, Look& look)
      : chromosomes_(chromosomes),
        look_(look),
        found_(chromosomes.size()),
        last_(chromosomes.size()) {
    for (std::size_t i = 0; i < chromosomes.size(); ++i) index_[chromosomes[i].name] = i;
    for (std::size_t i = 0; i < look.result.outgroups.size(); ++i) {
      for (const auto& [key, page] : look.positions(i).pages()) {
        const std::size_t chromosome = SeenPositions::chromosome(key);
        const std::int64_t end = SeenPositions::position(key, kPage);
        last_[chromosome] =
            std::max(last_[chromosome], std::min(end, chromosomes[chromosome].length));
      }
    }
    left_ = std::count_if(last_.begin(), last_.end(), [](auto last) { return last > 0; });
  }

  void begin(std::string_view name) {
    end();
    const auto at = index_.find(std::string(name));
    wanted_ = at != index_.end();
    position_ = 0;
    if (!wanted_) return;
    chromosome_ = at->second;
    found_[chromosome_] = true;
  }

  void add(std::string_view bases) {
    if (!wanted_) return;
    const std::int64_t before = position_;
    if (before < last_[chromosome_]) compare(bases);
    position_ += static_cast<std::int64_t>(bases.size());
    if (before < last_[chromosome_] && position_ >= last_[chromosome_]) --left_;
  }

  bool has_all() const { return left_ == 0; }

  // `whole`: the file has ended.
  void finish(bool whole) {
    if (!whole) return;
    end();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) note("there is no sequence called " + excerpt(chromosomes_[i].name));
    }
  }

 private:
  void end() {
    if (!wanted_) return;
    if (position_ < last_[chromosome_]) --left_;
    const auto& [name, length] = chromosomes_[chromosome_];
    if (position_ == length) return;
    note("the sequence " + excerpt(name) + " has " + std::to_string(position_) +
         " bases, and in the table of lengths " + std::to_string(length));
  }

  void note(const std::string& problem) {
    if (look_.result.fasta_problem.empty()) look_.result.fasta_problem = problem;
  }

  void compare(std::string_view bases) {
    for (std::int64_t at = position_; !bases.empty();) {
      const std::size_t in_page = static_cast<std::size_t>(at) % kPage;
      const std::size_t here = std::min(bases.size(), kPage - in_page);
      const std::uint64_t key = SeenPositions::key(chromosome_, at);
      for (std::size_t i = 0; i < look_.result.outgroups.size(); ++i) {
        const Page* const page = look_.positions(i).find(key);
        if (page != nullptr) compare(&(*page)[in_page], bases.substr(0, here), at, i);
      }
      at += static_cast<std::int64_t>(here);
      bases.remove_prefix(here);
    }
  }

  void compare(const std::uint8_t* states, std::string_view bases, std::int64_t position,
               std::size_t outgroup) {
    auto& look = look_.result.outgroups[outgroup];
    int compared = 0;
    int wrong = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const int seen = states[i] & kFocal;
      const int base = base_code(bases[i]);
      const int both = (seen != kMissing) & (base != kMissing);
      compared += both;
      wrong += both & (seen != base);
    }
    if (wrong > 0 && look.wrong == 0) {
      std::size_t i = 0;
      while (!focal_differs(states[i], base_code(bases[i]))) ++i;
      look.first_wrong = chromosomes_[chromosome_].name + ":" +
                         std::to_string(position + static_cast<std::int64_t>(i) + 1) + ", " +
                         upper_base(states[i] & kFocal) + " for " + bases[i];
    }
    look.compared += compared;
    look.wrong += wrong;
  }

  const std::vector<Chromosome>& chromosomes_;
  Look& look_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> found_;
  std::vector<std::int64_t> last_;  // behind all that was seen of a chromosome
  std::int64_t left_ = 0;           // chromosomes that were seen and have not come by
  bool wanted_ = false;             // the sequence that is read, which is
  std::size_t chromosome_ = 0;      // this one
  std::int64_t position_ = 0;
};

void look_at_genome(const PreflightOptions& options, const std::vector<Chromosome>& chromosomes,
                    Look& look, const TaskContext& context) {
  try {
    GenomeLook genome(chromosomes, look);
    FirstText text(options.focal_fasta, kNoLimit, options, context);
    const FastaSink sink = {[&](std::string_view name, std::int64_t) { genome.begin(name); },
                            [&](std::string_view bases) {
                              genome.add(bases);
                              if (genome.has_all()) text.stop();
                            }};
    JobControl unwatched;
    read_fasta(options.focal_fasta, text, sink, unwatched, context, options.projection.chunk_size);
    genome.finish(text.ended());
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    look.result.fasta_problem = error.what();
  }
}

}  // namespace

Preflight look_at_alignments(const std::vector<PreflightOutgroup>& outgroups,
                             const std::vector<Chromosome>& chromosomes,
                             const PreflightOptions& options, int threads, JobControl& control) {
  const auto files = by_file(outgroups);
  Look look(outgroups, chromosomes, options);
  run_tasks(control, threads, static_cast<std::int64_t>(files.size()),
            [&](std::int64_t f, const TaskContext& context) {
              look.read(files[static_cast<std::size_t>(f)], context);
            });
  auto& result = look.result;
  result.focal = focal_comparisons(outgroups);
  result.divergence = divergence_comparisons(outgroups);
  const auto n_focal = static_cast<std::int64_t>(result.focal.size());
  const auto n = n_focal + static_cast<std::int64_t>(result.divergence.size());
  run_tasks(control, threads, n, [&](std::int64_t k, const TaskContext& context) {
    context.throw_if_stopped();
    if (k < n_focal) {
      auto& pair = result.focal[static_cast<std::size_t>(k)];
      compare(look.positions(pair.first), look.positions(pair.second), chromosomes, pair);
    } else {
      auto& pair = result.divergence[static_cast<std::size_t>(k - n_focal)];
      compare(look.positions(pair.inner), look.positions(pair.outer), pair);
    }
  });
  if (!options.focal_fasta.empty()) {
    run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
      look_at_genome(options, chromosomes, look, context);
    });
  }
  return std::move(look.result);
}

}  // namespace ancify
