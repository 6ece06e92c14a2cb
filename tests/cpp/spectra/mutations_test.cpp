// Checks types of mutations, and counts of them and of contexts, against plain loops.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/ancestry/variants/record_mask.h"
#include "core/exec/errors.h"
#include "core/spectra/mutation_contexts.h"
#include "core/spectra/mutation_counts.h"
#include "core/spectra/mutation_types.h"
#include "support.h"

namespace ancify {
namespace {

std::uint32_t word_of(const std::string& bases) {
  std::uint32_t word = 0;
  for (const char base : bases) {
    word = 4 * word + static_cast<std::uint32_t>(std::string("ACGT").find(base));
  }
  return word;
}

std::string text_of(std::uint32_t word, int k) {
  std::string text;
  for (int i = k; i-- > 0;) text += "ACGT"[word >> (2 * i) & 3];
  return text;
}

std::string reverse_complement(const std::string& text) {
  std::string result;
  for (const char base : text) result.insert(0, 1, "TGCA"[std::string("ACGT").find(base)]);
  return result;
}

TEST(MutationTypes, NumbersAreThoseOfFoldedWords) {
  const MutationTypes types(3);
  EXPECT_EQ(types.types(), 96U);
  EXPECT_EQ(types.type(word_of("AAA"), 1), 0U);
  EXPECT_EQ(types.type(word_of("TTT"), 2), 0U);
  EXPECT_EQ(types.type(word_of("ACG"), 3), 5U * 16 + 2);
  EXPECT_EQ(types.type(word_of("CGT"), 0), 5U * 16 + 2);
  EXPECT_EQ(types.context(word_of("CGT")), 16U + 2);
  EXPECT_EQ(types.with_middle(word_of("CGT"), 3), word_of("CTT"));
}

TEST(MutationTypes, ATypeHasTwoWords) {
  for (const int k : {1, 3, 5}) {
    const MutationTypes types(k);
    std::map<std::size_t, std::set<std::string>> of_type;
    std::map<std::size_t, std::set<std::string>> of_context;
    for (std::uint32_t word = 0; word < types.words(); ++word) {
      const std::string text = text_of(word, k);
      of_context[types.context(word)].insert(text);
      for (int derived = 0; derived < 4; ++derived) {
        std::string mutated = text;
        mutated[static_cast<std::size_t>(k / 2)] = "ACGT"[derived];
        if (mutated != text) of_type[types.type(word, derived)].insert(text + mutated);
      }
    }
    ASSERT_EQ(of_type.size(), types.types());
    ASSERT_EQ(of_context.size(), types.contexts());
    EXPECT_EQ(of_type.rbegin()->first, types.types() - 1);
    for (const auto& [type, words] : of_type) {
      ASSERT_EQ(words.size(), 2U);
      const std::string& first = *words.begin();
      const auto n = static_cast<std::size_t>(k);
      EXPECT_EQ(reverse_complement(first.substr(0, n)) + reverse_complement(first.substr(n)),
                *words.rbegin());
    }
  }
}

// Folded contexts of a position, by name.
std::map<std::string, double> slow_contexts(const std::string& bases, int k, bool low,
                                            const std::vector<Region>& masked, std::size_t start,
                                            std::size_t end) {
  std::map<std::string, double> counts;
  const auto half = static_cast<std::size_t>(k / 2);
  for (std::size_t at = std::max(start, half); at < end && at + half < bases.size(); ++at) {
    std::string word = bases.substr(at - half, static_cast<std::size_t>(k));
    bool is_used = true;
    for (const Region& region : masked) {
      const auto here = static_cast<std::int64_t>(at);
      if (region.start <= here && here < region.end) is_used = false;
    }
    for (char& base : word) {
      if (base >= 'a' && !low) is_used = false;
      base = static_cast<char>(base & ~0x20);
      if (std::string("ACGT").find(base) == std::string::npos) is_used = false;
    }
    if (!is_used) continue;
    if (word[half] == 'G' || word[half] == 'T') word = reverse_complement(word);
    ++counts[word];
  }
  return counts;
}

TEST(CountContexts, CountsWhatAPlainLoopCounts) {
  std::mt19937 random(1);
  test::TempDir dir;
  std::vector<std::string> sequences;
  std::string fasta;
  for (const int n : {500, 0, 7, 230}) {
    std::string bases;
    for (int i = 0; i < n; ++i) bases += "ACGTACGTACGTacgtNn-"[random() % 19];
    fasta += ">s" + std::to_string(sequences.size()) + "\n" + bases.substr(0, 100) + "\n" +
             (n > 100 ? bases.substr(100) + "\n" : "");
    sequences.push_back(bases);
  }
  ContextOptions options;
  options.sequences = {{"", dir.write("a.fa", fasta)}};
  options.mask = dir.write("m.bed", "s0\t0\t3\ns0\t40\t55\ns0\t55\t60\ns0\t499\t500\ns3\t9\t90\n");
  const std::vector<std::vector<Region>> masked = {
      {{0, 3}, {40, 60}, {499, 500}}, {}, {}, {{9, 90}}};
  for (const int k : {1, 3, 5, 9}) {
    for (const bool low : {true, false}) {
      for (const std::int64_t window : {0, 1, 10, 50, 1000}) {
        options.k = k;
        options.low_confidence = low;
        options.window = window;
        JobControl control;
        const ContextCounts counts = count_contexts(options, control);
        const MutationTypes types(k);
        std::map<std::pair<std::int64_t, std::size_t>, double> expected;
        std::int64_t first = 0;
        for (std::size_t i = 0; i < sequences.size(); ++i) {
          const auto length = static_cast<std::int64_t>(sequences[i].size());
          EXPECT_EQ(counts.chromosomes[i].length, length);
          for (std::int64_t w = 0; w < windows_of(length, window); ++w) {
            const std::int64_t start = w * window;
            const auto end = window == 0 ? length : std::min(start + window, length);
            for (const auto& [word, count] :
                 slow_contexts(sequences[i], k, low, masked[i], static_cast<std::size_t>(start),
                               static_cast<std::size_t>(end))) {
              expected[{first + w, types.context(word_of(word))}] = count;
            }
          }
          first += windows_of(length, window);
        }
        ASSERT_EQ(counts.sums.sums.size(), expected.size());
        std::size_t row = 0;
        for (const auto& [place, count] : expected) {
          EXPECT_EQ(counts.sums.windows[row], place.first);
          EXPECT_EQ(counts.sums.cells[row], static_cast<std::int64_t>(place.second));
          EXPECT_EQ(counts.sums.sums[row++], count);
        }
      }
    }
  }
}

TEST(CountContexts, RefusesTwoSequencesOfAChromosome) {
  test::TempDir dir;
  ContextOptions options;
  const std::string one = dir.write("a.fa", ">x\nACGT\n");
  options.sequences = {{"", one}, {"x", one}};
  JobControl control;
  EXPECT_THROW(count_contexts(options, control), FormatError);
  options.sequences = {{"y", one}};
  options.mask = dir.write("m.bed", "x\t0\t3\n");
  EXPECT_THROW(count_contexts(options, control), InputError);
  control.request_stop();
  options.mask.clear();
  EXPECT_THROW(count_contexts(options, control), Interrupted);
}

#ifdef ANCIFY_HAVE_HTSLIB

TEST(CountMutations, CountsSitesByTypeAndWindow) {
  test::TempDir dir;
  MutationOptions options;
  options.variants = dir.write("v.vcf",
                               "##fileformat=VCFv4.2\n##contig=<ID=1>\n##contig=<ID=2>\n"
                               "##contig=<ID=3>\n"
                               "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\n"
                               "1\t2\t.\tC\tT\t.\t.\t.\tGT\t0/1\t1|1\t1\n"
                               "1\t5\t.\tG\tA\t.\t.\t.\tGT\t0/1\t0|0\t0\n"
                               "2\t3\t.\tN\tT\t.\t.\t.\tGT\t0\t0\t0\n"
                               "3\t1\t.\tA\tT\t.\t.\t.\tGT\t0\t1\t0\n"
                               "3\t2\t.\tC\tT\t.\t.\t.\tGT\t0\t1\t0\n"
                               "3\t6\t.\tC\tG\t.\t.\t.\tGT\t0\t0\t1\n"
                               "3\t8\t.\tC\tG\t.\t.\t.\tGT\t0\t0\t0\n");
  const std::string calls = dir.write("c.fa", ">1\nACAAGC\n>2\nACGTACG\n>3\nACGTaCACA\n");
  options.chromosomes = {"1", "2", "3"};
  options.use_info = false;
  options.ancestral = {{"", calls}};
  options.populations = {0, 1, 1};
  options.n_populations = 2;
  options.window = 4;
  JobControl control;
  MutationCounts counts = count_mutations(options, control);
  EXPECT_EQ(counts.lengths, (std::vector<std::int64_t>{6, 7, 9}));
  EXPECT_EQ(counts.no_context, 1);
  EXPECT_EQ(counts.invariant, 1);
  EXPECT_EQ(counts.used, 4);
  const MutationTypes types(3);
  const auto cell = [&](const char* word, int derived, int population) {
    return static_cast<std::int64_t>(types.type(word_of(word), derived) +
                                     static_cast<std::size_t>(population) * types.types());
  };
  // In b and c, all three have the first allele, so the site varies only in a.
  EXPECT_EQ(counts.sums.windows, (std::vector<std::int32_t>{0, 1, 4, 5}));
  EXPECT_EQ(counts.sums.cells, (std::vector<std::int64_t>{cell("ACA", 3, 0), cell("AGC", 0, 0),
                                                          cell("ACG", 3, 1), cell("ACA", 2, 1)}));
  EXPECT_EQ(counts.sums.sums, (std::vector<double>{1, 1, 1, 1}));

  options.low_confidence = false;
  counts = count_mutations(options, control);
  EXPECT_EQ(counts.low_context, 1);
  options.low_confidence = true;
  options.counted_as = CountedAs::kHaplotypes;
  options.populations = {0, 1, 2};
  options.n_populations = 3;
  counts = count_mutations(options, control);
  EXPECT_EQ(counts.sums.cells.front(), cell("ACA", 3, 0));
  EXPECT_EQ(counts.sums.sums, (std::vector<double>{1, 2, 1, 1, 1, 1}));

  options.counted_as = CountedAs::kFrequencies;
  counts = count_mutations(options, control);
  ASSERT_EQ(counts.table.size(), 4U);
  EXPECT_EQ(counts.table.window(0), cell("ACA", 3, 0));
  EXPECT_EQ(counts.table.count(0, 1), (AlleleCount{2, 2}));
  control.request_stop();
  EXPECT_THROW(count_mutations(options, control), Interrupted);
}

#endif

}  // namespace
}  // namespace ancify
