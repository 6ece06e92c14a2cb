// Stored blocks of variants: common variants in quads, rare ones as lists of non-modal genotypes,
// or dosages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/simd.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/dosage_rows.h"
#include "core/genotypes/quads.h"

namespace ancify {

// Samples per lane of genotype lists.
constexpr std::int64_t kLaneSamples = 64;

inline std::int64_t lanes_of(std::int64_t samples) {
  return (samples + kLaneSamples - 1) / kLaneSamples;
}

// A call of one sample that differs from the variant's modal (most frequent) call.
struct NonModalGenotype {
  explicit NonModalGenotype(std::uint16_t bits)
      : sample(bits & 63), variant(bits >> 6 & 255), call(bits >> 14) {}
  static std::uint16_t bits_of(std::int64_t sample_in_lane, std::int64_t variant, unsigned call) {
    return static_cast<std::uint16_t>(sample_in_lane | variant << 6 | call << 14);
  }

  int sample;   // in its lane
  int variant;  // in its block
  int call;
};

// The storage layout of a block's variants.
struct BlockLayout {
  std::vector<std::uint8_t> packed;                  // variants in quads, in order
  std::vector<std::uint8_t> listed;                  // the others
  std::array<std::uint8_t, kBlockVariants> modal{};  // calls, of listed variants
  std::int64_t non_modal = 0;
  std::int64_t missing_packed = 0;  // missing calls of packed variants
  std::int64_t missing_listed = 0;
  // Variants with dosages: all of the block, or none. A missing dosage is stored as 0, and listed
  // as a missing call whose modal call is 0.
  int dosed = 0;
  int largest_unit = 0;  // of these variants

  bool any_missing() const { return missing_packed + missing_listed > 0; }
  bool any_listed() const { return !listed.empty() || (dosed > 0 && non_modal > 0); }
  int variants() const { return static_cast<int>(packed.size() + listed.size()) + dosed; }
  int quads() const { return static_cast<int>((packed.size() + kQuad - 1) / kQuad); }
};

// Layouts with all variants in quads, or with lists where these are faster and smaller.
BlockLayout packed_layout(const VariantCounts* counts, int variants);
BlockLayout listed_layout(const VariantCounts* counts, int variants, std::int64_t samples);

// A layout of dosages, of which `missing` are missing.
BlockLayout dosed_layout(int variants, int largest_unit, std::int64_t missing);

// The addresses of a block's parts.
struct StoredBlock {
  // Reads `bytes` as written by store_block().
  StoredBlock(const BlockLayout& kept, std::int64_t n, const std::uint8_t* bytes);

  const BlockLayout* layout;
  std::int64_t samples;
  const std::uint8_t* rows;    // of the quads of packed variants, quad_stride() bytes each
  const Dosage* dosages;       // a row for each variant, quad_stride() dosages each, or null
  const std::uint32_t* lanes;  // the first genotype of each lane, and the end; null without lists
  const std::uint16_t* non_modal;  // null without lists
};

// Some stored blocks.
struct StoredTile {
  std::int64_t first_block;
  std::vector<StoredBlock> blocks;
};

// Bytes that a block takes, a multiple of 64.
std::int64_t stored_bytes(const BlockLayout& layout, std::int64_t samples);

// Writes a block to `out`. `rows`: the quads of all its variants.
void store_block(const std::uint8_t* rows, const BlockLayout& layout, std::int64_t samples,
                 std::uint8_t* out);

// Writes a block of dosages.
void store_dosages(const DosageRows& rows, const BlockLayout& layout, std::uint8_t* out);

// Unpacks the quads of all variants for samples [first, first + n): kBlockQuads rows of `stride`
// bytes. The block must not have dosages.
void unpack_block(const StoredBlock& block, std::int64_t first, std::int64_t n, std::int64_t stride,
                  std::uint8_t* rows);

// Calls use(variant, sample) for each missing dosage of samples [first, first + n).
template <class Use>
void for_each_missing_dosage(const StoredBlock& block, std::int64_t first, std::int64_t n,
                             const Use& use) {
  if (block.lanes == nullptr) return;
  for (std::int64_t lane = first / kLaneSamples; lane < lanes_of(first + n); ++lane) {
    for (std::uint32_t k = block.lanes[lane]; k < block.lanes[lane + 1]; ++k) {
      const NonModalGenotype missing(block.non_modal[k]);
      const std::int64_t sample = lane * kLaneSamples + missing.sample;
      if (sample >= first && sample < first + n) use(std::int64_t{missing.variant}, sample);
    }
  }
}

// Adds the contributions of non-modal genotypes to sums over the samples from a lane on: for
// genotype i of variant v, the row calls[v] gets numbers[i] times the difference of call and modal
// call. The row missing[v] gets numbers[i] if only the call is missing, -numbers[i] if only the
// modal call is.
void sum_non_modal_over_samples(const StoredBlock& block, std::int64_t first_lane,
                                const std::int32_t* numbers, std::int64_t columns, SimdLevel simd,
                                std::int64_t* calls, std::int64_t* missing);

// The counterpart for sums over variants: the row calls[i] of sample i of a lane gets multiples of
// the row of_calls[v], and missing[i] of of_missing[v]. All values are integers.
void sum_non_modal_over_variants(const StoredBlock& block, std::int64_t lane,
                                 const double* of_calls, const double* of_missing,
                                 std::int64_t columns, SimdLevel simd, double* calls,
                                 double* missing);

}  // namespace ancify
