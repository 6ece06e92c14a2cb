// Sets masked calls to missing after they are read.
#include "core/formats/genotype/masked_genotypes.h"

#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

namespace {

void check_index(std::int64_t index, std::int64_t n) {
  if (index < 0 || index >= n) throw InputError("a mask of calls goes beyond the genotypes");
}

}  // namespace

MaskedGenotypes::MaskedGenotypes(std::unique_ptr<GenotypeFile> file,
                                 const std::vector<CallMask>& masks)
    : file_(std::move(file)), mask_of_(static_cast<std::size_t>(file_->variants())) {
  if (masks.size() > UINT8_MAX) throw InputError("there are too many masks of calls");
  for (const CallMask& mask : masks) {
    bits_.push_back({bits_of(mask.heterozygous), bits_of(mask.all)});
    for (const std::int64_t variant : mask.variants) {
      check_index(variant, variants());
      mask_of_[static_cast<std::size_t>(variant)] = static_cast<std::uint8_t>(bits_.size());
    }
  }
}

std::vector<std::uint8_t> MaskedGenotypes::bits_of(const std::vector<std::int64_t>& samples) const {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(stride()));
  for (const std::int64_t sample : samples) {
    check_index(sample, this->samples());
    auto& byte = bits[static_cast<std::size_t>(sample / 4)];
    byte = static_cast<std::uint8_t>(byte | 1U << 2 * (sample % 4));
  }
  return bits;
}

void MaskedGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  file_->read(first, n, calls);
  for (std::int64_t j = 0; j < n; ++j, calls += stride()) {
    const std::uint8_t mask = mask_of_[static_cast<std::size_t>(first + j)];
    if (mask == 0) continue;
    const auto& [heterozygous, all] = bits_[mask - 1U];
    for (std::size_t i = 0; i < all.size(); ++i) {
      const unsigned call = calls[i];
      const unsigned one = call & ~(call >> 1) & heterozygous[i];
      calls[i] = static_cast<std::uint8_t>(call | one << 1 | all[i] * kMissingCall);
    }
  }
}

void MaskedGenotypes::read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                   int* units) const {
  file_->read_dosages(first, n, dosages, units);
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(stride()));
  for (std::int64_t j = 0; j < n; ++j, dosages += samples()) {
    const std::uint8_t mask = mask_of_[static_cast<std::size_t>(first + j)];
    if (mask == 0) continue;
    file_->read(first + j, 1, calls.data());
    const auto& [heterozygous, all] = bits_[mask - 1U];
    for (std::int64_t i = 0; i < samples(); ++i) {
      const bool is_het =
          dosages[i] == 0 && call_at(calls.data(), i) == 1 && call_at(heterozygous.data(), i) != 0;
      if (is_het || call_at(all.data(), i) != 0) dosages[i] = kMissingDosage;
    }
  }
}

}  // namespace ancify
