// Products of columns with a vector, in doubles. Each level's file includes this one. Sums have one
// lane per register element, wherever the data begin, so results do not depend on alignment.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/matrices/product.h"

namespace ancify {

namespace {

// Uses the vector extensions of GCC and clang, as GCC does not vectorise loops over lanes.
#if defined(__AVX512F__)
using Lanes = double __attribute__((vector_size(64)));
#elif defined(__AVX__)
using Lanes = double __attribute__((vector_size(32)));
#else
using Lanes = double __attribute__((vector_size(16)));
#endif
constexpr std::int64_t kLanes = sizeof(Lanes) / sizeof(double);
constexpr std::int64_t kTogether = 4;  // columns that share one read of a vector

inline void load(const double* from, Lanes& lanes) { std::memcpy(&lanes, from, sizeof lanes); }
inline void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }

inline double sum_of(const Lanes& lanes) {
  double sum = 0;
  for (std::int64_t k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

// sums[c] = a_c'x, for kColumns columns.
template <std::int64_t kColumns>
void some_column_dots(std::int64_t n, const double* a, std::int64_t stride, const double* x,
                      double* sums) {
  Lanes lanes[kColumns] = {};
  double last[kColumns] = {};
  Lanes of_x;
  Lanes of_a;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    load(x + i, of_x);
    for (std::int64_t c = 0; c < kColumns; ++c) {
      load(a + c * stride + i, of_a);
      lanes[c] += of_a * of_x;
    }
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < kColumns; ++c) last[c] += a[c * stride + i] * x[i];
  }
  for (std::int64_t c = 0; c < kColumns; ++c) sums[c] = sum_of(lanes[c]) + last[c];
}

void column_dots(std::int64_t n, std::int64_t columns, const double* a, std::int64_t stride,
                 const double* x, double* sums) {
  std::int64_t c = 0;
  for (; c + kTogether <= columns; c += kTogether) {
    some_column_dots<kTogether>(n, a + c * stride, stride, x, sums + c);
  }
  for (; c < columns; ++c) some_column_dots<1>(n, a + c * stride, stride, x, sums + c);
}

// y -= A X' for kColumns columns of y, and kVectors registers of their rows.
template <std::int64_t kVectors, std::int64_t kColumns>
void subtract_block(std::int64_t depth, const double* a, std::int64_t a_stride, const double* x,
                    std::int64_t x_stride, double* y, std::int64_t y_stride) {
  Lanes of_y[kColumns][kVectors];
  Lanes of_a[kVectors];
  for (std::int64_t c = 0; c < kColumns; ++c) {
    for (std::int64_t v = 0; v < kVectors; ++v) load(y + c * y_stride + v * kLanes, of_y[c][v]);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t v = 0; v < kVectors; ++v) load(a + k * a_stride + v * kLanes, of_a[v]);
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const double factor = x[k * x_stride + c];
      for (std::int64_t v = 0; v < kVectors; ++v) of_y[c][v] -= of_a[v] * factor;
    }
  }
  for (std::int64_t c = 0; c < kColumns; ++c) {
    for (std::int64_t v = 0; v < kVectors; ++v) store(of_y[c][v], y + c * y_stride + v * kLanes);
  }
}

template <std::int64_t kColumns>
void subtract_for_columns(const DifferenceOf& d, std::int64_t column) {
  const double* const x = d.x + column;
  double* const y = d.y + column * d.y_stride;
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= d.rows; i += 2 * kLanes) {
    subtract_block<2, kColumns>(d.depth, d.a + i, d.a_stride, x, d.x_stride, y + i, d.y_stride);
  }
  for (; i + kLanes <= d.rows; i += kLanes) {
    subtract_block<1, kColumns>(d.depth, d.a + i, d.a_stride, x, d.x_stride, y + i, d.y_stride);
  }
  for (; i < d.rows; ++i) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      double& out = y[c * d.y_stride + i];
      for (std::int64_t k = 0; k < d.depth; ++k) {
        out -= d.a[k * d.a_stride + i] * x[k * d.x_stride + c];
      }
    }
  }
}

void subtract_columns(const DifferenceOf& d) {
  std::int64_t c = 0;
  for (; c + kTogether <= d.columns; c += kTogether) subtract_for_columns<kTogether>(d, c);
  for (; c < d.columns; ++c) subtract_for_columns<1>(d, c);
}

// Adds to y the contribution of kColumns columns from the diagonal on, and of their mirrored rows,
// to a product of the matrix.
template <std::int64_t kColumns>
void add_symmetric(std::int64_t n, const double* a, std::int64_t stride, const double* x,
                   double* y) {
  double last[kColumns] = {};
  for (std::int64_t c = 0; c < kColumns; ++c) {
    last[c] += a[c * stride + c] * x[c];
    for (std::int64_t r = c + 1; r < kColumns; ++r) {
      last[r] += a[c * stride + r] * x[c];
      last[c] += a[c * stride + r] * x[r];
    }
  }
  Lanes lanes[kColumns] = {};
  Lanes of_a;
  Lanes of_x;
  Lanes of_y;
  std::int64_t i = kColumns;
  for (; i + kLanes <= n; i += kLanes) {
    load(x + i, of_x);
    load(y + i, of_y);
    for (std::int64_t c = 0; c < kColumns; ++c) {
      load(a + c * stride + i, of_a);
      of_y += of_a * x[c];
      lanes[c] += of_a * of_x;
    }
    store(of_y, y + i);
  }
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      y[i] += a[c * stride + i] * x[c];
      last[c] += a[c * stride + i] * x[i];
    }
  }
  for (std::int64_t c = 0; c < kColumns; ++c) y[c] += sum_of(lanes[c]) + last[c];
}

void add_symmetric_columns(std::int64_t n, std::int64_t columns, const double* a,
                           std::int64_t stride, const double* x, double* y) {
  std::int64_t c = 0;
  for (; c + kTogether <= columns; c += kTogether) {
    add_symmetric<kTogether>(n - c, a + c * (stride + 1), stride, x + c, y + c);
  }
  for (; c < columns; ++c) add_symmetric<1>(n - c, a + c * (stride + 1), stride, x + c, y + c);
}

}  // namespace

}  // namespace ancify
