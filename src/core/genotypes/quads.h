// Packed genotypes: four variants ("a quad") share a row, which has one byte for each sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/host_device.h"
#include "core/device/simd.h"

namespace ancify {

constexpr std::int64_t kQuad = 4;

// Variants per block; only the last block may have fewer.
constexpr std::int64_t kBlockVariants = 256;
constexpr std::int64_t kBlockQuads = kBlockVariants / kQuad;

// Bytes of a quad's row: a byte for each sample, and zeros up to a multiple of 64.
inline std::int64_t quad_stride(std::int64_t samples) { return (samples + 63) / 64 * 64; }

// The call of variant `which` (0 to 3) of a quad, from a sample's byte: 0, 1, 2, or kMissingCall.
ANCIFY_HOST_DEVICE inline unsigned call_in_quad(std::uint8_t byte, int which) {
  return (byte >> (2 * which)) & 3U;
}

// Packs rows of 2-bit calls, as GenotypeFile::read() gives them, into a quad's row. `rows`: the
// rows of four variants, null past the last variant. `samples`: the indices of the samples to take,
// in order; null for all of `n`.
void pack_quad(const std::array<const std::uint8_t*, kQuad>& rows, std::int64_t n_in_file,
               const std::int64_t* samples, std::int64_t n, std::uint8_t* row);

// Marks the missing calls of `n` bytes of a row: a call of `marks` is 1 if it is missing, else 0.
void mark_missing(const std::uint8_t* row, std::int64_t n, std::uint8_t* marks);

// Sample counts by call of a variant.
struct VariantCounts {
  std::int64_t one = 0;
  std::int64_t two = 0;
  std::int64_t missing = 0;
};

// Counts the calls of a quad's row of `n` samples.
std::array<VariantCounts, kQuad> count_quad(const std::uint8_t* row, std::int64_t n,
                                            SimdLevel simd);

}  // namespace ancify
