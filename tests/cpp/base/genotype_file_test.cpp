// Checks that BED and PGEN give the calls that slow writers have written, and that bad files are
// refused.
#include "core/formats/genotype/genotype_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "genotype_files.h"
#include "support.h"

namespace ancify {
namespace {

using test::bed_file;
using test::Calls;
using test::message_of;
using test::number_bytes;
using test::pack;
using test::pgen_file;
using test::pgen_of_calls;
using test::pgen_of_records;
using test::PgenOptions;
using test::random_calls;
using test::TempDir;

// Around bytes, words, groups of 64 and the widths of sample numbers.
const std::vector<std::size_t> kOddSizes = {1,   2,   3,   4,    5,    7,     8,     9,    31,  32,
                                            33,  63,  64,  65,   66,   127,   130,   255,  256, 257,
                                            511, 513, 999, 1000, 4099, 65535, 65536, 65537};

std::unique_ptr<GenotypeFile> open(const std::string& path, const std::vector<Calls>& variants) {
  return open_genotype_file(path, static_cast<std::int64_t>(variants[0].size()),
                            static_cast<std::int64_t>(variants.size()));
}

std::string read(const GenotypeFile& file, std::int64_t first, std::int64_t n) {
  // A byte that read() does not set would show.
  std::string calls(static_cast<std::size_t>(n * file.stride()), '\x5a');
  file.read(first, n, reinterpret_cast<std::uint8_t*>(calls.data()));
  return calls;
}

std::string packed(const std::vector<Calls>& variants, std::size_t first, std::size_t n) {
  std::string calls;
  for (std::size_t i = first; i < first + n; ++i) calls += pack(variants[i]);
  return calls;
}

// Reads all variants at once, each alone, and pieces.
void expect_calls(const std::string& path, const std::vector<Calls>& variants) {
  const auto file = open(path, variants);
  const std::size_t n = variants.size();
  ASSERT_EQ(file->variants(), static_cast<std::int64_t>(n));
  ASSERT_EQ(file->samples(), static_cast<std::int64_t>(variants[0].size()));
  ASSERT_EQ(file->path(), path);
  for (const std::size_t piece : {n, std::size_t{1}, std::size_t{3}}) {
    for (std::size_t first = 0; first < n; first += piece) {
      const std::size_t size = std::min(piece, n - first);
      ASSERT_EQ(read(*file, static_cast<std::int64_t>(first), static_cast<std::int64_t>(size)),
                packed(variants, first, size))
          << variants[0].size() << " samples, variants from " << first;
    }
  }
  EXPECT_EQ(read(*file, 0, 0), "");
  file->check_unchanged();
}

std::string refusal(const std::string& content, std::int64_t samples, std::int64_t variants) {
  const TempDir dir;
  const std::string path = dir.write("x.pgen", content);
  const std::string message = message_of<FormatError>([&] {
    const auto file = open_genotype_file(path, samples, variants);
    read(*file, 0, variants);
  });
  EXPECT_EQ(message.rfind("'" + path + "': ", 0), 0U) << message;
  return message.substr(std::min(message.size(), path.size() + 4));
}

void expect_refused(const std::string& content, std::int64_t samples, std::int64_t variants,
                    const std::string& why) {
  const std::string message = refusal(content, samples, variants);
  EXPECT_NE(message.find(why), message.npos) << message;
}

// ---- BED ----------------------------------------------------------------------------------------

TEST(BedGenotypes, HaveTheCallsOfAnyNumberOfSamples) {
  const TempDir dir;
  std::mt19937_64 random(1);
  for (const std::size_t samples : kOddSizes) {
    std::vector<Calls> variants(7);
    for (Calls& calls : variants) calls = random_calls(samples, random);
    expect_calls(dir.write("x.bed", bed_file(variants)), variants);
  }
}

TEST(BedGenotypes, AreReadInPieces) {
  const TempDir dir;
  std::mt19937_64 random(2);
  // A piece has 262144 bytes: here 262 variants, and less than one.
  for (const std::size_t samples : {4000, 1100001}) {
    std::vector<Calls> variants(samples == 4000 ? 600 : 3);
    for (Calls& calls : variants) calls = random_calls(samples, random);
    expect_calls(dir.write("x.bed", bed_file(variants)), variants);
  }
}

TEST(BedGenotypes, IgnorePadding) {
  const TempDir dir;
  std::string content = bed_file({{0, 1, 2, 3, 2}, {1, 1, 3, 0, 0}});
  for (const std::size_t last : {4, 6}) content[last] = static_cast<char>(content[last] | 0xfc);
  expect_calls(dir.write("x.bed", content), {{0, 1, 2, 3, 2}, {1, 1, 3, 0, 0}});
}

TEST(BedGenotypes, AreOfOneFormatAndSize) {
  const std::string good = bed_file({{0, 1, 2, 3, 2}, {1, 1, 3, 0, 0}});
  expect_refused(good.substr(0, 6), 5, 2, "too short: 5 samples and 2 variants make 7 bytes, but");
  expect_refused(good + "x", 5, 2, "too long: 5 samples and 2 variants make 7 bytes, but it has 8");
  expect_refused(good, 9, 2, "too short");
  expect_refused(good, 4, 2, "too long");
  expect_refused(good, 5, 1, "too long");
  for (const char* start : {"", "\x6c", "xx\x01", "\x6c\x1a\x01", "\x6c"}) {
    expect_refused(start, 5, 2, "not a BED or PGEN file");
  }
  expect_refused("\x1f\x8b\x08", 5, 2, "gunzip");
  expect_refused(std::string("\x6c\x1b\0xx", 5), 5, 2, "stored sample by sample");
  expect_refused("\x6c\x1b\x7fxx", 5, 2, "storage mode 127");
  expect_refused("\x6c\x1b", 5, 2, "stored sample by sample");  // a mode that is not there is 0
}

TEST(BedGenotypes, NeedSamplesAndVariants) {
  const TempDir dir;
  const std::string path = dir.write("x.bed", "\x6c\x1b\x01");
  EXPECT_THROW(open_genotype_file(path, 0, 1), InputError);
  EXPECT_THROW(open_genotype_file(path, 1, 0), InputError);
  EXPECT_THROW(open_genotype_file(dir.file("none"), 1, 1), FileError);
}

TEST(GenotypeFile, NoticesChanges) {
  const TempDir dir;
  const std::vector<Calls> variants(50, {0, 1, 2, 3, 0});
  for (const std::string& content : {bed_file(variants), pgen_of_calls(variants)}) {
    const std::string path = dir.write("x", content);
    const auto file = open(path, variants);
    const std::string identity = InputFile(path).identity();
    EXPECT_NO_THROW(open_genotype_file(path, 5, 50, {{path, identity}}));
    ASSERT_EQ(truncate(path.c_str(), 30), 0);
    EXPECT_THROW(read(*file, 0, 50), FileError);
    EXPECT_THROW(file->check_unchanged(), FileError);
    EXPECT_THROW(open_genotype_file(path, 5, 50, {{path, identity}}), FileError);
  }
}

// ---- PGEN ---------------------------------------------------------------------------------------

// Calls that PLINK would store by each track, and calls that it would store otherwise.
Calls calls_for(unsigned track, const Calls& base, std::mt19937_64& random, bool sparse) {
  const std::size_t samples = base.size();
  if (!sparse) return random_calls(samples, random);
  std::vector<double> weights(4, 0.02);
  if (track == 1) weights = {0.5, 0.01, 0.01, 0.5};
  if (track >= 4) weights[track % 4] = 1;
  Calls calls = random_calls(samples, random, weights);
  if (track == 2 || track == 3) {
    const Calls near = track == 2 ? base : test::swapped(base);
    for (std::size_t i = 0; i < samples; ++i) {
      if (random() % 32 != 0) calls[i] = near[i];
    }
  }
  return calls;
}

const std::vector<unsigned> kTracks = {0, 1, 2, 3, 4, 6, 7};

// n variants; each starts a block where `block` divides its number. Every track follows every
// other.
std::vector<unsigned> random_tracks(std::size_t n, std::mt19937_64& random, std::size_t block) {
  std::vector<unsigned> tracks(n);
  for (std::size_t i = 0; i < n; ++i) {
    do {
      tracks[i] = kTracks[random() % kTracks.size()];
    } while (i % block == 0 && (tracks[i] == 2 || tracks[i] == 3));
  }
  return tracks;
}

std::vector<Calls> variants_for(const std::vector<unsigned>& tracks, std::size_t samples,
                                std::mt19937_64& random) {
  std::vector<Calls> variants;
  Calls base(samples);
  for (const unsigned track : tracks) {
    variants.push_back(calls_for(track, base, random, random() % 2 == 0));
    if (track != 2 && track != 3) base = variants.back();
  }
  return variants;
}

TEST(PgenGenotypes, HaveTheCallsOfEveryTrackAndAnyNumberOfSamples) {
  const TempDir dir;
  std::mt19937_64 random(3);
  for (const std::size_t samples : kOddSizes) {
    const auto tracks = random_tracks(samples > 10000 ? 40 : 150, random, 1000);
    const auto variants = variants_for(tracks, samples, random);
    expect_calls(dir.write("x.pgen", pgen_file(variants, tracks, {3})), variants);
  }
}

TEST(PgenGenotypes, HaveEveryPairOfCalls) {
  const TempDir dir;
  std::mt19937_64 random(4);
  for (const std::size_t samples : {5, 8, 300}) {
    std::vector<Calls> variants;
    for (unsigned small = 0; small < 3; ++small) {
      for (unsigned large = small + 1; large < 4; ++large) {
        std::vector<double> weights(4, 0.05);
        weights[small] = weights[large] = 1;
        variants.push_back(random_calls(samples, random, weights));
      }
    }
    const std::vector<unsigned> tracks(variants.size(), 1);
    expect_calls(dir.write("x.pgen", pgen_file(variants, tracks)), variants);
  }
}

TEST(PgenGenotypes, HaveAnyFormOfIndex) {
  const TempDir dir;
  std::mt19937_64 random(5);
  const auto tracks = random_tracks(31, random, 1000);
  const auto variants = variants_for(tracks, 77, random);
  for (const std::size_t length_bytes : {1, 2, 3, 4}) {
    for (const bool wide_types : {false, true}) {
      for (const std::size_t allele_bytes : {0, 1, 2, 3}) {
        for (const bool reference_bits : {false, true}) {
          const PgenOptions options = {length_bytes, wide_types, allele_bytes, reference_bits};
          expect_calls(dir.write("x.pgen", pgen_file(variants, tracks, options)), variants);
        }
      }
    }
  }
}

TEST(PgenGenotypes, HaveAnyNumberOfBlocks) {
  const TempDir dir;
  std::mt19937_64 random(6);
  for (const std::size_t n : {65535, 65536, 65537, 131079}) {
    const auto tracks = random_tracks(n, random, 65536);
    const auto variants = variants_for(tracks, 5, random);
    const std::string content = pgen_file(variants, tracks, {1, n % 2 == 0, 0, true});
    expect_calls(dir.write("x.pgen", content), variants);
  }
}

// The records of this file are read by several reads of the file.
TEST(PgenGenotypes, AreReadInPieces) {
  const TempDir dir;
  std::mt19937_64 random(7);
  for (const std::size_t samples : {20000, 1100001}) {
    const auto tracks = random_tracks(samples == 20000 ? 120 : 4, random, 1000);
    const auto variants = variants_for(tracks, samples, random);
    expect_calls(dir.write("x.pgen", pgen_file(variants, tracks, {4})), variants);
  }
}

TEST(PgenGenotypes, HaveCallsWithoutIndex) {
  const TempDir dir;
  std::mt19937_64 random(8);
  for (const std::size_t samples : kOddSizes) {
    std::vector<Calls> variants(11);
    for (Calls& calls : variants) calls = random_calls(samples, random);
    for (const bool reference_bits : {false, true}) {
      std::string content = pgen_of_calls(variants, reference_bits);
      expect_calls(dir.write("x.pgen", content), variants);
      content.pop_back();
      expect_refused(content, static_cast<std::int64_t>(samples), 11, "the file is cut short");
      expect_refused(content + "xx", static_cast<std::int64_t>(samples), 11, "its records end at");
    }
  }
}

TEST(PgenGenotypes, AreReadByManyThreads) {
  const TempDir dir;
  std::mt19937_64 random(9);
  const auto tracks = random_tracks(400, random, 1000);
  const auto variants = variants_for(tracks, 301, random);
  const auto file = open(dir.write("x.pgen", pgen_file(variants, tracks)), variants);
  JobControl control;
  run_tasks(control, 4, 200, [&](std::int64_t task, const TaskContext&) {
    const std::int64_t first = task * 37 % 390;
    if (read(*file, first, 10) != packed(variants, static_cast<std::size_t>(first), 10)) {
      throw InputError("other calls");
    }
  });
}

// Texts of calls and dosages of five samples in each form of the tracks.
TEST(PgenGenotypes, GiveDosagesInEachForm) {
  const Calls calls = {0, 1, 2, kMissingCall, 1};
  const std::string two = number_bytes(20000, 2) + number_bytes(32768, 2);  // of samples 1 and 3
  const std::string all = number_bytes(0, 2) + number_bytes(20000, 2) + number_bytes(32767, 2) +
                          number_bytes(65535, 2) + number_bytes(16385, 2);
  const std::vector<std::pair<unsigned, std::string>> forms = {
      {0x20, std::string("\2\1\2", 3) + two},
      {0x60, std::string("\x0a", 1) + two},
      {0x30, std::string("\6\2\1\2", 4) + two},
      {0x30, std::string("\3\1\2\1\2", 5) + two},
      {0xa0, std::string("\2\1\2", 3) + two + std::string("\2xx", 3)},
      {0x40, all},
      {0xc0, all + std::string(10, 'x')}};
  const TempDir dir;
  for (const auto& form : forms) {
    const unsigned type = form.first;
    const std::string& tracks = form.second;
    const auto file = [&](const std::string& end) {
      return dir.write("x.pgen",
                       pgen_of_records(5, {type}, {pack(calls) + tracks + end}, {2, true}));
    };
    const auto genotypes = open_genotype_file(file(""), 5, 1, {}, {}, true);
    EXPECT_TRUE(genotypes->gives_dosages());
    std::vector<Dosage> dosages(5);
    int unit = 0;
    genotypes->read_dosages(0, 1, dosages.data(), &unit);
    EXPECT_EQ(unit, kMostUnit);
    const std::vector<Dosage> of_two = {-kMostUnit, 20000 - kMostUnit, kMostUnit, kMostUnit, 0};
    const std::vector<Dosage> of_all = {-kMostUnit, 20000 - kMostUnit, kMostUnit - 1,
                                        kMissingDosage, 1};
    EXPECT_EQ(dosages, (type & 0x60) == 0x40 ? of_all : of_two);
    EXPECT_EQ(read(*genotypes, 0, 1), pack(calls));
    EXPECT_FALSE(open_genotype_file(file(""), 5, 1)->gives_dosages());
    const auto longer = open_genotype_file(file("x"), 5, 1, {}, {}, true);
    EXPECT_THROW(longer->read_dosages(0, 1, dosages.data(), &unit), FormatError);
  }
}

// ---- Refused PGEN -------------------------------------------------------------------------------

TEST(PgenGenotypes, HaveTheCountsOfTheirTables) {
  const std::string good = pgen_file({{0, 1, 2}, {1, 2, 0}}, {0, 0});
  const std::string has = "the file has 3 samples and 2 variants, but the files beside it ";
  expect_refused(good, 4, 2, has + "4 and 2");
  expect_refused(good, 3, 1, has + "3 and 1");
  expect_refused(good, 2, 3, has + "2 and 3");
}

TEST(PgenGenotypes, HaveTheCallsBeforeFurtherTracks) {
  const Calls calls = {0, 1, 2};
  const std::string record = pack(calls);
  const auto file = [&](unsigned type, const std::string& more) {
    return pgen_of_records(3, {0, type, 2},
                           {record, record + more, test::difference_list(calls, calls)}, {2, true});
  };
  const TempDir dir;
  for (const unsigned type : {0x10, 0x20, 0x40, 0x60, 0x80, 0x90, 0xf0}) {
    const std::string path = dir.write("x.pgen", file(type, "of phase"));
    expect_calls(path, std::vector<Calls>(3, calls));
    EXPECT_EQ(open(path, {calls, calls, calls})->with_dosages(), (type & 0x60) != 0 ? 1 : 0);
    expect_refused(file(type, ""), 3, 3, "variant 2 has a damaged record: it ends too soon");
    expect_refused(file(type, std::string(300, 'x')), 3, 3, "variant 2 has a record of 301 bytes");
  }
  expect_refused(file(0, "of phase"), 3, 3, "variant 2 has a damaged record: it is too long");
  expect_refused(file(5, ""), 3, 3, "variant 2 has a damaged record: it is of the kind 5");
}

TEST(PgenGenotypes, HaveTheAltAllelesOfTheTableBeside) {
  const Calls calls = {0, 1, 2};
  const std::string record = pack(calls);
  const TempDir dir;
  // No ALT allele after the first is called.
  const std::string none = record + "\xff";
  const std::string flagged =
      pgen_of_records(3, {0, 8, 2}, {record, none, test::difference_list(calls, calls)});
  std::string counted = pgen_file({calls, calls, calls}, {0, 0, 2}, {1, false, 1});
  counted[counted.size() - 3 - 2] = 3;
  expect_refused(flagged, 3, 3, "variant 2 has several ALT alleles, but one in the file beside");
  expect_refused(counted, 3, 3, "variant 2 has 2 ALT alleles, but in the file beside it 1");
  for (const std::string& content : {flagged, counted}) {
    const auto file = open_genotype_file(dir.write("x.pgen", content), 3, 3, {}, {1, 2, 1});
    ASSERT_EQ(file->variants(), 4);
    EXPECT_EQ(read(*file, 0, 4), record + record + pack({0, 0, 0}) + record);
    EXPECT_EQ(read(*file, 2, 2), pack({0, 0, 0}) + record);
  }
  EXPECT_THROW(open_genotype_file(dir.file("x.pgen"), 3, 3, {}, {1, 2}), InputError);
  EXPECT_THROW(open_genotype_file(dir.file("x.pgen"), 3, 3, {}, {1, 2, 0}), InputError);
}

// ---- ALT alleles --------------------------------------------------------------------------------

using Alleles = std::pair<int, int>;  // of a sample; 0 is REF, -1 missing

// Values of `bits` bits, the first in the lowest.
std::string packed_values(const std::vector<unsigned>& values, unsigned bits) {
  std::string bytes((values.size() * bits + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i * bits;
    bytes[at / 8] = static_cast<char>(bytes[at / 8] | values[i] << at % 8);
  }
  return bytes;
}

// A list of samples without calls, of less than 65 samples.
std::string short_list(const std::vector<std::size_t>& samples) {
  std::string bytes = test::varint(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    bytes += i == 0 ? number_bytes(samples[0], 1) : test::varint(samples[i] - samples[i - 1]);
  }
  return bytes;
}

// The record of these alleles, by the draft's section on multiallelic hard calls.
std::string record_of_alleles(const std::vector<Alleles>& alleles, int alts, bool lists) {
  Calls categories;
  std::vector<unsigned> is_one;
  std::vector<unsigned> is_two;
  std::vector<std::size_t> ones;
  std::vector<std::size_t> twos;
  std::vector<unsigned> of_ones;
  std::vector<unsigned> of_twos;
  for (std::size_t i = 0; i < alleles.size(); ++i) {
    const auto [a, b] = alleles[i];
    categories.push_back(a < 0 ? 3 : (a > 0 ? 1 : 0) + (b > 0 ? 1 : 0));
    if (categories.back() == 1) {
      is_one.push_back(b > 1 ? 1 : 0);
      if (b > 1) ones.push_back(i), of_ones.push_back(static_cast<unsigned>(b - 2));
    } else if (categories.back() == 2) {
      is_two.push_back(b > 1 ? 1 : 0);
      if (b == 1) continue;
      twos.push_back(i);
      if (alts > 2) of_twos.push_back(static_cast<unsigned>(a - 1));
      of_twos.push_back(static_cast<unsigned>(alts == 2 ? a - 1 : b - 1));
    }
  }
  const unsigned one_bits = alts == 2 ? 0 : alts == 3 ? 1 : alts <= 5 ? 2 : alts <= 17 ? 4 : 8;
  const unsigned two_bits = alts == 2 ? 1 : alts <= 4 ? 2 : alts <= 16 ? 4 : 8;
  std::string bytes = pack(categories) + (lists ? "\x11" : std::string(1, '\0'));
  bytes += lists ? short_list(ones) : packed_values(is_one, 1);
  if (one_bits > 0) bytes += packed_values(of_ones, one_bits);
  bytes += lists ? short_list(twos) : packed_values(is_two, 1);
  return bytes + packed_values(of_twos, two_bits);
}

TEST(PgenGenotypes, SplitAltAlleles) {
  const TempDir dir;
  std::mt19937_64 random(3);
  for (const int alts : {2, 3, 4, 5, 6, 16, 17, 18, 40}) {
    for (const bool lists : {false, true}) {
      std::vector<Alleles> alleles;
      for (int i = 0; i < 61; ++i) {
        int a = static_cast<int>(random() % static_cast<unsigned>(alts + 1));
        int b =
            random() % 3 == 0 ? a : static_cast<int>(random() % static_cast<unsigned>(alts + 1));
        if (random() % 3 == 0) a = b = static_cast<int>(random() % 2);
        if (random() % 9 == 0) a = b = -1;
        alleles.emplace_back(std::min(a, b), std::max(a, b));
      }
      const std::string content =
          pgen_of_records(61, {8}, {record_of_alleles(alleles, alts, lists)});
      const auto file = open_genotype_file(dir.write("x.pgen", content), 61, 1, {}, {alts});
      for (int alt = 1; alt <= alts; ++alt) {
        Calls expected;
        for (const auto& [a, b] : alleles) {
          expected.push_back(a < 0 ? 3 : (a == alt ? 1 : 0) + (b == alt ? 1 : 0));
        }
        ASSERT_EQ(read(*file, alt - 1, 1), pack(expected)) << alts << " alleles, " << alt;
      }
    }
  }
}

TEST(PgenGenotypes, HaveKnownAltAlleles) {
  const TempDir dir;
  const auto refusal_of = [&](const std::string& track, int alts) {
    const std::string content = pgen_of_records(3, {8}, {pack({0, 1, 2}) + track});
    const std::string path = dir.write("x.pgen", content);
    return message_of<FormatError>([&] {
      const auto file = open_genotype_file(path, 3, 1, {}, {alts});
      read(*file, 0, alts);
    });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  EXPECT_TRUE(has(refusal_of("\xf2", 2), "an unknown form"));
  EXPECT_TRUE(has(refusal_of("", 2), "it ends too soon"));
  EXPECT_TRUE(has(refusal_of(std::string("\xff") + "x", 2), "it is too long"));
  // Sample 0 has no ALT allele.
  EXPECT_TRUE(has(refusal_of(std::string("\xf1\x01\0", 3), 2), "a sample without any"));
  // The fifth of four ALT alleles
  EXPECT_TRUE(has(refusal_of("\xf1\x01\x01\x03", 4), "an unknown ALT allele"));
}

TEST(PgenGenotypes, NameOtherStorageModes) {
  std::string file = pgen_file({{0, 1, 2}}, {0});
  const std::vector<std::pair<char, std::string>> modes = {
      {'\x12', "mode 18, with an unknown layout"}, {'\x05', "mode 5, with an unknown layout"}};
  for (const auto& [mode, name] : modes) {
    file[2] = mode;
    expect_refused(file, 3, 1, name);
    expect_refused(file, 3, 1, "plink2 --make-pgen");
  }
  EXPECT_NE(refusal("\x28\xb5\x2f\xfd", 3, 1).find("zstd -d"), std::string::npos);
}

TEST(GenotypeFile, HasRoomForSoManyRows) {
  const TempDir dir;
  const std::string bed = dir.write("x.bed", bed_file({{0, 1, 2}, {1, 2, 0}}));
  EXPECT_GE(most_samples(bed), 3);
  EXPECT_LE(most_samples(bed), 20);
  EXPECT_GE(most_variants(bed, 3), 2);
  EXPECT_LE(most_variants(bed, 3), 5);
  const std::string pgen = dir.write("x.pgen", pgen_file({{0, 1, 2}, {1, 2, 0}}, {0, 0}));
  EXPECT_EQ(most_samples(pgen), 3);
  EXPECT_EQ(most_variants(pgen, 3), 2);
  EXPECT_THROW(most_samples(dir.write("x.txt", "no genotypes")), FormatError);
}

TEST(PgenGenotypes, HaveAWholeIndex) {
  const std::string good = pgen_file({{0, 1, 2}, {1, 2, 0}, {2, 1, 0}}, {0, 4, 2}, {2});
  const std::size_t records = 20 + 2 + 6;
  for (std::size_t size = 3; size < good.size(); ++size) {
    expect_refused(good.substr(0, size), 3, 3,
                   size < records ? "the file is cut short" : "its records end at byte");
  }
  expect_refused(good + "x", 3, 3, "its records end at byte");
  const auto with_byte = [&](std::size_t at, char byte) {
    std::string content = good;
    content[at] = byte;
    return content;
  };
  expect_refused(with_byte(11, 0x48), 3, 3, "in a form for");
  expect_refused(with_byte(12, '\x1b'), 3, 3, "variant 1 begins within the index");
  expect_refused(with_byte(12, '\x7f'), 3, 3, "the file is cut short");
  expect_refused(with_byte(19, '\xff'), 3, 3, "the file is cut short");
  expect_refused(with_byte(20, 0x42), 3, 3, "variant 1 is stored as differences, but");
  expect_refused(with_byte(24, 0x47), 3, 3, "variant 2 has a record of 71 bytes, too many");
}

// The bytes that precede the records of a file of few variants, and the records.
std::pair<std::string, std::string> parts_of(const std::string& pgen) {
  const auto begin = static_cast<std::size_t>(little_endian<std::uint64_t>(&pgen[12]));
  return {pgen.substr(0, begin), pgen.substr(begin)};
}

// The file with these extensions after its index, and this footer. `offset_at`: the place in
// `extensions` for the offset of the footer, if there is one.
std::string with_extensions(const std::string& pgen, std::string extensions,
                            const std::string& footer, std::optional<std::size_t> offset_at) {
  auto [header, records] = parts_of(pgen);
  header[2] = '\x11';
  const std::size_t begin = header.size() + extensions.size() + (offset_at ? 8 : 0);
  header.replace(12, 8, number_bytes(begin, 8));
  if (offset_at) extensions.insert(*offset_at, number_bytes(begin + records.size(), 8));
  return header + extensions + records + footer;
}

TEST(PgenGenotypes, SkipExtensions) {
  const TempDir dir;
  const std::vector<Calls> variants = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}};
  const std::string plain = pgen_file(variants, {0, 4, 2});
  const auto expect = [&](const std::string& extensions, const std::string& footer = {},
                          std::optional<std::size_t> offset_at = std::nullopt) {
    const std::string content = with_extensions(plain, extensions, footer, offset_at);
    expect_calls(dir.write("x.pgen", content), variants);
    if (!offset_at) expect_refused(content + "x", 3, 3, "should end at byte");
  };
  using namespace std::string_literals;
  expect("\0\0"s);
  expect(
      "\x02\0\x03"
      "abc"s);
  expect(
      "\x82\x01\0\x02\x81\x00"
      "ab"
      "c"s);  // two extensions, of 2 bytes and 1
  expect("\0\x01"s, "\x02zz", 2);
  const auto refused = [&](const std::string& extensions, const std::string& why) {
    expect_refused(with_extensions(plain, extensions, "", std::nullopt), 3, 3, why);
  };
  refused("", "extensions of its header are damaged");
  refused("\x80", "extensions of its header are damaged");
  refused("\x02\0"s, "extensions of its header are damaged");
  refused(std::string(40, '\xff') + "\0"s, "extensions of its header are damaged");
  refused(
      "\x02\0\x03"
      "ab"s,
      "its header ends at byte");
  refused("\x02\0\xff\xff\xff\xff\xff\xff\xff\x7f"s, "extensions of its header are damaged");
}

TEST(PgenGenotypes, HaveTheirIndexBeside) {
  const TempDir dir;
  std::mt19937_64 random(21);
  const auto tracks = random_tracks(31, random, 1000);
  const auto variants = variants_for(tracks, 77, random);
  const auto [content, index] = test::with_index_beside(pgen_file(variants, tracks));
  const std::string path = dir.write("x.pgen", content);
  EXPECT_EQ(message_of<FileError>([&] { open(path, variants); }).find("'" + path + ".pgi': "), 0U);
  dir.write("x.pgen.pgi", index);
  expect_calls(path, variants);
  EXPECT_EQ(most_samples(path), 77);
  EXPECT_EQ(most_variants(path, 77), 31);
  const auto refusal_with = [&](const std::string& changed) {
    dir.write("x.pgen.pgi", changed);
    return message_of<FormatError>([&] { open(path, variants); });
  };
  for (std::size_t size = 0; size < index.size(); ++size) {
    EXPECT_EQ(refusal_with(index.substr(0, size)).find("'" + path + ".pgi': "), 0U) << size;
  }
  EXPECT_NE(refusal_with(index + "x").find("its header ends at byte"), std::string::npos);
  std::string other = index;
  other[12] = 2;
  EXPECT_NE(refusal_with(other).find("begins within"), std::string::npos);
  dir.write("x.pgen.pgi", index);
  const auto file = open(path, variants);
  const std::string identity = InputFile(path + ".pgi").identity();
  EXPECT_NO_THROW(open_genotype_file(path, 77, 31, {{path + ".pgi", identity}}));
  dir.write("x.pgen.pgi", index + "x");
  EXPECT_THROW(file->check_unchanged(), FileError);
  EXPECT_THROW(open_genotype_file(path, 77, 31, {{path + ".pgi", identity}}), FileError);
}

TEST(PgenGenotypes, HaveBlocksInOrder) {
  const std::vector<Calls> variants(65540, {0, 1, 2});
  const std::vector<unsigned> tracks(variants.size(), 0);
  std::string content = pgen_file(variants, tracks);
  content[20] = static_cast<char>(content[20] + 1);
  expect_refused(content, 3, 65540,
                 "variant 65537 does not begin where the variant before it ends");
  std::vector<unsigned> late = tracks;
  late[65536] = 2;
  expect_refused(pgen_of_records(3, late, std::vector<std::string>(65540, pack({0, 1, 2}))), 3,
                 65540, "variant 65537 is stored as differences, but");
}

// A file of 300 samples whose second record has this track and these bytes.
void expect_damaged(unsigned track, const std::string& record, const std::string& why) {
  const std::string first = pack(Calls(300, 1));
  expect_refused(pgen_of_records(300, {0, track}, {first, record}), 300, 2,
                 "variant 2 has a damaged record: " + why);
}

TEST(PgenGenotypes, HaveWholeRecords) {
  std::mt19937_64 random(10);
  const Calls calls = random_calls(300, random);
  for (const unsigned track : kTracks) {
    const std::string good = test::pgen_record(track, calls, Calls(300, 1));
    for (std::size_t size = 0; size < good.size(); size += size < 10 ? 1 : 7) {
      expect_damaged(track, good.substr(0, size), "it ends too soon");
    }
    if (good.size() < 600) expect_damaged(track, good + 'x', "it is too long");
  }
}

TEST(PgenGenotypes, HaveListsInOrder) {
  for (const unsigned track : {2, 3, 4, 6, 7}) {
    const std::string value(1, '\0');
    expect_damaged(track, test::varint(301) + std::string(400, 'x'), "it lists more samples");
    expect_damaged(track, test::varint(1) + number_bytes(300, 2) + value, "its samples are not");
    expect_damaged(track, test::varint(2) + number_bytes(5, 2) + value + test::varint(0),
                   "its samples are not");
    expect_damaged(track, test::varint(2) + number_bytes(5, 2) + value + test::varint(295),
                   "its samples are not");
    expect_damaged(track, "\x80\x80\x80\x80\x80\x01", "a number in it is too large");
    // 65 samples: the first group has 64 of them in 63 bytes.
    const std::string group(63, '\1');
    const auto list = [&](std::size_t second, char size) {
      return test::varint(65) + number_bytes(0, 2) + number_bytes(second, 2) + size +
             std::string(17, '\0') + group;
    };
    expect_damaged(track, list(63, '\0'), "its samples are not");
    expect_damaged(track, list(64, '\1'), "a group of samples has another size");
    const TempDir dir;
    const std::string good =
        pgen_of_records(300, {0, track}, {pack(Calls(300, 1)), list(64, '\0')});
    EXPECT_NO_THROW(read(*open_genotype_file(dir.write("x.pgen", good), 300, 2), 0, 2));
  }
}

TEST(PgenGenotypes, HaveKnownPairsOfCalls) {
  for (int code = 0; code < 256; ++code) {
    const bool known = code == 1 || code == 2 || code == 3 || code == 5 || code == 6 || code == 9;
    const std::string record = static_cast<char>(code) + std::string(38, '\0') + '\0';
    if (!known) expect_damaged(1, record, "it has an unknown pair of calls");
  }
}

}  // namespace
}  // namespace ancify
