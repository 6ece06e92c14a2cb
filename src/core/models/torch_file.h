// Reads torch's files of weights (.pt, .pth, .bin): a zip archive with a pickled table, and a data
// file for each storage.
#pragma once

#include "core/io/file.h"
#include "core/models/tensors.h"

namespace ancify {

// The table of tensors: the root itself, or a training checkpoint's entry "model", "module",
// "state_dict" or "model_state_dict"; or the modules of a classifier that was pickled whole.
// FormatError if the file is damaged, the pickle needs more, or no tensor is found; the message
// then names the keys present.
TensorTable read_torch_file(const InputFile& file);

}  // namespace ancify
