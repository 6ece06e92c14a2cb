// Reads the beginning of alignments, and compares their rows. For an inner and an outer outgroup, d
// is the number of inner minus outer differences on a page of positions; their excess is
//   sum over pages of d / sqrt(sum over pages of d^2)
#include "core/ancestry/projection/preflight.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/ancestry/projection/alignment_formats.h"
#include "core/device/simd.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/row_scan.h"
#include "core/formats/sequence/fasta.h"
#include "core/formats/sequence/twobit.h"
#include "core/genome/bases.h"
#include "core/genome/bases_avx512.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// ---- Limits of reading -------------------------------------------------------------------------

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kMostText = 16 * kMebi;
constexpr std::int64_t kLeastText = kMebi;
constexpr std::int64_t kBriefShare = 256;  // a brief look reads 1/256 of a file's bytes
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// A text that ends early: after enough text, enough bytes, or stop().
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
  const std::string& path() const override { return source_->path(); }

  // Ends the text.
  void stop() { enough_ = true; }
  bool ended() const { return ended_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::int64_t most_text_;
  std::int64_t most_consumed_;
  std::int64_t given_ = 0;
  bool ended_ = false;
  std::atomic<bool> enough_{false};  // because another thread reads ahead
};

// ---- The record of each position ---------------------------------------------------------------

// Positions of a word, one bit each.
constexpr std::size_t kWord = 64;

// The bases of a word: whether each is known, and the two bits of its code.
struct WordOfBases {
  std::uint64_t known = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

#if defined(__x86_64__)
ANCIFY_TARGET_AVX512 WordOfBases word_avx512(const char* letters) {
  const __m512i codes = load_base_codes(letters);
  return {~_mm512_test_epi8_mask(codes, _mm512_set1_epi8(kMissing)),
          _mm512_test_epi8_mask(codes, _mm512_set1_epi8(1)),
          _mm512_test_epi8_mask(codes, _mm512_set1_epi8(2))};
}
#endif

// Eight bytes as a number, the first byte lowest.
std::uint64_t first_lowest(const std::uint8_t* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  eight = __builtin_bswap64(eight);
#endif
  return eight;
}

// Bit b of each of eight bytes, which the product gathers in its highest byte.
std::uint64_t bits_of(std::uint64_t bytes, int b) {
  return (bytes >> b & 0x0101010101010101) * 0x0102040810204080 >> 56;
}

WordOfBases word_scalar(const char* letters) {
  std::array<std::uint8_t, kWord> codes;
  for (std::size_t i = 0; i < kWord; ++i) codes[i] = base_code(letters[i]);
  WordOfBases word;
  for (std::size_t i = 0; i < kWord; i += 8) {
    const std::uint64_t eight = first_lowest(&codes[i]);
    word.known |= (bits_of(eight, 2) ^ 0xFF) << i;
    word.low |= bits_of(eight, 0) << i;
    word.high |= bits_of(eight, 1) << i;
  }
  return word;
}

WordOfBases whole_word(const char* letters, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return word_avx512(letters);
#endif
  (void)level;
  return word_scalar(letters);
}

// The word of up to 64 letters, the first one at `offset`; other positions are unknown.
WordOfBases word_of(std::string_view letters, std::size_t offset, SimdLevel level) {
  if (letters.size() == kWord) return whole_word(letters.data(), level);
  std::array<char, kWord> text;
  text.fill('N');
  std::copy(letters.begin(), letters.end(), &text[offset]);
  return whole_word(text.data(), level);
}

std::uint64_t both_known(const WordOfBases& a, const WordOfBases& b) { return a.known & b.known; }

// The positions where both are known and differ.
std::uint64_t different(const WordOfBases& a, const WordOfBases& b) {
  return both_known(a, b) & ((a.low ^ b.low) | (a.high ^ b.high));
}

int count(std::uint64_t positions) { return __builtin_popcountll(positions); }

std::size_t first_of(std::uint64_t positions) {
  return static_cast<std::size_t>(__builtin_ctzll(positions));
}

char letter_at(const WordOfBases& word, std::size_t i) {
  return upper_base(static_cast<int>((word.low >> i & 1) + 2 * (word.high >> i & 1)));
}

struct SeenWord {
  WordOfBases focal;
  std::uint64_t known = 0;    // where the outgroup has a base too
  std::uint64_t differs = 0;  // where it differs from the focal one
};

constexpr std::size_t kPage = 512;  // positions

struct Page {
  std::uint64_t key;
  std::array<SeenWord, kPage / kWord> words;
};

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

  // Stores the letters of a block; where blocks overlap, the later one wins.
  void put(std::size_t chromosome, std::int64_t position, std::string_view focal,
           std::string_view outgroup, SimdLevel level) {
    while (!focal.empty()) {
      const std::size_t in_page = static_cast<std::size_t>(position) % kPage;
      const std::size_t offset = in_page % kWord;
      const std::size_t here = std::min(focal.size(), kWord - offset);
      put_word(page(key(chromosome, position)).words[in_page / kWord], focal.substr(0, here),
               outgroup.substr(0, here), offset, level);
      focal.remove_prefix(here);
      outgroup.remove_prefix(here);
      position += static_cast<std::int64_t>(here);
    }
  }

  const Page* find(std::uint64_t key) const {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &pages_[at->second];
  }
  // In the order in which the file reaches them.
  const std::vector<Page>& pages() const { return pages_; }

 private:
  // The low bits of a key are the page: 2^49 positions on each of 2^24 chromosomes.
  static constexpr int kPageBits = 40;

  static void put_word(SeenWord& word, std::string_view focal, std::string_view outgroup,
                       std::size_t offset, SimdLevel level) {
    const WordOfBases base = word_of(focal, offset, level);
    const WordOfBases other = word_of(outgroup, offset, level);
    const std::uint64_t here = ~std::uint64_t{0} >> (kWord - focal.size()) << offset;
    const auto put = [&](std::uint64_t& old, std::uint64_t now) {
      old = (old & ~here) | (now & here);
    };
    put(word.focal.known, base.known);
    put(word.focal.low, base.low);
    put(word.focal.high, base.high);
    put(word.known, both_known(base, other));
    put(word.differs, different(base, other));
  }

  Page& page(std::uint64_t key) {
    if (pages_.empty() || pages_[last_].key != key) {
      const auto [at, is_new] = index_.emplace(key, pages_.size());
      if (is_new) pages_.push_back({key, {}});
      last_ = at->second;
    }
    return pages_[last_];
  }

  std::vector<Page> pages_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::size_t last_ = 0;
};

// ---- Reading an alignment ----------------------------------------------------------------------

// Takes and remembers the pairs of one outgroup.
class OutgroupReader : public PairSink {
 public:
  OutgroupReader(const std::string& file, const std::vector<Chromosome>& chromosomes,
                 const std::vector<ChromosomeAlias>& aliases, SimdLevel simd)
      : chromosomes_(chromosomes),
        simd_(simd),
        bad_(file, OnBadBlock::kSkip),
        names_(chromosomes, aliases) {}

  void project(const AlignedPair& pair, std::int64_t) override {
    if (pair.target.size() != pair.query.size()) {
      return bad(pair.line, rows_differ_in_length(pair));
    }
    auto& seen = see(pair.chromosome);
    seen.end = std::max(seen.end, pair.end);
    const auto chromosome = names_.find(seen.name);
    if (!chromosome) return;
    const std::string problem = problem_of(pair, chromosomes_[*chromosome]);
    if (problem.empty()) {
      keep(pair, *chromosome);
    } else {
      bad(pair.line, problem);
    }
  }
  void pass_over(std::string_view chromosome) override { see(chromosome); }
  void leave_out_secondary() override { ++secondary_; }
  void bad(std::int64_t line, const std::string& problem) override { bad_.add(line, problem); }

  // `common`: blocks that are bad for all outgroups of the file.
  OutgroupPreflight result(const BadBlocks& common) const {
    OutgroupPreflight summary;
    summary.chromosomes = seen_;
    summary.secondary = secondary_;
    summary.bad = bad_.count() + common.count();
    summary.bad_examples = bad_.examples();
    auto& examples = summary.bad_examples;
    examples.insert(examples.end(), common.examples().begin(), common.examples().end());
    std::sort(examples.begin(), examples.end(),
              [](const auto& a, const auto& b) { return a.line < b.line; });
    for (const auto& page : positions_.pages()) {
      for (const auto& word : page.words) {
        summary.sites += count(word.known);
        summary.differ += count(word.differs);
      }
    }
    return summary;
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
    std::int64_t position = pair.start - 1;
    for (std::size_t column = 0; column < pair.target.size(); column += piece) {
      const std::string_view row = pair.target.substr(column, piece);
      const std::size_t n = copy_columns(row, row.data(), focal.data(), simd_);
      copy_columns(row, &pair.query[column], outgroup.data(), simd_);
      positions_.put(chromosome, position, {focal.data(), n}, {outgroup.data(), n}, simd_);
      position += static_cast<std::int64_t>(n);
    }
  }

  const std::vector<Chromosome>& chromosomes_;
  SimdLevel simd_;
  BadBlocks bad_;
  ChromosomeNames names_;
  std::vector<SeenChromosome> seen_;  // in the file's order
  std::unordered_map<std::string, std::size_t> seen_index_;
  std::size_t last_ = 0;
  std::int64_t secondary_ = 0;
  SeenPositions positions_;
};

// The outgroups of one file.
struct PreflightFile {
  std::string file;
  std::vector<std::size_t> outgroups;
};

std::vector<PreflightFile> by_file(const std::vector<PreflightOutgroup>& outgroups) {
  std::vector<PreflightFile> files;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    const auto [at, is_new] = index.emplace(outgroups[i].file, files.size());
    if (is_new) files.push_back({outgroups[i].file, {}});
    files[at->second].outgroups.push_back(i);
  }
  return files;
}

class PreflightSummary {
 public:
  PreflightSummary(const std::vector<PreflightOutgroup>& outgroups,
                   const std::vector<Chromosome>& chromosomes, const PreflightOptions& options)
      : outgroups_(outgroups), chromosomes_(chromosomes), options_(options) {
    for (const auto& outgroup : outgroups) {
      readers_.emplace_back(outgroup.file, chromosomes, options.projection.aliases,
                            options.projection.simd);
    }
    result.outgroups.resize(outgroups.size());
  }

  void read(const PreflightFile& file, const TaskContext& context) {
    std::vector<std::string> names;
    std::vector<PairSink*> sinks;
    for (const std::size_t i : file.outgroups) {
      names.push_back(outgroups_[i].name_in_file);
      sinks.push_back(&readers_[i]);
    }
    BadBlocks bad(file.file, OnBadBlock::kSkip);
    AlignmentPairs pairs(file.file, names, chromosomes_, options_.projection, context.inputs(),
                         bad);
    OutgroupPreflight ending;
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
      auto& summary = result.outgroups[i];
      summary = readers_[i].result(bad);
      summary.whole = ending.whole;
      summary.problem = ending.problem;
      summary.problem_line = ending.problem_line;
      if (summary.whole) note_problem(summary, [&] { pairs.throw_if_never_seen(k); });
    }
  }

  const SeenPositions& positions(std::size_t i) const { return readers_[i].positions(); }

  Preflight result;

 private:
  template <class Read>
  static void note_problem(OutgroupPreflight& summary, Read read) {
    try {
      read();
    } catch (const Interrupted&) {
      throw;
    } catch (const FormatError& error) {
      summary.problem = error.what();
      summary.problem_line = error.line;
    } catch (const Error& error) {
      summary.problem = error.what();
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

void compare(const SeenPositions& a, const SeenPositions& b,
             const std::vector<Chromosome>& chromosomes, FocalComparison& result) {
  std::uint64_t first = 0;  // key of the first page with a difference, in genome order
  for (const auto& page : a.pages()) {
    const Page* const other = b.find(page.key);
    if (other == nullptr) continue;
    for (std::size_t i = 0; i < page.words.size(); ++i) {
      const WordOfBases& word = page.words[i].focal;
      const WordOfBases& other_word = other->words[i].focal;
      const std::uint64_t differ = different(word, other_word);
      if (differ != 0 && (result.differ == 0 || page.key < first)) {
        first = page.key;
        result.first_difference = place(chromosomes, page.key, i * kWord + first_of(differ));
      }
      result.sites += count(both_known(word, other_word));
      result.differ += count(differ);
    }
  }
}

void compare(const SeenPositions& inner, const SeenPositions& outer, DivergenceComparison& result) {
  double variance = 0;
  for (const auto& page : inner.pages()) {
    const Page* const other = outer.find(page.key);
    if (other == nullptr) continue;
    int inner_differ = 0;
    int outer_differ = 0;
    for (std::size_t i = 0; i < page.words.size(); ++i) {
      const std::uint64_t both = page.words[i].known & other->words[i].known;
      result.sites += count(both);
      inner_differ += count(both & page.words[i].differs);
      outer_differ += count(both & other->words[i].differs);
    }
    result.inner_differ += inner_differ;
    result.outer_differ += outer_differ;
    const double more = inner_differ - outer_differ;
    variance += more * more;
  }
  const auto more = static_cast<double>(result.inner_differ - result.outer_differ);
  if (variance > 0) result.excess = more / std::sqrt(variance);
}

// Pairs of each outgroup with the next few from other files. These are enough to find the focal row
// that disagrees with the others, and their number grows only linearly with the number of
// outgroups.
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

// Compares the focal genome's file with the positions seen, until all are compared.
class GenomePreflight {
 public:
  GenomePreflight(const std::vector<Chromosome>& chromosomes,
                  const std::vector<ChromosomeAlias>& aliases, SimdLevel simd,
                  PreflightSummary& summary)
      : chromosomes_(chromosomes),
        simd_(simd),
        summary_(summary),
        names_(chromosomes, aliases),
        found_(chromosomes.size()),
        last_(chromosomes.size()) {
    for (std::size_t i = 0; i < summary.result.outgroups.size(); ++i) {
      for (const auto& page : summary.positions(i).pages()) {
        const std::size_t chromosome = SeenPositions::chromosome(page.key);
        const std::int64_t end = SeenPositions::position(page.key, kPage);
        last_[chromosome] =
            std::max(last_[chromosome], std::min(end, chromosomes[chromosome].length));
      }
    }
    left_ = std::count_if(last_.begin(), last_.end(), [](auto last) { return last > 0; });
  }

  void begin(std::string_view name) {
    end();
    const auto found = names_.find(name);
    wanted_ = found.has_value();
    position_ = 0;
    if (!wanted_) return;
    chromosome_ = *found;
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

  // `whole`: the file was read to its end.
  void finish(bool whole) {
    if (!whole) return;
    end();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) note("the file has no sequence called " + excerpt(chromosomes_[i].name));
    }
  }

 private:
  void end() {
    if (!wanted_) return;
    if (position_ < last_[chromosome_]) --left_;
    const auto& [name, length] = chromosomes_[chromosome_];
    if (position_ == length) return;
    note("the sequence " + excerpt(name) + " has " + std::to_string(position_) + " bases, but " +
         std::to_string(length) + " in the table of lengths");
  }

  void note(const std::string& problem) {
    if (summary_.result.fasta_problem.empty()) summary_.result.fasta_problem = problem;
  }

  void compare(std::string_view bases) {
    for (std::int64_t at = position_; !bases.empty();) {
      const std::size_t in_page = static_cast<std::size_t>(at) % kPage;
      const std::size_t here = std::min(bases.size(), kPage - in_page);
      compare(bases.substr(0, here), in_page, SeenPositions::key(chromosome_, at));
      at += static_cast<std::int64_t>(here);
      bases.remove_prefix(here);
    }
  }

  // Compares bases of one page.
  void compare(std::string_view bases, std::size_t in_page, std::uint64_t key) {
    std::array<WordOfBases, kPage / kWord> words;
    const std::size_t first = in_page / kWord;
    std::size_t end = first;
    for (std::size_t offset = in_page % kWord; !bases.empty(); offset = 0) {
      const std::size_t here = std::min(bases.size(), kWord - offset);
      words[end++] = word_of(bases.substr(0, here), offset, simd_);
      bases.remove_prefix(here);
    }
    for (std::size_t i = 0; i < summary_.result.outgroups.size(); ++i) {
      const Page* const page = summary_.positions(i).find(key);
      if (page == nullptr) continue;
      for (std::size_t w = first; w < end; ++w) {
        compare(page->words[w].focal, words[w], SeenPositions::position(key, w * kWord),
                summary_.result.outgroups[i]);
      }
    }
  }

  // Compares the word that begins at `position`.
  void compare(const WordOfBases& focal, const WordOfBases& genome, std::int64_t position,
               OutgroupPreflight& summary) const {
    const std::uint64_t wrong = different(focal, genome);
    if (wrong != 0 && summary.wrong == 0) {
      const std::size_t i = first_of(wrong);
      summary.first_wrong = chromosomes_[chromosome_].name + ":" +
                            std::to_string(position + static_cast<std::int64_t>(i) + 1) + ", " +
                            letter_at(focal, i) + " for " + letter_at(genome, i);
    }
    summary.compared += count(both_known(focal, genome));
    summary.wrong += count(wrong);
  }

  const std::vector<Chromosome>& chromosomes_;
  SimdLevel simd_;
  PreflightSummary& summary_;
  ChromosomeNames names_;
  std::vector<bool> found_;
  std::vector<std::int64_t> last_;  // end of the positions seen on each chromosome
  std::int64_t left_ = 0;           // chromosomes with positions still to compare
  bool wanted_ = false;             // whether the current sequence is wanted
  std::size_t chromosome_ = 0;      // its chromosome
  std::int64_t position_ = 0;
};

void look_at_genome(const PreflightOptions& options, const std::vector<Chromosome>& chromosomes,
                    PreflightSummary& summary, const TaskContext& context) {
  try {
    GenomePreflight genome(chromosomes, options.projection.aliases, options.projection.simd,
                           summary);
    JobControl unwatched;
    if (is_twobit(options.focal_fasta)) {
      const FastaSink sink = {[&](std::string_view name, std::int64_t) { genome.begin(name); },
                              [&](std::string_view bases) { genome.add(bases); }};
      return genome.finish(read_twobit(options.focal_fasta, sink, unwatched, context,
                                       [&] { return genome.has_all(); }));
    }
    FirstText text(options.focal_fasta, kNoLimit, options, context);
    const FastaSink sink = {[&](std::string_view name, std::int64_t) { genome.begin(name); },
                            [&](std::string_view bases) {
                              genome.add(bases);
                              if (genome.has_all()) text.stop();
                            }};
    read_fasta(options.focal_fasta, text, sink, unwatched, context, options.projection.chunk_size);
    genome.finish(text.ended());
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    summary.result.fasta_problem = error.what();
  }
}

}  // namespace

Preflight look_at_alignments(const std::vector<PreflightOutgroup>& outgroups,
                             const std::vector<Chromosome>& chromosomes,
                             const PreflightOptions& options, int threads, JobControl& control) {
  const auto files = by_file(outgroups);
  PreflightSummary summary(outgroups, chromosomes, options);
  run_tasks(control, threads, static_cast<std::int64_t>(files.size()),
            [&](std::int64_t f, const TaskContext& context) {
              summary.read(files[static_cast<std::size_t>(f)], context);
            });
  auto& result = summary.result;
  result.focal = focal_comparisons(outgroups);
  result.divergence = divergence_comparisons(outgroups);
  const auto n_focal = static_cast<std::int64_t>(result.focal.size());
  const auto n = n_focal + static_cast<std::int64_t>(result.divergence.size());
  run_tasks(control, threads, n, [&](std::int64_t k, const TaskContext& context) {
    context.throw_if_stopped();
    if (k < n_focal) {
      auto& pair = result.focal[static_cast<std::size_t>(k)];
      compare(summary.positions(pair.first), summary.positions(pair.second), chromosomes, pair);
    } else {
      auto& pair = result.divergence[static_cast<std::size_t>(k - n_focal)];
      compare(summary.positions(pair.inner), summary.positions(pair.outer), pair);
    }
  });
  if (!options.focal_fasta.empty()) {
    run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
      look_at_genome(options, chromosomes, summary, context);
    });
  }
  return std::move(summary.result);
}

}  // namespace ancify
