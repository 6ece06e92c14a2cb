// Blocks of long columns: sums and updates whose bytes do not depend on the number of threads.
// Blocks, n x columns, are column-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/exec/job_control.h"

namespace ancify::reml {

// The job, and its threads.
struct Workers {
  JobControl& control;
  int threads;
};

// The size of a block.
inline std::size_t area(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>(rows * columns);
}

// Calls part(first, size) for fixed chunks of n rows, on all threads.
void for_chunks(const Workers& workers, std::int64_t n,
                const std::function<void(std::int64_t first, std::int64_t size)>& part);

// u'v, as a fixed number of partial sums.
double lane_product(std::int64_t size, const double* u, const double* v);

// sums[c] = a_c'b_c.
void column_products(const Workers& workers, std::int64_t n, int columns, const double* a,
                     const double* b, double* sums);

// out = U'V, of n x rank and n x columns.
void cross_block(const Workers& workers, std::int64_t n, int rank, int columns, const double* u,
                 const double* v, double* out);

// V += scale U W, of n x rank and rank x columns.
void add_block(const Workers& workers, std::int64_t n, int rank, int columns, double scale,
               const double* u, const double* w, double* v);

}  // namespace ancify::reml
