// The operations of products on a device. Calls are packed quads, dosages have two bytes, numbers
// are digits base 128, and sums are exact. A column has its numbers in groups of eight: first their
// lowest digits, then the next ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/genotypes/fixed_point.h"
#include "core/genotypes/quads.h"

namespace ancify {

// The offset of a digit of a number, in bytes from its column's start.
constexpr std::size_t kEight = 8;
ANCIFY_HOST_DEVICE constexpr std::size_t digit_at(std::size_t number, std::size_t digit) {
  return number / kEight * kEight * kNumberDigits + digit * kEight + number % kEight;
}

// A block's coefficients are in runs of 64 variants, each of 8 groups of eight. A group has two
// variants of each of four quads: first one of each quad, then the other. So a device loads a
// sample's calls of four quads as one word.
ANCIFY_HOST_DEVICE constexpr std::size_t variant_at(std::size_t place) {
  const std::size_t eight = place % 64 / kEight;
  const std::size_t quad = eight % 4 * 4 + place % 4;
  const std::size_t call = eight / 4 * 2 + place % kEight / 4;
  return place / 64 * 64 + quad * kQuad + call;
}

// A dosage on a device is kDosageBase * high + low, two signed bytes. A block has the rows of its
// variants' high bytes, then the rows of their low bytes. High bytes are from -64 to 64, or
// kMissingHigh. A missing dosage counts as a call of 3, and has this low byte.
constexpr int kDosageBase = 256;
constexpr std::uint8_t kMissingHigh = 0x80;
constexpr std::int64_t kDosagePlanes = 2;
static_assert(kMostUnit <= kDosageBase * 64);

// Rows of a block on a device.
ANCIFY_HOST_DEVICE constexpr std::size_t device_rows(bool dosed) {
  return static_cast<std::size_t>(dosed ? kDosagePlanes * kBlockVariants : kBlockQuads);
}

// Blocks in a device's memory: all of calls, or all of dosages.
struct DeviceRows {
  const std::uint8_t* rows;
  std::size_t stride;  // of a row: its samples, rounded up to a multiple of 64
  bool dosed;

  // The call or dosage of a variant in a sample; or 1 if `of_missing` and it is missing, else 0.
  ANCIFY_HOST_DEVICE int value(std::size_t variant, std::size_t sample, bool of_missing) const {
    return dosed ? dosage(variant, sample, of_missing) : call(variant, sample, of_missing);
  }

 private:
  ANCIFY_HOST_DEVICE int call(std::size_t variant, std::size_t sample, bool of_missing) const {
    const std::uint8_t byte = rows[variant / kQuad * stride + sample];
    const unsigned call = call_in_quad(byte, static_cast<int>(variant % kQuad));
    return static_cast<int>(of_missing ? call & call >> 1 : call);
  }
  ANCIFY_HOST_DEVICE int dosage(std::size_t variant, std::size_t sample, bool of_missing) const {
    const std::size_t row = variant / kBlockVariants * device_rows(true) + variant % kBlockVariants;
    const std::uint8_t high = rows[row * stride + sample];
    const std::uint8_t low = rows[(row + kBlockVariants) * stride + sample];
    const bool missing = high == kMissingHigh;
    if (of_missing) return missing ? 1 : 0;
    return kDosageBase * (missing ? 0 : static_cast<std::int8_t>(high)) +
           static_cast<std::int8_t>(low);
  }
};

// sum over i of value(i) * number i of a column with these digits.
template <class Value>
ANCIFY_HOST_DEVICE std::int64_t sum_of_products(const std::int8_t* digits, std::size_t n,
                                                const Value& value) {
  std::int64_t sums[kNumberDigits] = {};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < kNumberDigits; ++d) sums[d] += value(i) * digits[digit_at(i, d)];
  }
  return join_digits(sums[0], sums[1], sums[2], sums[3]);
}

// The first half: sums over samples. Each part is one variant and column.
struct VariantSumsOp {
  static constexpr const char* kName = "VariantSumsOp";
  DeviceRows genotypes;
  std::size_t blocks;
  const std::int8_t* digits;  // of `stride` numbers of each column
  std::size_t columns;
  bool of_missing;     // sum over missing genotypes, each counted as 1
  std::int64_t* sums;  // variants x columns, a row for each variant

  ANCIFY_HOST_DEVICE std::size_t variants() const { return blocks * kBlockVariants; }
  ANCIFY_HOST_DEVICE std::size_t n() const { return variants() * columns; }
  ANCIFY_HOST_DEVICE const std::int8_t* digits_of(std::size_t column) const {
    return digits + column * genotypes.stride * kNumberDigits;
  }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    sums[i] = sum_of_products(digits_of(i % columns), genotypes.stride, [&](std::size_t sample) {
      return genotypes.value(i / columns, sample, of_missing);
    });
  }
};

// Converts an integer column of coefficients back to values. For missing calls, the centre is 0 and
// the step negative.
struct alignas(16) CoefficientScale {
  double step;
  double centre;

  // Rounds in the same order as the CPU.
  ANCIFY_HOST_DEVICE double number(std::int64_t sum) const {
    return step * (static_cast<double>(sum) - centre);
  }
};

// Bytes of digits in a block's column of coefficients.
constexpr std::size_t kBlockDigits = kBlockVariants * kNumberDigits;

// The second half: out += Z U over blocks, in order. Each part is one sample and column.
struct SampleSumsOp {
  static constexpr const char* kName = "SampleSumsOp";
  DeviceRows genotypes;
  std::size_t samples;
  std::size_t blocks;
  std::size_t columns;
  std::size_t parts;  // integer columns per column: coarse, and optionally fine
  // For each block's genotypes, then for each block's missing ones:
  const std::int8_t* digits;
  const CoefficientScale* scales;   // of integer columns
  const std::uint8_t* any_missing;  // whether each block has a missing genotype
  double* out;                      // columns of `stride` samples

  ANCIFY_HOST_DEVICE std::size_t n() const { return samples * columns; }
  ANCIFY_HOST_DEVICE std::size_t whole_columns() const { return columns * parts; }
  // The index of an integer column among all of them.
  ANCIFY_HOST_DEVICE std::size_t place_of(std::size_t block, bool of_missing,
                                          std::size_t whole_column) const {
    return ((of_missing ? blocks : 0) + block) * whole_columns() + whole_column;
  }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const std::size_t sample = i % samples;
    const std::size_t column = i / samples;
    double& sum = out[column * genotypes.stride + sample];
    for (std::size_t block = 0; block < blocks; ++block) {
      double of_block = 0;
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t whole = part * columns + column;
        for (int of_missing = 0; of_missing <= any_missing[block]; ++of_missing) {
          const std::size_t place = place_of(block, of_missing == 1, whole);
          of_block += scales[place].number(sum_of_products(
              digits + place * kBlockDigits, kBlockVariants, [&](std::size_t variant) {
                return genotypes.value(block * kBlockVariants + variant_at(variant), sample,
                                       of_missing == 1);
              }));
        }
      }
      sum += of_block;
    }
  }
};

}  // namespace ancify
