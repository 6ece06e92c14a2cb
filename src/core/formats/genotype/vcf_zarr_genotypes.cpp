// Packs chunks of genotypes as tiles, and joins the tiles of a variant's samples.
#include "core/formats/genotype/vcf_zarr_genotypes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/zarr_calls.h"

namespace ancify {

namespace {

constexpr std::int64_t kLeastCache = std::int64_t{1} << 28;

// The bytes of two chunks of sites with all samples, or kLeastCache if these are fewer.
std::int64_t cache_bytes(const ZarrArray& array) {
  const std::int64_t stride = (array.shape[1] + 3) / 4;
  return std::max(kLeastCache, 2 * std::min(array.chunks[0], array.shape[0]) * stride);
}

// Copies n calls, which lie from sample `first` on in a variant whose bits are 0 there.
void insert_calls(const std::uint8_t* from, std::int64_t n, std::int64_t first,
                  std::uint8_t* variant) {
  const int shift = static_cast<int>(2 * (first % 4));
  std::uint8_t* const to = variant + first / 4;
  const std::int64_t bytes = (n + 3) / 4;
  if (shift == 0) {
    std::copy_n(from, bytes, to);
    return;
  }
  for (std::int64_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(to[i] | from[i] << shift);
    const auto high = static_cast<std::uint8_t>(from[i] >> (8 - shift));
    if (high != 0) to[i + 1] = static_cast<std::uint8_t>(to[i + 1] | high);
  }
}

std::string range_text(const char* what, std::int64_t begin, std::int64_t end) {
  return std::string(what) + " " + std::to_string(begin + 1) + " to " + std::to_string(end);
}

}  // namespace

VcfZarrGenotypes::VcfZarrGenotypes(const std::string& path, std::int64_t samples,
                                   VcfZarrPlaces places, const InputIdentities& inputs)
    : store_(path, inputs),
      array_(store_.array("call_genotype", 3)),
      places_(std::move(places)),
      tiles_(cache_bytes(array_)) {
  if (array_.type != ZarrType::kSigned) {
    throw FormatError(array_.folder, 0, "its type has no negative numbers for missing alleles");
  }
  if (array_.chunks[2] < array_.shape[2]) {
    throw FormatError(array_.folder, 0,
                      "the alleles of a sample lie in several chunks, which is not read. Write the "
                      "store anew with vcf2zarr convert");
  }
  if (array_.shape[1] != samples) {
    throw FormatError(array_.folder, 0, "it has other samples than when it was opened");
  }
  check_places();
}

void VcfZarrGenotypes::check_places() const {
  int before = 0;
  for (const VcfZarrPlaces::Place& place : places_.places) {
    if (place.site < before || place.site >= array_.shape[0] || place.alt < 1) {
      throw FormatError(array_.folder, 0, "it has other variants than when it was opened");
    }
    before = place.site;
  }
}

VcfZarrGenotypes::Range VcfZarrGenotypes::in_chunk(std::size_t dimension,
                                                   std::int64_t chunk) const {
  const std::int64_t begin = chunk * array_.chunks[dimension];
  return {begin, std::min(begin + array_.chunks[dimension], array_.shape[dimension])};
}

VcfZarrGenotypes::Range VcfZarrGenotypes::places_of(Range sites) const {
  const auto& places = places_.places;
  const auto find = [&](std::int64_t site) {
    return std::lower_bound(places.begin(), places.end(), site,
                            [](const auto& place, std::int64_t at) { return place.site < at; }) -
           places.begin();
  };
  return {find(sites.begin), find(sites.end)};
}

TileCache::Bytes VcfZarrGenotypes::make_tile(std::int64_t site_chunk,
                                             std::int64_t sample_chunk) const {
  const Range sites = in_chunk(0, site_chunk);
  const Range samples = in_chunk(1, sample_chunk);
  const Range places = places_of(sites);
  const std::int64_t n = samples.end - samples.begin;
  std::int64_t read_bytes = 0;
  auto chunk = read_zarr_integers(array_, {site_chunk, sample_chunk, 0},
                                  range_text("variants", sites.begin, sites.end) + " and " +
                                      range_text("samples", samples.begin, samples.end),
                                  read_bytes);
  if (!chunk) chunk = filled_chunk(array_);
  TileCache::Bytes tile(static_cast<std::size_t>((places.end - places.begin) * ((n + 3) / 4)));
  std::uint8_t* calls = tile.data();
  for (std::int64_t i = places.begin; i < places.end; ++i, calls += (n + 3) / 4) {
    const VcfZarrPlaces::Place& place = places_.places[static_cast<std::size_t>(i)];
    CountedAllele counted = {place.alt, place.alleles, {}};
    const auto& none = places_.no_alleles;
    for (auto it = std::lower_bound(none.begin(), none.end(), std::make_pair(place.site, 0));
         it != none.end() && it->first == place.site; ++it) {
      counted.no_alleles.push_back(it->second);
    }
    const std::int64_t begin = (place.site - sites.begin) * array_.chunks[1] * array_.chunks[2];
    const std::int64_t bad = pack_zarr_calls(*chunk, begin, n, counted, calls);
    if (bad < n) {
      throw FormatError(array_.chunk_path({site_chunk, sample_chunk, 0}), 0,
                        "sample " + std::to_string(samples.begin + bad + 1) + " of variant " +
                            std::to_string(place.site + 1) +
                            " has more than two alleles, or one that is none of its " +
                            std::to_string(place.alleles) + " alleles");
    }
  }
  return tile;
}

void VcfZarrGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  std::fill_n(calls, n * stride(), std::uint8_t{0});
  const std::int64_t end = first + n;
  const std::int64_t sample_chunks = array_.chunks_along(1);
  while (first < end) {
    const std::int64_t site_chunk =
        places_.places[static_cast<std::size_t>(first)].site / array_.chunks[0];
    std::vector<TileCache::Tile> tiles;
    for (std::int64_t k = 0; k < sample_chunks; ++k) {
      tiles.push_back(
          tiles_.get(site_chunk * sample_chunks + k, [&] { return make_tile(site_chunk, k); }));
    }
    const Range places = places_of(in_chunk(0, site_chunk));
    const std::int64_t next = std::min(places.end, end);
    for (std::int64_t k = 0; k < sample_chunks; ++k) {
      const TileCache::Bytes& tile = *tiles[static_cast<std::size_t>(k)].get();
      const Range samples = in_chunk(1, k);
      const std::int64_t width = samples.end - samples.begin;
      for (std::int64_t i = first; i < next; ++i) {
        insert_calls(tile.data() + (i - places.begin) * ((width + 3) / 4), width, samples.begin,
                     calls + (i - first) * stride());
      }
    }
    calls += (next - first) * stride();
    first = next;
  }
}

}  // namespace ancify
