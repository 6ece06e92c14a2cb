// A listed genotype takes 2 bytes, so lists are smaller than 2 bits per call if fewer than an
// eighth of the genotypes are non-modal. They are faster only with even fewer. Listed genotypes are
// ordered by lane for both halves of a product, as threads divide the samples in the second.
#include "core/genotypes/stored_block.h"

#include <algorithm>
#include <cstring>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

namespace {

constexpr std::int64_t kAlignment = 64;

// A variant is listed if fewer than one in this many genotypes is non-modal. At this limit,
// products of 64 columns are twice as fast as with quads, but products of one column take three
// times as long.
constexpr std::int64_t kListedShare = 32;

struct ModalCall {
  unsigned call;
  std::int64_t samples;
};

ModalCall modal_call(const VariantCounts& counts, std::int64_t samples) {
  const std::array<std::int64_t, 4> of_calls = {samples - counts.one - counts.two - counts.missing,
                                                counts.one, counts.two, counts.missing};
  const auto* const most = std::max_element(of_calls.begin(), of_calls.end());
  return {static_cast<unsigned>(most - of_calls.begin()), *most};
}

// Rows hold either quads or dosages.
std::int64_t bytes_of_rows(const BlockLayout& layout, std::int64_t samples) {
  const auto dosage_bytes = static_cast<std::int64_t>(layout.dosed * sizeof(Dosage));
  return (layout.quads() + dosage_bytes) * quad_stride(samples);
}

std::int64_t bytes_of_lists(const BlockLayout& layout, std::int64_t samples) {
  if (!layout.any_listed()) return 0;
  return (lanes_of(samples) + 1) * static_cast<std::int64_t>(sizeof(std::uint32_t)) +
         layout.non_modal * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

// The modal calls of a quad's listed variants, and the bits of these variants.
struct ModalByte {
  std::uint8_t calls = 0;
  std::uint8_t mask = 0;
};

std::array<ModalByte, kBlockQuads> modal_bytes(const BlockLayout& layout) {
  std::array<ModalByte, kBlockQuads> bytes{};
  for (const std::uint8_t v : layout.listed) {
    ModalByte& of_quad = bytes[v / kQuad];
    const int shift = 2 * (v % kQuad);
    of_quad.calls = static_cast<std::uint8_t>(of_quad.calls | layout.modal[v] << shift);
    of_quad.mask = static_cast<std::uint8_t>(of_quad.mask | 3 << shift);
  }
  return bytes;
}

// Calls use(variant of the quad, i) for bytes i of a row with non-modal calls.
template <class Use>
void for_each_non_modal(const std::uint8_t* row, std::int64_t n, ModalByte modal, Use&& use) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t low_bits = 0x5555555555555555;
  for (std::int64_t i = 0; i < n; i += 8) {
    std::uint64_t calls;
    std::memcpy(&calls, row + i, sizeof calls);
    const std::uint64_t differ = (calls ^ ones * modal.calls) & ones * modal.mask;
    for (std::uint64_t left = (differ | differ >> 1) & low_bits; left != 0; left &= left - 1) {
      const int bit = __builtin_ctzll(left);
      if (i + bit / 8 < n) use(bit % 8 / 2, i + bit / 8);
    }
  }
}

// Moves variant `from` of a quad's row to variant `to` of another row.
ANCIFY_ALWAYS_INLINE void move_calls(const std::uint8_t* row, int from, std::int64_t n, int to,
                                     std::uint8_t* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint8_t>(out[i] | (row[i] >> (2 * from) & 3) << (2 * to));
  }
}

template <class In, class Out>
ANCIFY_ALWAYS_INLINE void add_multiple(const In* row, std::int64_t columns, int factor, Out* out) {
  // The numbers have 28 bits, so three times their value fits 32.
  for (std::int64_t c = 0; c < columns; ++c) out[c] += static_cast<In>(factor) * row[c];
}

// 1 if the genotype's call is missing and the modal one is not, -1 for the reverse, else 0.
ANCIFY_ALWAYS_INLINE int more_missing(const NonModalGenotype& genotype, int modal) {
  constexpr auto missing = static_cast<int>(kMissingCall);
  return (genotype.call == missing) - (modal == missing);
}

ANCIFY_ALWAYS_INLINE void over_samples(const StoredBlock& block, std::int64_t first_lane,
                                       const std::int32_t* numbers, std::int64_t columns,
                                       std::int64_t* calls, std::int64_t* missing) {
  const auto& modal = block.layout->modal;
  for (std::int64_t lane = first_lane; lane < lanes_of(block.samples); ++lane) {
    for (std::uint32_t k = block.lanes[lane]; k < block.lanes[lane + 1]; ++k) {
      const NonModalGenotype genotype(block.non_modal[k]);
      const int of_variant = modal[static_cast<std::size_t>(genotype.variant)];
      const std::int32_t* const row = numbers + (lane * kLaneSamples + genotype.sample) * columns;
      add_multiple(row, columns, genotype.call - of_variant, calls + genotype.variant * columns);
      const int more = more_missing(genotype, of_variant);
      if (more != 0) add_multiple(row, columns, more, missing + genotype.variant * columns);
    }
  }
}

ANCIFY_ALWAYS_INLINE void over_variants(const StoredBlock& block, std::int64_t lane,
                                        const double* of_calls, const double* of_missing,
                                        std::int64_t columns, double* calls, double* missing) {
  const auto& modal = block.layout->modal;
  for (std::uint32_t k = block.lanes[lane]; k < block.lanes[lane + 1]; ++k) {
    const NonModalGenotype genotype(block.non_modal[k]);
    const int of_variant = modal[static_cast<std::size_t>(genotype.variant)];
    add_multiple(of_calls + genotype.variant * columns, columns, genotype.call - of_variant,
                 calls + genotype.sample * columns);
    const int more = more_missing(genotype, of_variant);
    if (more != 0) {
      add_multiple(of_missing + genotype.variant * columns, columns, more,
                   missing + genotype.sample * columns);
    }
  }
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void over_samples_avx2(const StoredBlock& block, std::int64_t first_lane,
                                          const std::int32_t* numbers, std::int64_t columns,
                                          std::int64_t* calls, std::int64_t* missing) {
  over_samples(block, first_lane, numbers, columns, calls, missing);
}
ANCIFY_TARGET_AVX2 void over_variants_avx2(const StoredBlock& block, std::int64_t lane,
                                           const double* of_calls, const double* of_missing,
                                           std::int64_t columns, double* calls, double* missing) {
  over_variants(block, lane, of_calls, of_missing, columns, calls, missing);
}
ANCIFY_TARGET_AVX512 void over_samples_avx512(const StoredBlock& block, std::int64_t first_lane,
                                              const std::int32_t* numbers, std::int64_t columns,
                                              std::int64_t* calls, std::int64_t* missing) {
  over_samples(block, first_lane, numbers, columns, calls, missing);
}
ANCIFY_TARGET_AVX512 void over_variants_avx512(const StoredBlock& block, std::int64_t lane,
                                               const double* of_calls, const double* of_missing,
                                               std::int64_t columns, double* calls,
                                               double* missing) {
  over_variants(block, lane, of_calls, of_missing, columns, calls, missing);
}
#endif

}  // namespace

BlockLayout packed_layout(const VariantCounts* counts, int variants) {
  BlockLayout layout;
  for (int v = 0; v < variants; ++v) {
    layout.packed.push_back(static_cast<std::uint8_t>(v));
    layout.missing_packed += counts[v].missing;
  }
  return layout;
}

BlockLayout listed_layout(const VariantCounts* counts, int variants, std::int64_t samples) {
  BlockLayout layout;
  for (int v = 0; v < variants; ++v) {
    const ModalCall modal = modal_call(counts[v], samples);
    const std::int64_t non_modal = samples - modal.samples;
    if (non_modal * kListedShare < samples) {
      layout.listed.push_back(static_cast<std::uint8_t>(v));
      layout.modal[static_cast<std::size_t>(v)] = static_cast<std::uint8_t>(modal.call);
      layout.non_modal += non_modal;
      layout.missing_listed += counts[v].missing;
    } else {
      layout.packed.push_back(static_cast<std::uint8_t>(v));
      layout.missing_packed += counts[v].missing;
    }
  }
  BlockLayout packed = packed_layout(counts, variants);
  const bool lists = stored_bytes(layout, samples) < stored_bytes(packed, samples);
  return lists ? layout : packed;
}

BlockLayout dosed_layout(int variants, int largest_unit, std::int64_t missing) {
  BlockLayout layout;
  layout.dosed = variants;
  layout.largest_unit = largest_unit;
  layout.non_modal = layout.missing_listed = missing;
  return layout;
}

StoredBlock::StoredBlock(const BlockLayout& kept, std::int64_t n, const std::uint8_t* bytes)
    : layout(&kept),
      samples(n),
      rows(bytes),
      dosages(kept.dosed > 0 ? reinterpret_cast<const Dosage*>(bytes) : nullptr),
      lanes(nullptr),
      non_modal(nullptr) {
  if (!kept.any_listed()) return;
  lanes = reinterpret_cast<const std::uint32_t*>(bytes + bytes_of_rows(kept, n));
  non_modal = reinterpret_cast<const std::uint16_t*>(lanes + lanes_of(n) + 1);
}

std::int64_t stored_bytes(const BlockLayout& layout, std::int64_t samples) {
  const std::int64_t lists = bytes_of_lists(layout, samples);
  return bytes_of_rows(layout, samples) + (lists + kAlignment - 1) / kAlignment * kAlignment;
}

void store_block(const std::uint8_t* rows, const BlockLayout& layout, std::int64_t samples,
                 std::uint8_t* out) {
  const std::int64_t stride = quad_stride(samples);
  if (layout.listed.empty()) {
    std::memcpy(out, rows, static_cast<std::size_t>(layout.quads() * stride));
    return;
  }
  std::fill_n(out, layout.quads() * stride, std::uint8_t{0});
  int slot = 0;
  for (const std::uint8_t v : layout.packed) {
    move_calls(rows + v / kQuad * stride, v % kQuad, samples, slot % kQuad,
               out + slot / kQuad * stride);
    ++slot;
  }
  auto* const lanes = reinterpret_cast<std::uint32_t*>(out + layout.quads() * stride);
  auto* const non_modal = reinterpret_cast<std::uint16_t*>(lanes + lanes_of(samples) + 1);
  const auto modal = modal_bytes(layout);
  std::uint32_t n = 0;
  for (std::int64_t lane = 0; lane < lanes_of(samples); ++lane) {
    lanes[lane] = n;
    const std::int64_t first = lane * kLaneSamples;
    for (std::int64_t quad = 0; quad < kBlockQuads; ++quad) {
      const ModalByte of_quad = modal[static_cast<std::size_t>(quad)];
      if (of_quad.mask == 0) continue;
      const std::uint8_t* const row = rows + quad * stride + first;
      for_each_non_modal(
          row, std::min(kLaneSamples, samples - first), of_quad, [&](int v, std::int64_t i) {
            non_modal[n++] =
                NonModalGenotype::bits_of(i, quad * kQuad + v, call_in_quad(row[i], v));
          });
    }
  }
  lanes[lanes_of(samples)] = n;
}

void store_dosages(const DosageRows& rows, const BlockLayout& layout, std::uint8_t* out) {
  const std::int64_t n = rows.samples();
  auto* const dosages = reinterpret_cast<Dosage*>(out);
  for (int v = 0; v < layout.dosed; ++v) {
    Dosage* const row = dosages + v * quad_stride(n);
    std::replace_copy(rows[v], rows[v] + n, row, kMissingDosage, Dosage{0});
    std::fill(row + n, row + quad_stride(n), Dosage{0});
  }
  if (!layout.any_listed()) return;
  auto* const lanes = reinterpret_cast<std::uint32_t*>(out + bytes_of_rows(layout, n));
  auto* const missing = reinterpret_cast<std::uint16_t*>(lanes + lanes_of(n) + 1);
  std::uint32_t listed = 0;
  for (std::int64_t lane = 0; lane < lanes_of(n); ++lane) {
    lanes[lane] = listed;
    for (int v = 0; v < layout.dosed; ++v) {
      const Dosage* const row = rows[v] + lane * kLaneSamples;
      for (std::int64_t i = 0; i < std::min(kLaneSamples, n - lane * kLaneSamples); ++i) {
        if (row[i] != kMissingDosage) continue;
        missing[listed++] = NonModalGenotype::bits_of(i, v, kMissingCall);
      }
    }
  }
  lanes[lanes_of(n)] = listed;
}

void unpack_block(const StoredBlock& block, std::int64_t first, std::int64_t n, std::int64_t stride,
                  std::uint8_t* rows) {
  const BlockLayout& layout = *block.layout;
  if (layout.listed.empty()) {
    for (std::int64_t quad = 0; quad < kBlockQuads; ++quad) {
      std::uint8_t* const row = rows + quad * stride;
      const std::int64_t there = quad < layout.quads() ? n : 0;
      std::copy_n(block.rows + quad * quad_stride(block.samples) + first, there, row);
      std::fill(row + there, row + stride, std::uint8_t{0});
    }
    return;
  }
  const auto modal = modal_bytes(layout);
  for (std::int64_t quad = 0; quad < kBlockQuads; ++quad) {
    std::uint8_t* const row = rows + quad * stride;
    std::fill_n(row, n, modal[static_cast<std::size_t>(quad)].calls);
    std::fill(row + n, row + stride, std::uint8_t{0});
  }
  int slot = 0;
  for (const std::uint8_t v : layout.packed) {
    move_calls(block.rows + slot / kQuad * quad_stride(block.samples) + first, slot % kQuad, n,
               v % kQuad, rows + v / kQuad * stride);
    ++slot;
  }
  for (std::int64_t lane = first / kLaneSamples; lane < lanes_of(first + n); ++lane) {
    for (std::uint32_t k = block.lanes[lane]; k < block.lanes[lane + 1]; ++k) {
      const NonModalGenotype genotype(block.non_modal[k]);
      const std::int64_t i = lane * kLaneSamples + genotype.sample - first;
      if (i < 0 || i >= n) continue;
      std::uint8_t& byte = rows[genotype.variant / kQuad * stride + i];
      const int shift = 2 * static_cast<int>(genotype.variant % kQuad);
      byte = static_cast<std::uint8_t>((byte & ~(3 << shift)) | genotype.call << shift);
    }
  }
}

void sum_non_modal_over_samples(const StoredBlock& block, std::int64_t first_lane,
                                const std::int32_t* numbers, std::int64_t columns,
                                [[maybe_unused]] SimdLevel simd, std::int64_t* calls,
                                std::int64_t* missing) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) {
    return over_samples_avx512(block, first_lane, numbers, columns, calls, missing);
  }
  if (simd == SimdLevel::kAvx2) {
    return over_samples_avx2(block, first_lane, numbers, columns, calls, missing);
  }
#endif
  over_samples(block, first_lane, numbers, columns, calls, missing);
}

void sum_non_modal_over_variants(const StoredBlock& block, std::int64_t lane,
                                 const double* of_calls, const double* of_missing,
                                 std::int64_t columns, [[maybe_unused]] SimdLevel simd,
                                 double* calls, double* missing) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) {
    return over_variants_avx512(block, lane, of_calls, of_missing, columns, calls, missing);
  }
  if (simd == SimdLevel::kAvx2) {
    return over_variants_avx2(block, lane, of_calls, of_missing, columns, calls, missing);
  }
#endif
  over_variants(block, lane, of_calls, of_missing, columns, calls, missing);
}

}  // namespace ancify
