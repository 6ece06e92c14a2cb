// Files with the embeddings of a part of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Rows of the sequences of a part, in order.
struct EmbeddingPart {
  std::int64_t width = 0;
  std::vector<std::string> ids;
  std::vector<std::int64_t> rows;  // of each sequence: 1, or one per residue
  std::vector<float> values;
  bool by_residue = false;
};

// Writes a file that appears whole or not at all, with its CRC-32 at the end. FileError if it
// cannot be written.
void write_part(const EmbeddingPart& part, const std::string& path, const TaskContext& context);

// FormatError if the file is damaged: its CRC-32 differs.
EmbeddingPart read_part(const std::string& path);

}  // namespace ancify
