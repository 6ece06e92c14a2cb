// Rows are summed over a fixed tree of fixed chunks, each with fixed lanes.
#include "core/reml/linear_algebra/tall_blocks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/exec/threads.h"

namespace ancify::reml {

namespace {

constexpr std::int64_t kChunk = 1024;
constexpr int kLanes = 4;
// Columns of U that are processed together, so that a value of V is loaded once for all.
constexpr int kTogether = 4;

std::int64_t chunks_of(std::int64_t n) { return (n + kChunk - 1) / kChunk; }

using Sums = std::array<double, kTogether>;

// u_k'v for kTogether columns of U, `stride` apart.
Sums products_together(std::int64_t size, std::int64_t stride, const double* u, const double* v) {
  std::array<std::array<double, kLanes>, kTogether> lanes = {};
  const std::int64_t whole = size - size % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int k = 0; k < kTogether; ++k) {
      for (int lane = 0; lane < kLanes; ++lane) {
        lanes[k][lane] += u[k * stride + i + lane] * v[i + lane];
      }
    }
  }
  Sums sums;
  for (int k = 0; k < kTogether; ++k) {
    double rest = 0;
    for (std::int64_t i = whole; i < size; ++i) rest += u[k * stride + i] * v[i];
    sums[k] = (lanes[k][0] + lanes[k][1]) + (lanes[k][2] + lanes[k][3]) + rest;
  }
  return sums;
}

// U'V of a chunk; the columns of both are n apart.
void cross_chunk(std::int64_t n, std::int64_t size, int rank, int columns, const double* u,
                 const double* v, double* out) {
  int k = 0;
  for (; k + kTogether <= rank; k += kTogether) {
    for (int c = 0; c < columns; ++c) {
      const Sums sums = products_together(size, n, u + k * n, v + c * n);
      std::copy(sums.begin(), sums.end(), out + static_cast<std::ptrdiff_t>(c) * rank + k);
    }
  }
  for (; k < rank; ++k) {
    for (int c = 0; c < columns; ++c) {
      out[static_cast<std::ptrdiff_t>(c) * rank + k] = lane_product(size, u + k * n, v + c * n);
    }
  }
}

// Sums the parts of all chunks, `size` values each, into the first part.
void add_parts(std::size_t chunks, std::size_t size, double* parts) {
  for (std::size_t step = 1; step < chunks; step *= 2) {
    for (std::size_t i = 0; i + step < chunks; i += 2 * step) {
      double* const to = parts + i * size;
      const double* const from = parts + (i + step) * size;
      for (std::size_t j = 0; j < size; ++j) to[j] += from[j];
    }
  }
}

// out = the sum over all chunks of the parts that sum(first, size, part) fills.
void sum_chunks(const Workers& workers, std::int64_t n, std::size_t sums, double* out,
                const std::function<void(std::int64_t, std::int64_t, double*)>& sum) {
  const auto chunks = static_cast<std::size_t>(chunks_of(n));
  std::vector<double> parts(chunks * sums);
  for_chunks(workers, n, [&](std::int64_t first, std::int64_t size) {
    sum(first, size, &parts[static_cast<std::size_t>(first / kChunk) * sums]);
  });
  add_parts(chunks, sums, parts.data());
  std::copy_n(parts.data(), sums, out);
}

}  // namespace

double lane_product(std::int64_t size, const double* u, const double* v) {
  std::array<double, kLanes> lanes = {};
  const std::int64_t whole = size - size % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += u[i + lane] * v[i + lane];
  }
  double rest = 0;
  for (std::int64_t i = whole; i < size; ++i) rest += u[i] * v[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest;
}

void for_chunks(const Workers& workers, std::int64_t n,
                const std::function<void(std::int64_t, std::int64_t)>& part) {
  run_tasks(workers.control, workers.threads, chunks_of(n),
            [&](std::int64_t chunk, const TaskContext&) {
              part(chunk * kChunk, std::min(kChunk, n - chunk * kChunk));
            });
}

void column_products(const Workers& workers, std::int64_t n, int columns, const double* a,
                     const double* b, double* sums) {
  if (columns == 0) return;
  sum_chunks(workers, n, static_cast<std::size_t>(columns), sums,
             [&](std::int64_t first, std::int64_t size, double* part) {
               for (int c = 0; c < columns; ++c) {
                 part[c] = lane_product(size, a + c * n + first, b + c * n + first);
               }
             });
}

void cross_block(const Workers& workers, std::int64_t n, int rank, int columns, const double* u,
                 const double* v, double* out) {
  if (rank == 0 || columns == 0) return;
  sum_chunks(workers, n, static_cast<std::size_t>(rank) * static_cast<std::size_t>(columns), out,
             [&](std::int64_t first, std::int64_t size, double* part) {
               cross_chunk(n, size, rank, columns, u + first, v + first, part);
             });
}

void add_block(const Workers& workers, std::int64_t n, int rank, int columns, double scale,
               const double* u, const double* w, double* v) {
  if (rank == 0) return;
  for_chunks(workers, n, [&](std::int64_t first, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      double* const to = v + c * n + first;
      const double* const factors = w + static_cast<std::ptrdiff_t>(c) * rank;
      int k = 0;
      for (; k + kTogether <= rank; k += kTogether) {
        const double* const from = u + k * n + first;
        const double w0 = scale * factors[k];
        const double w1 = scale * factors[k + 1];
        const double w2 = scale * factors[k + 2];
        const double w3 = scale * factors[k + 3];
        for (std::int64_t i = 0; i < size; ++i) {
          to[i] +=
              (w0 * from[i] + w1 * from[n + i]) + (w2 * from[2 * n + i] + w3 * from[3 * n + i]);
        }
      }
      for (; k < rank; ++k) {
        const double* const from = u + k * n + first;
        const double factor = scale * factors[k];
        for (std::int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
      }
    }
  });
}

}  // namespace ancify::reml
