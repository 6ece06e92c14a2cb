// The calls of a VCF Zarr store, variant by variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/tile_cache.h"
#include "core/formats/genotype/vcf_zarr_index.h"
#include "core/formats/genotype/vcf_zarr_store.h"

namespace ancify {

// Each place is a variant. Chunks of call_genotype become tiles of packed calls. The latest
// are kept, at least two for each chunk of samples, so that threads that read one variant after the
// other inflate each chunk once.
class VcfZarrGenotypes final : public GenotypeFile {
 public:
  // `places` come from the store's VcfZarrIndex. Throws FormatError unless the store has this
  // many samples, and these sites.
  VcfZarrGenotypes(const std::string& path, std::int64_t samples, VcfZarrPlaces places,
                   const InputIdentities& inputs = {});
  const std::string& path() const override { return store_.path(); }
  std::int64_t samples() const override { return array_.shape[1]; }
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(places_.places.size());
  }
  // FormatError names the variants and samples of a damaged chunk. Other threads inflate chunks
  // with this one if they read the same variants.
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void check_unchanged() const override { store_.check_unchanged(); }

 private:
  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };
  // Indices of a chunk's sites or samples.
  Range in_chunk(std::size_t dimension, std::int64_t chunk) const;
  Range places_of(Range sites) const;
  void check_places() const;
  TileCache::Bytes make_tile(std::int64_t site_chunk, std::int64_t sample_chunk) const;

  VcfZarrStore store_;
  ZarrArray array_;
  VcfZarrPlaces places_;
  mutable TileCache tiles_;
};

}  // namespace ancify
