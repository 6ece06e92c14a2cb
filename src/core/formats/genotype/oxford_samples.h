// Reads the table of samples of Oxford's formats, which accompanies a BGEN file.
#pragma once

#include <cstdint>
#include <string>

#include "core/exec/threads.h"
#include "core/formats/genotype/tables.h"

namespace ancify {

// Reads a .sample: a line of names, a line of types (0, D, C, P or B), and a line for each sample.
// The first columns, of type 0, are one or two IDs: the second is the IID. `missing`, also of type
// 0, is no ID. Throws FormatError as read_samples() does, and for other first lines.
SampleTable read_oxford_samples(const std::string& path, const TaskContext& context,
                                std::int64_t most = kAnyRows);

}  // namespace ancify
