// Checks that BGEN gives the dosages and calls that slow writers have written, and that bad files
// are refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "bgen_files.h"
#include "core/exec/errors.h"
#include "core/exec/job_control.h"
#include "core/formats/genotype/bgen_block.h"
#include "core/formats/genotype/bgen_genotypes.h"
#include "core/formats/genotype/bgen_index.h"
#include "support.h"

namespace ancify {
namespace {

using test::bgen_block;
using test::bgen_calls;
using test::bgen_file;
using test::bgen_header;
using test::BgenOptions;
using test::BgenSample;
using test::BgenVariant;
using test::Calls;
using test::message_of;
using test::number_bytes;
using test::pack;
using test::Ploidy;
using test::random_bgen_variant;
using test::TempDir;

std::vector<unsigned> compressions() {
#ifdef ANCIFY_HAVE_ZSTD
  return {0, 1, 2};
#else
  return {0, 1};
#endif
}

BgenIndex index_of(const std::string& path) {
  JobControl control;
  return read_bgen_index(path, control);
}

BgenGenotypes open_bgen(const std::string& path, const BgenRule& rule = {0.1}) {
  BgenIndex index = index_of(path);
  return {InputFile(path), index.header.samples, index.begins, rule};
}

std::string read(const GenotypeFile& file, std::size_t first, std::size_t n) {
  std::string calls(n * static_cast<std::size_t>(file.stride()), '\x5a');
  file.read(static_cast<std::int64_t>(first), static_cast<std::int64_t>(n),
            reinterpret_cast<std::uint8_t*>(calls.data()));
  return calls;
}

std::string calls_of_block(const BgenVariant& variant, double threshold) {
  const std::size_t n = variant.samples.size();
  std::string calls((n + 3) / 4, '\x5a');
  call_bgen_block(bgen_block(variant), static_cast<std::int64_t>(n), threshold,
                  reinterpret_cast<std::uint8_t*>(calls.data()));
  return calls;
}

void expect_dosages(const BgenVariant& variant) {
  const auto n = static_cast<std::int64_t>(variant.samples.size());
  std::vector<Dosage> dosages(variant.samples.size());
  const int unit = dose_bgen_block(bgen_block(variant), n, dosages.data());
  const std::uint64_t scale = test::bgen_scale(variant.bits);
  ASSERT_EQ(unit, std::min<std::uint64_t>(scale, kMostUnit));
  for (std::size_t i = 0; i < variant.samples.size(); ++i) {
    const BgenSample& sample = variant.samples[i];
    const bool missing = sample.missing || sample.stored.empty();
    ASSERT_EQ(dosages[i] == kMissingDosage, missing);
    if (missing) continue;
    const auto numerator = static_cast<double>(test::bgen_numerator(variant, sample));
    const double expected = unit * (numerator / static_cast<double>(scale) - 1);
    ASSERT_NEAR(dosages[i], expected, scale <= kMostUnit ? 1e-8 : 0.5 + 1e-8) << variant.bits;
  }
}

TEST(BgenBlock, HasExactDosagesAndCallsOfAnyBitsAndPloidy) {
  std::mt19937_64 random(1);
  for (unsigned bits = 1; bits <= 32; ++bits) {
    for (const bool phased : {false, true}) {
      for (const Ploidy ploidy : {Ploidy::kDiploid, Ploidy::kHaploid, Ploidy::kMixed}) {
        for (const std::size_t samples : {1, 2, 3, 5, 8, 63, 64, 65, 127, 128, 129, 300}) {
          const BgenVariant variant = random_bgen_variant(samples, bits, phased, ploidy, random);
          expect_dosages(variant);
          for (const unsigned tenths : {0, 1, 2, 4, 5}) {
            ASSERT_EQ(calls_of_block(variant, tenths / 10.0), pack(bgen_calls(variant, tenths)))
                << bits << " bits, " << samples << " samples, threshold 0." << tenths;
          }
        }
      }
    }
  }
}

// All pairs of bytes.
TEST(BgenBlock, CallsAllProbabilitiesOfEightBits) {
  for (const bool phased : {false, true}) {
    BgenVariant variant;
    variant.phased = phased;
    for (std::uint64_t one = 0; one < 256; ++one) {
      for (std::uint64_t two = 0; two < (phased ? 256 : 256 - one); ++two) {
        variant.samples.push_back({{one, two}, false});
      }
    }
    expect_dosages(variant);
    EXPECT_EQ(calls_of_block(variant, 0.1), pack(bgen_calls(variant)));
  }
}

std::string problem_of_block(const std::string& block, std::int64_t samples) {
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(samples));
  const std::string problem =
      message_of<InputError>([&] { call_bgen_block(block, samples, 0.1, calls.data()); });
  std::vector<Dosage> dosages(static_cast<std::size_t>(samples));
  const auto dose = [&] { dose_bgen_block(block, samples, dosages.data()); };
  EXPECT_EQ(message_of<InputError>(dose), problem);
  return problem;
}

void expect_bad_block(const std::string& block, std::int64_t samples, const std::string& why) {
  const std::string problem = problem_of_block(block, samples);
  EXPECT_NE(problem.find(why), problem.npos) << problem;
}

TEST(BgenBlock, IsOfOneForm) {
  BgenVariant variant;
  variant.samples = {{{0, 255}}, {{1, 2}}, {{250, 5}}};
  const std::string good = bgen_block(variant);
  for (std::size_t n = 0; n < good.size(); ++n) problem_of_block(good.substr(0, n), 3);
  expect_bad_block(good + "x", 3, "7 bytes of probabilities, not 6");
  expect_bad_block(good, 2, "has 3 samples, but the file has 2");
  const auto changed = [&](std::size_t at, int value) {
    std::string block = good;
    block[at] = static_cast<char>(value);
    return block;
  };
  expect_bad_block(changed(4, 3), 3, "number of alleles");
  expect_bad_block(changed(6, 3), 3, "other than 3 to 2 copies");
  expect_bad_block(changed(7, 1), 3, "other than 2 to 1 copies");
  expect_bad_block(changed(9, 3), 3, "has 3 copies in sample 2");
  expect_bad_block(changed(11, 2), 3, "mark of phase");
  expect_bad_block(changed(12, 0), 3, "0 bits");
  expect_bad_block(changed(12, 33), 3, "33 bits");
  expect_bad_block(changed(12, 9), 3, "6 bytes of probabilities, not 7");
  expect_bad_block(changed(18, 6), 3, "sum to more than 1, in sample 3");
  variant.samples.push_back({{255}});
  variant.samples[2].stored = {250, 6};
  expect_bad_block(bgen_block(variant), 4, "sum to more than 1, in sample 3");
  variant.samples[2].missing = true;  // of which probabilities mean nothing
  EXPECT_EQ(calls_of_block(variant, 0.1), pack({1, 2, 3, 0}));
}

// ---- Files --------------------------------------------------------------------------------------

std::vector<BgenVariant> random_variants(std::size_t samples, std::mt19937_64& random) {
  std::vector<BgenVariant> variants;
  for (const unsigned bits : {8, 16, 1, 13, 32, 8, 8}) {
    const auto ploidy = static_cast<Ploidy>(random() % 3);
    variants.push_back(random_bgen_variant(samples, bits, random() % 2 == 0, ploidy, random));
    BgenVariant& last = variants.back();
    last.position = static_cast<std::uint32_t>(random() % 1000000);
    last.id = "id" + std::to_string(variants.size());
    last.rsid = std::string(random() % 40, 'r') + std::to_string(variants.size());
    last.alleles[1] = std::string(1 + random() % 9, 'T');
  }
  return variants;
}

void expect_file(const std::string& path, const std::vector<BgenVariant>& variants) {
  const BgenIndex index = index_of(path);
  ASSERT_EQ(index.variants.id.size(), variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    EXPECT_EQ(index.variants.id[i], variants[i].rsid);
    EXPECT_EQ(index.variants.chromosome[i], variants[i].chromosome);
    EXPECT_EQ(index.variants.position[i], static_cast<std::int32_t>(variants[i].position));
    EXPECT_EQ(index.variants.other[i], variants[i].alleles[0]);
    EXPECT_EQ(index.variants.counted[i], variants[i].alleles[1]);
  }
  const BgenGenotypes file = open_bgen(path);
  for (const std::size_t piece : {variants.size(), std::size_t{1}, std::size_t{3}}) {
    for (std::size_t first = 0; first < variants.size(); first += piece) {
      const std::size_t n = std::min(piece, variants.size() - first);
      std::string expected;
      for (std::size_t i = first; i < first + n; ++i) expected += pack(bgen_calls(variants[i]));
      ASSERT_EQ(read(file, first, n), expected);
    }
  }
  file.check_unchanged();
}

TEST(BgenGenotypes, HaveTheCallsOfAnyNumberOfSamples) {
  const TempDir dir;
  std::mt19937_64 random(2);
  for (const std::size_t samples : {1, 2, 5, 64, 333, 5000, 100003}) {
    const auto variants = random_variants(samples, random);
    for (const unsigned compression : compressions()) {
      BgenOptions options;
      options.compression = compression;
      options.free_data = std::string(samples % 7, 'f');
      if (samples < 400) {
        for (std::size_t i = 0; i < samples; ++i) options.ids.push_back("s" + std::to_string(i));
      }
      const std::string path = dir.write("x.bgen", bgen_file(variants, options));
      expect_file(path, variants);
      const BgenIndex index = index_of(path);
      ASSERT_EQ(index.ids.size(), options.ids.size());
      for (std::size_t i = 0; i < options.ids.size(); ++i) EXPECT_EQ(index.ids[i], options.ids[i]);
    }
  }
}

TEST(BgenIndex, NamesVariantsAndLeavesOutOthers) {
  const TempDir dir;
  std::vector<BgenVariant> variants(6);
  for (BgenVariant& variant : variants) variant.samples = {{{0, 255}}};
  variants[0].chromosome = "01";
  variants[1].chromosome = "10";
  variants[1].rsid = ".";
  variants[2].rsid = "";
  variants[2].chromosome = "";
  variants[2].id = "";
  variants[3].alleles = {"A", "C", "G"};
  variants[4].alleles = {"A"};
  variants[5].alleles = {"A", ""};
  const std::string path = dir.write("x.bgen", bgen_file(variants));
  const BgenIndex index = index_of(path);
  EXPECT_EQ(index.variants.chromosome[0], "1");
  EXPECT_EQ(index.variants.chromosome[1], "10");
  EXPECT_EQ(index.variants.chromosome[2], ".");
  EXPECT_EQ(index.variants.id[1], "id");
  EXPECT_EQ(index.variants.id[2], ".");
  EXPECT_EQ(index.variants.counted[5], ".");
  EXPECT_EQ(index.multiallelic, std::vector<std::int64_t>{3});
  EXPECT_EQ(index.one_allele, std::vector<std::int64_t>{4});
  const BgenGenotypes file = open_bgen(path);
  EXPECT_EQ(read(file, 5, 1), pack({1}));
  for (const std::size_t bad : {3, 4}) {
    const std::string message = message_of<FormatError>([&] { read(file, bad, 1); });
    EXPECT_NE(message.find("variant " + std::to_string(bad + 1) + " has another number"),
              message.npos);
  }
}

std::string refusal(const std::string& content) {
  const TempDir dir;
  const std::string path = dir.write("x.bgen", content);
  const std::string message = message_of<FormatError>([&] {
    const BgenGenotypes file = open_bgen(path);
    read(file, 0, static_cast<std::size_t>(file.variants()));
  });
  EXPECT_EQ(message.rfind("'" + path + "': ", 0), 0U) << message;
  return message.substr(std::min(message.size(), path.size() + 4));
}

void expect_refused(const std::string& content, const std::string& why) {
  const std::string message = refusal(content);
  EXPECT_NE(message.find(why), message.npos) << message;
}

TEST(BgenGenotypes, AreOfOneFormat) {
  std::mt19937_64 random(3);
  const auto variants = random_variants(5, random);
  for (const unsigned compression : compressions()) {
    BgenOptions options;
    options.compression = compression;
    options.ids = {"a", "b", "c", "d", "e"};
    const std::string good = bgen_file(variants, options);
    for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(refusal(good.substr(0, n)).empty());
    expect_refused(good + "x", "1 bytes follow its last variant");
    if (compression == 0) continue;
    std::string damaged = good;
    damaged[damaged.size() - 8] = static_cast<char>(damaged[damaged.size() - 8] ^ 0x55);
    expect_refused(damaged, "variant 7 has ");
  }
  BgenOptions options;
  options.layout = 1;
  expect_refused(bgen_file(variants, options), "layout 1, which is not read. Write it anew with");
  options.layout = 3;
  expect_refused(bgen_file(variants, options), "unknown layout 3");
  options.layout = 2;
  options.compression = 3;
  expect_refused(bgen_header(5, 7, options) + std::string(500, 'x'), "unknown compression");
  expect_refused(bgen_header(5, 0) + std::string(500, 'x'), "no variant");
  expect_refused(bgen_header(0, 1) + std::string(500, 'x'), "no sample");
  expect_refused(bgen_header(5, 1000) + std::string(500, 'x'), "no space for its 1000 variants");
  expect_refused(std::string(100, 'x'), "not a BGEN file");
  options.compression = 0;
  options.ids = {"a", "b", "a", "d", "e"};
  expect_refused(bgen_file(variants, options), "sample 3 has the ID 'a' of sample 1");
  options.ids = {"a", "b", "", "d", "e"};
  expect_refused(bgen_file(variants, options), "sample 3 has an empty ID");
  options.ids = {"a", "b", "\xff", "d", "e"};
  expect_refused(bgen_file(variants, options), "sample 3 has an ID that is not UTF-8");
  options.ids = {"a"};
  expect_refused(bgen_header(4'000'000'000, 1, options) + std::string(500, 'x'), "no space for");
}

TEST(BgenIndex, NamesTheVariantOfAProblem) {
  const auto with = [](const std::function<void(BgenVariant&)>& change) {
    std::vector<BgenVariant> variants(3);
    for (BgenVariant& variant : variants) variant.samples = {{{0, 255}}};
    change(variants[1]);
    return bgen_file(variants);
  };
  expect_refused(with([](auto& v) { v.position = 1U << 31; }), "variant 2 has the position 214748");
  expect_refused(with([](auto& v) { v.rsid = "\xc3"; }), "variant 2 has an ID that is not UTF-8");
  expect_refused(with([](auto& v) { v.chromosome = std::string(1, '\0'); }),
                 "a chromosome that is");
  expect_refused(with([](auto& v) { v.alleles.clear(); }), "variant 2 has no allele");
  expect_refused(with([](auto& v) { v.alleles[1] = std::string(2'000'000, 'A'); }), "than 1 MB");
  expect_refused(with([](auto& v) { v.samples[0].stored = {0, 0, 0}; }), "variant 2 has 3 copies");
}

TEST(BgenGenotypes, BoundTheirMemory) {
  BgenVariant variant;
  variant.samples = {{{0, 255}}};
  const std::string header = bgen_header(1, 1, {1, {}, 2, ""}) + test::bgen_identity(variant);
  const std::string rest = number_bytes(0xfffffff0U, 4) + "none";
  expect_refused(header + number_bytes(rest.size(), 4) + rest, "4294967280 bytes of probabilities");
  expect_refused(header + number_bytes(0xfffffff0U, 4) + rest, "variant 1 ends too soon");
  expect_refused(header + number_bytes(2, 4) + "ab", "variant 1 has a block that ends too soon");
}

TEST(BgenGenotypes, NoticeChanges) {
  const TempDir dir;
  std::mt19937_64 random(4);
  const auto variants = random_variants(50, random);
  const std::string path = dir.write("x.bgen", bgen_file(variants));
  const BgenIndex index = index_of(path);
  const BgenGenotypes file = open_bgen(path);
  const auto open_with = [&](std::int64_t samples, std::vector<std::int64_t> begins) {
    return message_of<FormatError>(
        [&] { BgenGenotypes(InputFile(path), samples, std::move(begins), BgenRule{0.1}); });
  };
  EXPECT_NE(open_with(49, index.begins), "");
  EXPECT_NE(open_with(50, {}), "");
  auto begins = index.begins;
  std::swap(begins[1], begins[2]);
  EXPECT_NE(open_with(50, begins), "");
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_THROW(read(file, 0, 7), FileError);
  EXPECT_THROW(file.check_unchanged(), FileError);
}

}  // namespace
}  // namespace ancify
