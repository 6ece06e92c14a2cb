// Reads genetic relationship matrices in the files of GCTA: PREFIX.grm.bin, .grm.N.bin and .grm.sp.
// The samples are the rows of PREFIX.grm.id, which read_samples() reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/io/rows.h"

namespace ancify {

// The lower triangle of a matrix of samples, row by row with its diagonal, as little-endian floats.
class GrmTriangle {
 public:
  // Throws FormatError unless the file has the size of so many samples.
  GrmTriangle(const std::string& path, std::int64_t samples);

  // Fills a symmetric samples x samples matrix. Throws FormatError for a value that is not finite,
  // and names its samples.
  void read(const TextColumn& ids, const TaskContext& context, double* matrix) const;
  // The smallest and the largest value. Throws as read().
  std::pair<double, double> range(const TextColumn& ids, const TaskContext& context) const;

 private:
  // Calls take(row, values) with the values of each row.
  template <class Take>
  void for_each_row_of(const TextColumn& ids, const TaskContext& context, Take take) const;

  InputFile file_;
  std::int64_t samples_;
};

// Entries of the lower triangle of a symmetric matrix, sorted by column, then row, from 0.
struct SparseTriangle {
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

// Reads lines of two samples (indices from 0) and a value. Throws FormatError for an index beyond
// the samples, a value that is not finite, and a pair that occurs twice.
SparseTriangle read_sparse_grm(const std::string& path, std::int64_t samples,
                               const TaskContext& context);

}  // namespace ancify
