// Inflates buffers of Blosc, as arrays of Zarr have them, where configure has found libblosc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ancify {

// The inflated size, by the header of a buffer. Throws InputError for a damaged header, and in a
// build without libblosc.
std::size_t blosc_size(std::string_view buffer);

// Inflates a whole buffer into exactly `size` bytes, on this thread. Throws InputError.
void inflate_blosc(std::string_view buffer, char* output, std::size_t size);

// The version of libblosc; empty in a build without it.
std::string blosc_version();

}  // namespace ancify
