// The products used by layers: of matrices, and of rows at arbitrary offsets.
#pragma once

#include <cstdint>

#include "core/matrices/product.h"

namespace ancify {

// c += a b, where rows begin at arbitrary offsets, and may overlap as patches of an image do: row i
// of a at a + a_rows[i], row k of b at b + b_rows[k]. `columns` is a multiple of kWholeColumns.
constexpr std::int64_t kWholeColumns = 16;

template <class T>
struct PlacedProductOf {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  const T* a;
  const std::int64_t* a_rows;
  const T* b;
  const std::int64_t* b_rows;
  T* c;
  std::int64_t c_stride;
};

using PlacedProduct = PlacedProductOf<float>;

// The plain loop, an oracle for tests.
template <class T>
void add_product_plainly(const PlacedProductOf<T>& product) {
  for (std::int64_t i = 0; i < product.rows; ++i) {
    const T* const row = product.a + product.a_rows[i];
    for (std::int64_t j = 0; j < product.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < product.depth; ++k) {
        sum += static_cast<double>(row[k]) * static_cast<double>(product.b[product.b_rows[k] + j]);
      }
      product.c[i * product.c_stride + j] += static_cast<T>(sum);
    }
  }
}

// The products of a level.
template <class T>
struct ProductsOf {
  void (*multiply)(const ProductOf<T>& product);
  void (*add_product)(const PlacedProductOf<T>& product);
};

template <class T>
constexpr ProductsOf<T> kPlainProducts = {multiply_plainly<T>, add_product_plainly<T>};

}  // namespace ancify
