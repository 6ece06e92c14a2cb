// Calls of alleles: any array sample by sample, and the usual two bytes of a sample by vectors.
#include "core/formats/genotype/zarr_calls.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/formats/genotype/genotype_file.h"
#include "core/formats/variant/variant_file.h"

namespace ancify {

namespace {

constexpr int kMostCopies = 2;
constexpr unsigned kBadCall = 4;

// The call of one sample, of `ploidy` alleles from index `begin` on; kBadCall if it has none.
unsigned call_of(const ZarrIntegers& chunk, std::int64_t begin, std::int64_t ploidy,
                 const CountedAllele& counted) {
  int n = 0;
  int copies = 0;
  bool is_missing = false;
  for (; n < ploidy; ++n) {
    const std::int64_t allele = chunk[begin + n];
    if (allele == kNoAllele) break;
    if (allele < kNoAllele || allele >= counted.alleles) return kBadCall;
    const auto& none = counted.no_alleles;
    is_missing |=
        allele == kMissingAllele || std::find(none.begin(), none.end(), allele) != none.end();
    copies += allele == counted.alt ? 1 : 0;
  }
  if (n > kMostCopies) return kBadCall;
  if (n == 0 || is_missing) return kMissingCall;
  return static_cast<unsigned>(n == 1 ? kMostCopies * copies : copies);
}

// A sample's two alleles are the bytes of `pair`, the first one the lower byte. Arithmetic in 16
// bits suits vectors.
inline std::uint8_t call_of_pair(std::uint16_t pair, std::int16_t alt, std::int16_t alleles) {
  const auto first = static_cast<std::int16_t>(static_cast<std::int16_t>(pair << 8) >> 8);
  const auto second = static_cast<std::int16_t>(static_cast<std::int16_t>(pair) >> 8);
  const int copies = (first == alt) + (second == alt);
  const int haploid = second == kNoAllele;
  const int missing = (first < 0) | (second == kMissingAllele);
  // After the end of a call, no allele counts.
  const int bad = (first < kNoAllele) | (first >= alleles) |
                  ((first != kNoAllele) & ((second < kNoAllele) | (second >= alleles)));
  const int call = missing ? static_cast<int>(kMissingCall) : copies << haploid;
  return static_cast<std::uint8_t>(bad ? static_cast<int>(kBadCall) : call);
}

std::int64_t pack_pairs(const char* pairs, std::int64_t n, const CountedAllele& counted,
                        std::uint8_t* calls) {
  constexpr std::int64_t at_once = 256;  // a multiple of 4
  std::array<std::uint16_t, at_once> own;
  std::array<std::uint8_t, at_once> codes;
  const auto alt = static_cast<std::int16_t>(counted.alt);
  const auto alleles = static_cast<std::int16_t>(counted.alleles);
  for (std::int64_t from = 0; from < n; from += at_once) {
    const std::int64_t size = std::min(at_once, n - from);
    std::memcpy(own.data(), pairs + 2 * from, static_cast<std::size_t>(2 * size));
    codes.fill(0);
    unsigned all = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      codes[static_cast<std::size_t>(i)] =
          call_of_pair(own[static_cast<std::size_t>(i)], alt, alleles);
      all |= codes[static_cast<std::size_t>(i)];
    }
    if ((all & kBadCall) != 0) {
      return from + (std::find(codes.begin(), codes.end(), kBadCall) - codes.begin());
    }
    std::uint8_t* const out = calls + from / 4;
    for (std::int64_t i = 0; i < size; i += 4) {
      const std::uint8_t* const four = &codes[static_cast<std::size_t>(i)];
      out[i / 4] = static_cast<std::uint8_t>(four[0] | four[1] << 2 | four[2] << 4 | four[3] << 6);
    }
  }
  return n;
}

// True if bytes in memory are in the order of the file.
bool is_little_endian() {
  const std::uint16_t one = 1;
  char first = 0;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

}  // namespace

std::int64_t pack_zarr_calls(const ZarrIntegers& chunk, std::int64_t begin, std::int64_t n,
                             const CountedAllele& counted, std::uint8_t* calls) {
  const ZarrArray& array = *chunk.array;
  constexpr int most = 32767;
  if (array.bytes == 1 && array.type == ZarrType::kSigned && array.shape[2] == kMostCopies &&
      array.chunks[2] == kMostCopies && counted.no_alleles.empty() && counted.alleles <= most &&
      is_little_endian()) {
    return pack_pairs(chunk.bytes.data() + begin, n, counted, calls);
  }
  std::fill_n(calls, (n + 3) / 4, std::uint8_t{0});
  for (std::int64_t i = 0; i < n; ++i) {
    const unsigned call = call_of(chunk, begin + i * array.chunks[2], array.shape[2], counted);
    if (call == kBadCall) return i;
    calls[i / 4] = static_cast<std::uint8_t>(calls[i / 4] | call << 2 * (i % 4));
  }
  return n;
}

}  // namespace ancify
