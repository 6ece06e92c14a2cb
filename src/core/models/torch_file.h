// Reads torch's files of weights (.pt, .pth, .bin): a zip archive with a pickled table, and a file
// of numbers for each storage.
#pragma once

#include "core/io/file.h"
#include "core/models/tensors.h"

namespace ancify {

// The table of tensors: the root itself, or its member "model" or "state_dict"; or those of the
// modules of a classifier that was pickled whole. FormatError if the file is damaged, or the pickle
// wants more.
TensorTable read_torch_file(const InputFile& file);

}  // namespace ancify
