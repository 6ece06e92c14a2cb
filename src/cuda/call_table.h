// Any method's table, applied on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ancestry/site_patterns.h"

namespace ancify::cuda {

// Calls n positions on a device; species[i] are those of species i, in host memory, as are `calls`
// and `phred`, which may be null. DeviceError if the device fails or has too little memory.
void apply_table(int device, int n_species, const CallTable& table, const char* const* species,
                 std::size_t n, char* calls, std::uint8_t* phred);

}  // namespace ancify::cuda
