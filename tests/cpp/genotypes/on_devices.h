// Passes of products, on devices and on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/genotypes/device_products.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/standardise.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/memory_genotypes.h"

namespace ancify {

using Wanted = std::function<bool(std::int64_t block)>;

inline const Wanted kAllBlocks = [](std::int64_t) { return true; };

inline std::unique_ptr<GenotypeFile> file_of(const Calls& calls) {
  return std::make_unique<MemoryGenotypes>(calls);
}
inline std::unique_ptr<GenotypeFile> file_of(const Dosages& dosages) {
  return std::make_unique<MemoryDosages>(dosages);
}

template <class Genotypes>
std::unique_ptr<GenotypeMatrix> matrix_of(const Genotypes& genotypes, std::int64_t memory,
                                          std::shared_ptr<ProductDevices> devices) {
  JobControl control;
  auto file = file_of(genotypes);
  GenotypeSelection all = {first_numbers(file->samples()), first_numbers(file->variants())};
  const GenotypeWork work = {2, best_simd_level(), memory, true, std::move(devices)};
  return std::make_unique<GenotypeMatrix>(std::move(file), std::move(all), work, control);
}

// The input of a pass.
struct Case {
  int columns;
  int out_columns;
  ProductBits bits;
  Wanted wanted;
};

// The output, which starts from nonzero values, followed by T.
inline std::vector<double> products_of(const GenotypeMatrix& matrix, const Case& what,
                                       JobControl& control) {
  const std::int64_t n = matrix.samples();
  const GenotypeProducts products = standardise(matrix, -1);
  const auto v = random_numbers(n * what.columns, 3);
  std::vector<double> result = random_numbers(n * what.out_columns, 4);
  result.resize(static_cast<std::size_t>(n * what.out_columns + matrix.variants() * what.columns));
  double* const of_t = result.data() + n * what.out_columns;
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = what.columns;
  pass.out_columns = what.out_columns;
  pass.out = result.data();
  pass.bits = what.bits;
  pass.wanted = what.wanted;
  products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
    std::copy_n(t, block.variants() * what.columns, of_t + block.first_variant() * what.columns);
    for (std::int64_t k = 0; k < block.variants() * what.out_columns; ++k) {
      u[k] = what.columns > 0 ? t[k % (block.variants() * what.columns)] / 3
                              : static_cast<double>(k % 17) - 7.3;
    }
  });
  return result;
}

inline std::vector<double> products_of(const GenotypeMatrix& matrix, const Case& what) {
  JobControl control;
  return products_of(matrix, what, control);
}

template <class Genotypes>
std::vector<double> on_cpu(const Genotypes& genotypes, const Case& what) {
  return products_of(*matrix_of(genotypes, 0, nullptr), what);
}

// A limit, in bytes, that leaves a device with this many samples little more memory than for a
// block, of dosages or of calls.
inline std::size_t little(std::int64_t samples, const Case& what, bool dosed = false) {
  const auto parts = static_cast<std::size_t>(what.bits == ProductBits::k56 ? 2 : 1);
  const auto columns = parts * static_cast<std::size_t>(what.columns + what.out_columns);
  const auto stride = static_cast<std::size_t>(quad_stride(samples));
  return columns * stride * 8 + 2 * (stride * device_rows(dosed) + columns * 5000) + 1000;
}

}  // namespace ancify
