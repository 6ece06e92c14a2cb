// Copies a block, and looks up the values of its calls or scales its dosages.
#include "core/genotypes/block_columns.h"

#include <array>

namespace ancify {

BlockColumns::BlockColumns(const GenotypeProducts& products, const GenotypeBlock& block)
    : products_(products),
      first_variant_(block.first_variant()),
      variants_(block.variants()),
      stride_(quad_stride(products.matrix().samples())) {
  const StoredBlock& stored = block.stored();
  if (stored.dosages == nullptr) {
    calls_.resize(static_cast<std::size_t>(kBlockQuads * stride_));
    unpack_block(stored, 0, stored.samples, stride_, calls_.data());
    return;
  }
  dosages_.assign(stored.dosages, stored.dosages + variants_ * stride_);
  for_each_missing_dosage(
      stored, 0, stored.samples, [&](std::int64_t variant, std::int64_t sample) {
        dosages_[static_cast<std::size_t>(variant * stride_ + sample)] = kMissingDosage;
      });
}

void BlockColumns::write(int variant, std::int64_t first, std::int64_t n, double* z,
                         std::int64_t step) const {
  if (calls_.empty()) return write_dosages(variant, first, n, z, step);
  const std::array<double, 4> of_call = products_.values_of_calls(first_variant_ + variant);
  const std::uint8_t* const row = calls_.data() + variant / kQuad * stride_ + first;
  const int which = static_cast<int>(variant % kQuad);
  for (std::int64_t i = 0; i < n; ++i) z[i * step] = of_call[call_in_quad(row[i], which)];
}

void BlockColumns::write_dosages(int variant, std::int64_t first, std::int64_t n, double* z,
                                 std::int64_t step) const {
  const double mean = products_.stored_mean(first_variant_ + variant);
  const double scale = products_.stored_scale(first_variant_ + variant);
  const Dosage* const row = dosages_.data() + variant * stride_ + first;
  for (std::int64_t i = 0; i < n; ++i) {
    z[i * step] = row[i] == kMissingDosage ? 0 : scale * (row[i] - mean);
  }
}

}  // namespace ancify
