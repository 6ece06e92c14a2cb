// Tests VCF Zarr: calls in chunks of any size, on several threads, and buffers of Blosc. The tests
// of R compare whole stores with bio2zarr's.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "../support.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/genotype/vcf_zarr_genotypes.h"
#include "core/io/blosc.h"
#include "core/io/inflate.h"

#ifdef ANCIFY_HAVE_BLOSC
#include <blosc.h>
#endif

namespace ancify {
namespace {

using test::TempDir;

std::string number_text(std::int64_t n) { return std::to_string(n); }

// A store with nothing but genotypes, of one byte, with these chunks.
struct Store {
  std::int64_t sites;
  std::int64_t samples;
  std::int64_t site_chunk;
  std::int64_t sample_chunk;
  std::vector<signed char> alleles;  // site by site, sample by sample, two each

  signed char allele(std::int64_t site, std::int64_t sample, std::int64_t k) const {
    return alleles[static_cast<std::size_t>(2 * (site * samples + sample) + k)];
  }
  std::string chunk(std::int64_t row, std::int64_t column) const {
    std::string bytes;
    for (std::int64_t i = row * site_chunk; i < (row + 1) * site_chunk; ++i) {
      for (std::int64_t j = column * sample_chunk; j < (column + 1) * sample_chunk; ++j) {
        for (std::int64_t k = 0; k < 2; ++k) {
          bytes += i < sites && j < samples ? static_cast<char>(allele(i, j, k)) : '\x63';
        }
      }
    }
    return bytes;
  }
  void write(const TempDir& dir) const {
    dir.write(".zgroup", "{\"zarr_format\": 2}");
    std::filesystem::create_directory(dir.file("call_genotype"));
    dir.write("call_genotype/.zarray",
              "{\"zarr_format\": 2, \"order\": \"C\", \"dtype\": \"|i1\", \"fill_value\": null, "
              "\"filters\": null, \"compressor\": null, \"shape\": [" +
                  number_text(sites) + "," + number_text(samples) + ",2], \"chunks\": [" +
                  number_text(site_chunk) + "," + number_text(sample_chunk) + ",2]}");
    for (std::int64_t row = 0; row * site_chunk < sites; ++row) {
      for (std::int64_t column = 0; column * sample_chunk < samples; ++column) {
        dir.write("call_genotype/" + number_text(row) + "." + number_text(column) + ".0",
                  chunk(row, column));
      }
    }
  }
};

Store random_store(std::int64_t sites, std::int64_t samples, std::int64_t site_chunk,
                   std::int64_t sample_chunk, std::mt19937_64& random) {
  Store store = {sites, samples, site_chunk, sample_chunk, {}};
  for (std::int64_t i = 0; i < sites * samples; ++i) {
    const auto first = static_cast<signed char>(static_cast<int>(random() % 5) - 2);
    store.alleles.push_back(first);
    store.alleles.push_back(
        first == -2 ? first : static_cast<signed char>(static_cast<int>(random() % 5) - 2));
  }
  return store;
}

// All ALT alleles of some sites, which have three alleles.
VcfZarrPlaces places_of(const Store& store) {
  VcfZarrPlaces places;
  for (int site = 0; site < store.sites; ++site) {
    if (site % 7 == 3) continue;
    for (const int alt : {1, 2}) places.places.push_back({site, alt, 3});
    if (site % 5 == 2) places.no_alleles.emplace_back(site, 2);
  }
  return places;
}

unsigned plain_call(const Store& store, const VcfZarrPlaces::Place& place, std::int64_t sample) {
  unsigned copies = 0;
  unsigned n = 0;
  for (std::int64_t k = 0; k < 2; ++k) {
    const int allele = store.allele(place.site, sample, k);
    if (allele == -2) break;
    if (allele == -1 || (allele == 2 && place.site % 5 == 2)) return kMissingCall;
    if (allele == place.alt) ++copies;
    ++n;
  }
  return n == 0 ? kMissingCall : n == 1 ? 2 * copies : copies;
}

void expect_calls(const Store& store, const VcfZarrPlaces& places, std::int64_t first,
                  std::int64_t n, const std::uint8_t* calls) {
  const std::int64_t stride = (store.samples + 3) / 4;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < 4 * stride; ++i) {
      const unsigned expected =
          i < store.samples
              ? plain_call(store, places.places[static_cast<std::size_t>(first + j)], i)
              : 0;
      ASSERT_EQ(call_at(calls + j * stride, i), expected) << first + j << " " << i;
    }
  }
}

TEST(VcfZarrGenotypes, HaveTheCallsOfAnyChunksAndPieces) {
  std::mt19937_64 random(1);
  const std::int64_t samples_of[] = {1, 4, 6, 301};
  for (const std::int64_t samples : samples_of) {
    for (const std::int64_t sample_chunk : {1, 3, 4, 50, 400}) {
      if (samples / sample_chunk > 30) continue;
      const TempDir dir;
      const Store store = random_store(23, samples, 1 + sample_chunk % 9, sample_chunk, random);
      store.write(dir);
      const VcfZarrPlaces places = places_of(store);
      const VcfZarrGenotypes file(dir.path(), samples, places);
      ASSERT_EQ(file.variants(), static_cast<std::int64_t>(places.places.size()));
      for (const std::int64_t piece : {1, 5, 100}) {
        for (std::int64_t first = 0; first < file.variants(); first += piece) {
          const std::int64_t n = std::min(piece, file.variants() - first);
          std::vector<std::uint8_t> calls(static_cast<std::size_t>(n * file.stride()), 0xff);
          file.read(first, n, calls.data());
          expect_calls(store, places, first, n, calls.data());
        }
      }
      file.check_unchanged();
    }
  }
}

TEST(VcfZarrGenotypes, AreReadByThreads) {
  std::mt19937_64 random(2);
  const TempDir dir;
  const Store store = random_store(60, 37, 8, 10, random);
  store.write(dir);
  const VcfZarrPlaces places = places_of(store);
  for (const int threads : {1, 4}) {
    const VcfZarrGenotypes file(dir.path(), store.samples, places);
    JobControl control;
    run_tasks(control, threads, file.variants(), [&](std::int64_t i, const TaskContext&) {
      std::vector<std::uint8_t> calls(static_cast<std::size_t>(file.stride()));
      file.read(i, 1, calls.data());
      expect_calls(store, places, i, 1, calls.data());
    });
  }
}

TEST(VcfZarrGenotypes, NoticeChanges) {
  std::mt19937_64 random(3);
  const TempDir dir;
  const Store store = random_store(9, 5, 4, 3, random);
  store.write(dir);
  const VcfZarrPlaces places = places_of(store);
  const InputIdentities inputs = {{dir.path(), identity_of_vcf_zarr(dir.path())}};
  const VcfZarrGenotypes file(dir.path(), 5, places, inputs);
  EXPECT_THROW(VcfZarrGenotypes(dir.path(), 6, places), FormatError);
  VcfZarrPlaces others = places;
  others.places.back().site = 9;
  EXPECT_THROW(VcfZarrGenotypes(dir.path(), 5, others), FormatError);
  others.places.back().site = 0;
  EXPECT_THROW(VcfZarrGenotypes(dir.path(), 5, others), FormatError);
  dir.write("call_genotype/1.1.0", store.chunk(1, 1));
  EXPECT_THROW(file.check_unchanged(), FileError);
  EXPECT_THROW(VcfZarrGenotypes(dir.path(), 5, places, inputs), FileError);
}

TEST(Zlib, InflatesAnySize) {
  for (const std::size_t size : {0, 1, 300, 100000}) {
    const std::string text(size, 'x');
    uLongf produced = compressBound(size);
    std::string stored(produced, '\0');
    compress(reinterpret_cast<Bytef*>(stored.data()), &produced,
             reinterpret_cast<const Bytef*>(text.data()), size);
    stored.resize(produced);
    EXPECT_EQ(inflate_zlib(stored, std::size_t{100000}), text);
    if (size > 1) {
      EXPECT_THROW(inflate_zlib(stored, size - 1), InputError);
    }
    EXPECT_THROW(inflate_zlib(stored + "x", std::size_t{100000}), InputError);
    stored.pop_back();
    EXPECT_THROW(inflate_zlib(stored, std::size_t{100000}), InputError);
  }
}

#ifdef ANCIFY_HAVE_BLOSC

TEST(Blosc, InflatesAllCompressorsAndShuffles) {
  std::mt19937_64 random(4);
  std::string text;
  while (text.size() < 100000) text += static_cast<char>(random() % 3);
  for (const char* compressor : {"zstd", "lz4", "lz4hc", "blosclz", "zlib"}) {
    for (const int shuffle : {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE}) {
      for (const std::size_t width : {1, 2, 4, 8}) {
        std::string stored(text.size() + BLOSC_MAX_OVERHEAD, '\0');
        const int n = blosc_compress_ctx(5, shuffle, width, text.size(), text.data(), stored.data(),
                                         stored.size(), compressor, 0, 1);
        ASSERT_GT(n, 0);
        stored.resize(static_cast<std::size_t>(n));
        std::string inflated(text.size(), '\0');
        inflate_blosc(stored, inflated.data(), inflated.size());
        ASSERT_EQ(inflated, text) << compressor;
        EXPECT_EQ(blosc_size(stored), text.size());
        EXPECT_THROW(inflate_blosc(stored, inflated.data(), text.size() - 1), InputError);
        EXPECT_THROW(blosc_size(stored.substr(0, stored.size() - 1)), InputError);
        EXPECT_THROW(blosc_size(stored.substr(0, 8)), InputError);
      }
    }
  }
}

#else

TEST(Blosc, IsNamedInABuildWithoutIt) {
  EXPECT_THROW(blosc_size("x"), InputError);
  EXPECT_EQ(blosc_version(), "");
}

#endif

}  // namespace
}  // namespace ancify
