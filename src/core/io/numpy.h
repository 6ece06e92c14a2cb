// Reads arrays in the files of NumPy: .npy, and .npz, a zip archive of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

struct NumpyArray {
  std::string name;                // in the archive, without .npy; empty for a .npy
  bool is_whole = false;           // whether its numbers are integers, of at most 32 bits
  std::vector<std::size_t> shape;  // one or two dimensions
  std::vector<double> values;      // column by column
  std::vector<std::string> texts;  // in place of values, in UTF-8
  bool is_text = false;
};

// Arrays of f4, f8, i4 and i8, in either order of bytes and of dimensions, and of texts (U) in one
// dimension. Throws FormatError if a file is damaged, or an array has another type, other
// dimensions, an integer beyond 32 bits, or no Unicode.
std::vector<NumpyArray> read_numpy(const std::string& path, const TaskContext& context);

}  // namespace ancify
