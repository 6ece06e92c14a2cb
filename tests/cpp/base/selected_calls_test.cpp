// Checks against slow methods that chosen calls are picked, counted and written.
#include "core/formats/genotype/selected_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/exec/errors.h"
#include "core/formats/genotype/genotype_writer.h"
#include "genotype_files.h"
#include "support.h"

namespace ancify {
namespace {

using test::bed_file;
using test::Calls;
using test::pack;
using test::pgen_of_calls;
using test::random_calls;
using test::read_file;
using test::TempDir;

// Genotypes in a file, and a random choice of them.
struct Chosen {
  TempDir dir;
  std::vector<Calls> variants;
  std::unique_ptr<GenotypeFile> file;
  GenotypeSelection selection;

  Chosen(std::size_t n_samples, std::size_t n_variants, std::mt19937_64& random) {
    for (std::size_t j = 0; j < n_variants; ++j) {
      variants.push_back(random_calls(n_samples, random));
    }
    file = open_genotype_file(dir.write("x.bed", bed_file(variants)),
                              static_cast<std::int64_t>(n_samples),
                              static_cast<std::int64_t>(n_variants));
    selection = {some(n_samples, random), some(n_variants, random)};
  }

  // Some of n numbers, in any order; all in their order once in four times.
  static std::vector<std::int64_t> some(std::size_t n, std::mt19937_64& random) {
    std::vector<std::int64_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    if (random() % 4 == 0) return numbers;
    if (random() % 2 == 0) std::shuffle(numbers.begin(), numbers.end(), random);
    numbers.resize(1 + random() % n);
    return numbers;
  }

  unsigned call(std::int64_t sample, std::int64_t variant) const {
    return variants[static_cast<std::size_t>(variant)][static_cast<std::size_t>(sample)];
  }
};

const std::vector<std::size_t> kSizes = {1, 2, 3, 4, 5, 31, 32, 33, 64, 65, 200, 257};

TEST(SelectedCalls, ArePickedAndCountedAsOneByOne) {
  std::mt19937_64 random(1);
  for (const std::size_t size : kSizes) {
    for (const int threads : {1, 3}) {
      const Chosen chosen(size, 40, random);
      const std::size_t n = chosen.selection.samples.size();
      const std::size_t m = chosen.selection.variants.size();
      std::vector<int> expected;
      std::vector<std::int32_t> expected_counts(4 * m);
      for (std::size_t j = 0; j < m; ++j) {
        for (const std::int64_t sample : chosen.selection.samples) {
          const unsigned call = chosen.call(sample, chosen.selection.variants[j]);
          expected.push_back(call == 3 ? -1 : static_cast<int>(call));
          ++expected_counts[4 * j + call];
        }
      }
      std::vector<int> matrix(n * m, 77);
      JobControl control;
      calls_as_integers(*chosen.file, chosen.selection, -1, threads, control, matrix.data());
      EXPECT_EQ(matrix, expected);
      EXPECT_EQ(control.done(), control.expected());
      EXPECT_EQ(control.done(), static_cast<std::int64_t>(m));
      std::vector<std::int32_t> counts(4 * m, 77);
      count_calls(*chosen.file, chosen.selection, threads, control, counts.data());
      EXPECT_EQ(counts, expected_counts);
    }
  }
}

// Pieces have 2^20 bytes.
TEST(SelectedCalls, AreReadInPieces) {
  std::mt19937_64 random(2);
  Chosen chosen(40001, 230, random);
  chosen.selection.variants.resize(230);
  std::iota(chosen.selection.variants.begin(), chosen.selection.variants.end(), 0);
  std::swap(chosen.selection.variants[3], chosen.selection.variants[200]);
  JobControl control;
  std::vector<std::int64_t> seen(230);
  for_each_piece(*chosen.file, chosen.selection.variants, 2, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* calls) {
                   for (std::int64_t j = first; j < first + n; ++j) {
                     const auto at = static_cast<std::size_t>(j);
                     const std::string expected = pack(
                         chosen.variants[static_cast<std::size_t>(chosen.selection.variants[at])]);
                     const auto* found =
                         reinterpret_cast<const char*>(calls) + (j - first) * chosen.file->stride();
                     seen[at] += expected == std::string(found, expected.size()) ? 1 : 100;
                   }
                 });
  EXPECT_EQ(seen, std::vector<std::int64_t>(230, 1));
}

TEST(SelectedCalls, AreThoseOfTheFile) {
  std::mt19937_64 random(3);
  const Chosen chosen(5, 7, random);
  const auto refusal = [&](const GenotypeSelection& selection) {
    return test::message_of<InputError>([&] { check_selection(*chosen.file, selection); });
  };
  EXPECT_EQ(refusal({{5}, {0}}), "there is no sample 6: the file has 5");
  EXPECT_EQ(refusal({{-1}, {0}}), "there is no sample 0: the file has 5");
  EXPECT_EQ(refusal({{0}, {0, 7}}), "there is no variant 8: the file has 7");
  EXPECT_EQ(refusal({{4, 0, 4}, {0}}), "the sample 5 is chosen twice");
  EXPECT_EQ(refusal({{0}, {6, 6}}), "the variant 7 is chosen twice");
}

// ---- Writing ------------------------------------------------------------------------------------

TEST(GenotypeWriter, WritesWhatASlowWriterDoes) {
  std::mt19937_64 random(4);
  for (const std::size_t size : kSizes) {
    for (const int threads : {1, 3}) {
      const Chosen chosen(size, 30, random);
      std::vector<Calls> expected;
      for (const std::int64_t variant : chosen.selection.variants) {
        expected.emplace_back();
        for (const std::int64_t sample : chosen.selection.samples) {
          expected.back().push_back(chosen.call(sample, variant));
        }
      }
      JobControl control;
      const std::string stem = chosen.dir.file("out");
      write_genotypes(GenotypeFormat::kBed, *chosen.file, chosen.selection,
                      {"variants\n", "samples\n"}, stem, false, threads, control);
      EXPECT_EQ(read_file(stem + ".bed"), bed_file(expected));
      EXPECT_EQ(read_file(stem + ".bim"), "variants\n");
      EXPECT_EQ(read_file(stem + ".fam"), "samples\n");
      EXPECT_EQ(chosen.dir.entries(), 4U);

      write_genotypes(GenotypeFormat::kPgen, *chosen.file, chosen.selection,
                      {"variants\n", "samples\n"}, stem, false, threads, control);
      EXPECT_EQ(read_file(stem + ".pgen"), pgen_of_calls(expected));
      EXPECT_EQ(read_file(stem + ".pvar"), "variants\n");
      EXPECT_EQ(read_file(stem + ".psam"), "samples\n");
    }
  }
}

TEST(GenotypeWriter, LeavesNothingIfAFileCannotBeWritten) {
  std::mt19937_64 random(5);
  for (const char* ending : {".bed", ".bim", ".fam"}) {
    const Chosen chosen(9, 5, random);
    const std::string stem = chosen.dir.file("out");
    std::filesystem::create_directory(stem + ending);
    JobControl control;
    EXPECT_THROW(write_genotypes(GenotypeFormat::kBed, *chosen.file, chosen.selection,
                                 {"v\n", "s\n"}, stem, true, 1, control),
                 FileError);
    EXPECT_EQ(chosen.dir.entries(), 2U);  // the genotypes and the folder
  }
}

TEST(GenotypeWriter, LeavesNothingIfItIsStopped) {
  std::mt19937_64 random(6);
  const Chosen chosen(9, 5, random);
  JobControl control;
  control.request_stop();
  const std::string stem = chosen.dir.file("out");
  EXPECT_THROW(write_genotypes(GenotypeFormat::kBed, *chosen.file, chosen.selection, {"v\n", "s\n"},
                               stem, true, 1, control),
               Interrupted);
  EXPECT_EQ(chosen.dir.entries(), 1U);
}

}  // namespace
}  // namespace ancify
