// Slow writers of BGEN, layout 2, and the calls that a plain reader makes of what they write.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#endif

#include "genotype_files.h"

namespace ancify::test {

// A sample's stored integers, one for each copy.
struct BgenSample {
  std::vector<std::uint64_t> stored;
  bool missing = false;
};

struct BgenVariant {
  std::string id = "id";
  std::string rsid = "rs";
  std::string chromosome = "1";
  std::uint32_t position = 10;
  std::vector<std::string> alleles = {"A", "C"};
  bool phased = false;
  unsigned bits = 8;
  std::vector<BgenSample> samples;
};

inline std::uint64_t bgen_scale(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

// Integers of any number of bits, the lowest bit first.
inline std::string bit_bytes(const std::vector<std::uint64_t>& numbers, unsigned bits) {
  std::string bytes((numbers.size() * bits + 7) / 8, '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (unsigned k = 0; k < bits; ++k) {
      const std::size_t bit = i * bits + k;
      const auto value = static_cast<char>((numbers[i] >> k & 1) << bit % 8);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] | value);
    }
  }
  return bytes;
}

// The inflated block.
inline std::string bgen_block(const BgenVariant& variant) {
  std::size_t least = 63;
  std::size_t most = 0;
  std::string ploidies;
  std::vector<std::uint64_t> stored;
  for (const BgenSample& sample : variant.samples) {
    const std::size_t ploidy = sample.stored.size();
    least = std::min(least, ploidy);
    most = std::max(most, ploidy);
    ploidies += static_cast<char>(ploidy + (sample.missing ? 128 : 0));
    stored.insert(stored.end(), sample.stored.begin(), sample.stored.end());
  }
  return number_bytes(variant.samples.size(), 4) + number_bytes(variant.alleles.size(), 2) +
         number_bytes(least, 1) + number_bytes(most, 1) + ploidies +
         number_bytes(variant.phased ? 1 : 0, 1) + number_bytes(variant.bits, 1) +
         bit_bytes(stored, variant.bits);
}

// `compression`: 0 for none, 1 for zlib, 2 for Zstandard.
inline std::string bgen_compressed(const std::string& block, unsigned compression) {
  if (compression == 0) return number_bytes(block.size(), 4) + block;
  std::string deflated(compressBound(block.size()) + 1024, '\0');
  std::size_t size = 0;
  if (compression == 1) {
    uLongf produced = deflated.size();
    compress2(reinterpret_cast<Bytef*>(&deflated[0]), &produced,
              reinterpret_cast<const Bytef*>(block.data()), block.size(), 6);
    size = produced;
  }
#ifdef ANCIFY_HAVE_ZSTD
  if (compression == 2) {
    size = ZSTD_compress(&deflated[0], deflated.size(), block.data(), block.size(), 3);
  }
#endif
  deflated.resize(size);
  return number_bytes(size + 4, 4) + number_bytes(block.size(), 4) + deflated;
}

inline std::string sized_text(const std::string& text, std::size_t width) {
  return number_bytes(text.size(), width) + text;
}

// The fields that precede a variant's block.
inline std::string bgen_identity(const BgenVariant& variant) {
  std::string bytes = sized_text(variant.id, 2) + sized_text(variant.rsid, 2) +
                      sized_text(variant.chromosome, 2) + number_bytes(variant.position, 4) +
                      number_bytes(variant.alleles.size(), 2);
  for (const std::string& allele : variant.alleles) bytes += sized_text(allele, 4);
  return bytes;
}

struct BgenOptions {
  unsigned compression = 0;
  std::vector<std::string> ids;  // none are written if empty
  unsigned layout = 2;
  std::string free_data;
};

inline std::string bgen_header(std::size_t samples, std::size_t variants,
                               const BgenOptions& options = {}) {
  const std::size_t flags =
      options.compression + 4 * options.layout + (options.ids.empty() ? 0 : std::size_t{1} << 31);
  const std::string header = number_bytes(20 + options.free_data.size(), 4) +
                             number_bytes(variants, 4) + number_bytes(samples, 4) + "bgen" +
                             options.free_data + number_bytes(flags, 4);
  std::string ids;
  for (const std::string& id : options.ids) ids += sized_text(id, 2);
  if (!options.ids.empty()) {
    ids = number_bytes(8 + ids.size(), 4) + number_bytes(samples, 4) + ids;
  }
  return number_bytes(header.size() + ids.size(), 4) + header + ids;
}

inline std::string bgen_file(const std::vector<BgenVariant>& variants,
                             const BgenOptions& options = {}) {
  std::string file = bgen_header(variants[0].samples.size(), variants.size(), options);
  for (const BgenVariant& variant : variants) {
    file += bgen_identity(variant) + bgen_compressed(bgen_block(variant), options.compression);
  }
  return file;
}

// The numerator of a sample's dosage of the second allele.
inline std::uint64_t bgen_numerator(const BgenVariant& variant, const BgenSample& sample) {
  const std::uint64_t one = bgen_scale(variant.bits);
  if (sample.stored.size() == 1) return 2 * (one - sample.stored[0]);
  if (variant.phased) return (one - sample.stored[0]) + (one - sample.stored[1]);
  const std::uint64_t none = sample.stored[0];
  const std::uint64_t het = sample.stored[1];
  return het + 2 * (one - none - het);
}

// The call of a sample whose dosage may be `tenths` / 10 away.
inline unsigned bgen_call(const BgenVariant& variant, const BgenSample& sample, unsigned tenths) {
  if (sample.missing || sample.stored.empty()) return 3;
  const std::uint64_t one = bgen_scale(variant.bits);
  const std::uint64_t numerator = bgen_numerator(variant, sample);
  const bool haploid = sample.stored.size() == 1;
  if (haploid && tenths == 5) return numerator > one ? 2 : 0;
  for (unsigned copies = 0; copies <= 2; ++copies) {
    const std::uint64_t exact = copies * one;
    const std::uint64_t distance = numerator > exact ? numerator - exact : exact - numerator;
    if (10 * distance <= tenths * one && !(haploid && copies == 1)) return copies;
  }
  return 3;
}

inline Calls bgen_calls(const BgenVariant& variant, unsigned tenths = 1) {
  Calls calls;
  for (const BgenSample& sample : variant.samples) {
    calls.push_back(bgen_call(variant, sample, tenths));
  }
  return calls;
}

enum class Ploidy { kDiploid, kHaploid, kMixed };

// Probabilities of which many are near 0 or 1, and some missing samples.
inline BgenVariant random_bgen_variant(std::size_t samples, unsigned bits, bool phased,
                                       Ploidy ploidy, std::mt19937_64& random) {
  BgenVariant variant;
  variant.bits = bits;
  variant.phased = phased;
  const std::uint64_t one = bgen_scale(bits);
  const auto below = [&](std::uint64_t n) { return random() % (n + 1); };
  const auto any = [&] {
    const std::uint64_t kind = random() % 4;
    return kind == 0 ? below(one) : kind == 1 ? below(one / 5) : kind == 2 ? 0 : one;
  };
  for (std::size_t i = 0; i < samples; ++i) {
    BgenSample sample;
    const bool haploid = ploidy == Ploidy::kHaploid || (ploidy == Ploidy::kMixed && random() % 2);
    sample.stored.push_back(any());
    if (!haploid) {
      sample.stored.push_back(phased ? any() : std::min(any(), one - sample.stored[0]));
    }
    sample.missing = random() % 16 == 0;
    if (sample.missing) std::fill(sample.stored.begin(), sample.stored.end(), 0);
    if (ploidy == Ploidy::kMixed && random() % 9 == 0) sample.stored.clear();
    variant.samples.push_back(sample);
  }
  return variant;
}

}  // namespace ancify::test
