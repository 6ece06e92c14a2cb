// Matrix products: the one seam to the library that does them. Matrices have their rows one after
// the other.
#pragma once

#include <cstdint>

namespace ancify {

// c = a b, or a b', where `b_transposed`: c is rows x columns, and `depth` terms are added up.
// Strides are from a row to the next, in numbers.
struct MatrixProduct {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const float* a;
  std::int64_t a_stride;
  const float* b;
  std::int64_t b_stride;
  bool b_transposed;
  float* c;
  std::int64_t c_stride;
};

// The plain loop: the oracle, and the product of builds without Eigen. Sums are in double.
inline void multiply_plainly(const MatrixProduct& product) {
  for (std::int64_t i = 0; i < product.rows; ++i) {
    const float* const row = product.a + i * product.a_stride;
    for (std::int64_t j = 0; j < product.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < product.depth; ++k) {
        const std::int64_t at =
            product.b_transposed ? j * product.b_stride + k : k * product.b_stride + j;
        sum += static_cast<double>(row[k]) * static_cast<double>(product.b[at]);
      }
      product.c[i * product.c_stride + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace ancify
