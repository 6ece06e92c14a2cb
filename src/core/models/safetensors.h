// Reads the header of a safetensors file: 8 bytes with the length of a JSON text, the text, then
// the numbers of all tensors.
#pragma once

#include <string>
#include <vector>

#include "core/io/file.h"
#include "core/models/tensors.h"

namespace ancify {

// FormatError unless the tensors fill the file, each with the bytes that its shape needs.
TensorTable read_safetensors(const InputFile& file);

// The names of the files that an index names, in order. They lie beside it.
std::vector<std::string> files_of_index(const std::string& path);

}  // namespace ancify
