// Reading ahead by the system.
#pragma once

#include <cstdint>

#include "core/io/file.h"

namespace ancify {

// Lets the system begin to read n bytes of a file from `offset` on, without waiting.
void read_ahead(const InputFile& file, std::int64_t n, std::int64_t offset);

}  // namespace ancify
