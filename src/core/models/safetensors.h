// Reads and writes safetensors files: 8 bytes with the length of a JSON text, the text, then the
// data of all tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/io/file.h"
#include "core/models/tensors.h"

namespace ancify {

// FormatError unless the tensors fill the file, each with the size of its shape.
TensorTable read_safetensors(const InputFile& file);

// The texts that a file holds besides its tensors, by name.
std::map<std::string, std::string> safetensors_notes(const InputFile& file);

// Floats for a file, row by row.
struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  const std::vector<float>& values;
};

// Writes a file that appears whole or not at all. FileError if it cannot be written.
void write_safetensors(const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& notes, const std::string& path,
                       const TaskContext& context);

// The names of the files in an index, in order. They lie in its folder.
std::vector<std::string> files_of_index(const std::string& path);

}  // namespace ancify
