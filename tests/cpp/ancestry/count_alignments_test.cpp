// Checks counts of patterns and letters at records against projections of whole chromosomes.
#include "core/ancestry/calling/count_alignments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/ancestry/projection/focal_genome.h"
#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

#ifdef ANCIFY_HAVE_HTSLIB

using test::message_of;
using test::TempDir;

const std::vector<Chromosome> kGenome = {{"chr1", 3000}, {"chr2", 700}, {"chr3", 40}};

// Blocks in order with gaps between them, or blocks anywhere that may overlap.
std::string random_axt(bool sorted, std::mt19937& random) {
  std::vector<std::string> blocks;
  for (const auto& [name, length] : kGenome) {
    std::int64_t next = 1;
    for (int k = 0; k < 12; ++k) {
      const std::int64_t start = sorted ? next + random() % 40 : 1 + random() % length;
      const std::int64_t end = start + random() % (length / 8);
      if (end > length) continue;
      next = end + 1;
      std::string focal;
      std::string outgroup;
      for (std::int64_t i = start; i <= end;) {
        const bool gap = random() % 20 == 0;
        focal += gap ? '-' : "ACGTacgtN"[(random() >> 8) % 9];
        outgroup += "AAAAAAAACGTacgtN-"[(random() >> 8) % 17];
        i += gap ? 0 : 1;
      }
      blocks.push_back("0 " + name + " " + std::to_string(start) + " " + std::to_string(end) +
                       " q 1 2 + " + std::to_string(random() % 9) + "\n" + focal + "\n" + outgroup +
                       "\n\n");
    }
  }
  if (!sorted) std::shuffle(blocks.begin(), blocks.end(), random);
  std::string text;
  for (const auto& block : blocks) text += block;
  return text;
}

struct Record {
  std::size_t chromosome;
  std::int64_t position;
  char ref;
};

// Three alignments, and a VCF with records in all chromosomes.
struct Inputs {
  Inputs(bool sorted, unsigned seed) : random(seed) {
    for (const std::string name : {"a", "b", "c"}) {
      outgroups.push_back({name, dir.write(name + ".axt", random_axt(sorted, random))});
    }
    std::string text =
        "##fileformat=VCFv4.2\n##contig=<ID=chr2,length=4321>\n"
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
    for (std::size_t c = 0; c < kGenome.size(); ++c) {
      for (std::int64_t at = 1; at <= kGenome[c].length; at += 1 + random() % 9) {
        const char ref = "ACGT"[random() % 4];
        const std::string place = kGenome[c].name + "\t" + std::to_string(at) + "\t.\t";
        text += place + ref + "\tA,C\t.\t.\t.\n" + place + ref + "\tG\t.\t.\t.\n";  // a split site
        text += place + ref + "A\tG\t.\t.\t.\n";                                    // no site
        records.push_back({c, at, ref});
      }
    }
    vcf = dir.write("v.vcf", text);
  }

  // All species projected, the focal one last.
  std::vector<std::unique_ptr<MemoryStore>> projected() const {
    std::vector<std::unique_ptr<MemoryStore>> stores;
    const TaskContext context;
    JobControl control;
    std::vector<std::string> files;
    for (const auto& outgroup : outgroups) {
      stores.push_back(std::make_unique<MemoryStore>(kGenome));
      project_alignment(outgroup.file, {{"", stores.back().get()}}, kGenome, {}, control, context);
      files.push_back(outgroup.file);
    }
    stores.push_back(std::make_unique<MemoryStore>(kGenome));
    focal_from_alignments(files, kGenome, {}, *stores.back(), 1, control);
    return stores;
  }

  TempDir dir;
  std::mt19937 random;
  std::vector<OutgroupAlignment> outgroups;
  std::vector<Record> records;
  std::string vcf;
};

TEST(CountAlignments, GivesThePatternsOfProjections) {
  for (const bool sorted : {true, false}) {
    for (const int threads : {1, 3}) {
      Inputs inputs(sorted, sorted ? 1 : 2);
      const auto stores = inputs.projected();
      std::vector<ChromosomeSequences> sequences;
      for (std::size_t c = 0; c < kGenome.size(); ++c) {
        sequences.push_back({kGenome[c].name, kGenome[c].length, [&stores, c] {
                               SequenceSources sources;
                               for (const auto& store : stores) {
                                 sources.push_back(
                                     memory_source(store->bases(c), SequenceForm::kCharacters));
                               }
                               return sources;
                             }});
      }
      JobControl control;
      const auto expected = count_patterns(sequences, Backend(), control);
      RecordPatterns records(inputs.vcf, 3, control);
      ASSERT_EQ(records.chromosomes().size(), kGenome.size());
      EXPECT_EQ(records.chromosomes()[0].length, 0);
      EXPECT_EQ(records.chromosomes()[1].name, "chr2");
      EXPECT_EQ(records.chromosomes()[1].length, 4321);
      WindowLimits limits;
      limits.window = 2 * static_cast<std::int64_t>(kPackedGroup);
      const auto found =
          count_alignments(inputs.outgroups, kGenome, {}, threads, records, control, limits);
      for (std::size_t c = 0; c < kGenome.size(); ++c) {
        EXPECT_EQ(found.counts[c].states, expected[c].states);
        EXPECT_EQ(found.counts[c].counts, expected[c].counts);
      }
      records.count_patterns();
      std::int64_t sites = 0;
      for (const auto& pattern : records.patterns()) sites += pattern.sites;
      EXPECT_EQ(sites, static_cast<std::int64_t>(inputs.records.size()));
      for (const auto& [chromosome, position, ref] : inputs.records) {
        std::string bases;
        for (std::size_t i = 0; i < 3; ++i) {
          bases += upper_base(base_code(stores[i]->bases(chromosome)[position - 1]));
        }
        const auto pattern = records.at(kGenome[chromosome].name, position);
        ASSERT_TRUE(pattern);
        EXPECT_EQ(records.patterns()[*pattern].bases, bases + ref);
      }
      EXPECT_FALSE(records.at("chr4", 1));
      EXPECT_FALSE(records.at("chr3", 41));
    }
  }
}

TEST(CountAlignments, ComparesWithAFocalGenome) {
  Inputs inputs(true, 3);
  PackedStore genome(kGenome, SimdLevel::kScalar);
  const std::string bases(3000, 'A');
  for (std::size_t c = 0; c < kGenome.size(); ++c) {
    genome.write(c, 0, bases.data(), static_cast<std::size_t>(kGenome[c].length));
  }
  ProjectionOptions options;
  options.open_focal = focal_in(genome);
  options.on_bad_block = OnBadBlock::kSkip;
  JobControl control;
  RecordPatterns records(inputs.vcf, 3, control);
  // Whole blocks differ from a genome of A, so that few or none are left.
  EXPECT_THROW(count_alignments(inputs.outgroups, kGenome, options, 1, records, control),
               FormatError);
}

TEST(TakeLetters, KeepsTheCaseOfOneOutgroup) {
  for (const bool sorted : {true, false}) {
    Inputs inputs(sorted, 4);
    const auto stores = inputs.projected();
    JobControl control;
    RecordPatterns records(inputs.vcf, 1, control);
    take_letters(inputs.outgroups.front(), kGenome, {}, 2, records, control);
    records.count_patterns();
    for (const auto& [chromosome, position, ref] : inputs.records) {
      const auto pattern = records.at(kGenome[chromosome].name, position);
      ASSERT_TRUE(pattern);
      const char letter = stores[0]->bases(chromosome)[position - 1];
      EXPECT_EQ(records.patterns()[*pattern].bases, std::string({letter, ref}));
    }
  }
}

TEST(CountAlignments, RefusesARecordBeyondItsChromosome) {
  Inputs inputs(true, 5);
  JobControl control;
  RecordPatterns records(inputs.vcf, 3, control);
  auto shorter = kGenome;
  shorter[1].length = 600;
  const auto message = message_of<FormatError>(
      [&] { count_alignments(inputs.outgroups, shorter, {}, 1, records, control); });
  EXPECT_NE(message.find("of 'chr2' is beyond the end"), std::string::npos) << message;
}

#endif

}  // namespace
}  // namespace ancify
