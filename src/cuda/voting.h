// Voting on a GPU.
#pragma once

#include <cstddef>

#include "core/ancestry/voting.h"

namespace ancify::cuda {

// Calls n positions on a device; species[i] are those of species i, in host memory, as is `calls`.
// DeviceError if the device fails or has too little memory.
void call_by_vote(int device, const Voting& voting, const char* const* species, std::size_t n,
                  char* calls);

}  // namespace ancify::cuda
