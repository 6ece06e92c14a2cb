// A block's threads, one after the other on a thread of the host.
#pragma once

#include <functional>
#include <vector>

#include "cuda_runtime_api.h"

namespace ancify::on_host {

// In which order a block's threads come, and a grid's blocks; as ANCIFY_THREAD_ORDER says.
std::vector<unsigned> indices_in_order(unsigned n);

// Does what the calling thread's block, as blockDim has it, does.
void run_block(const std::function<void()>& kernel);

}  // namespace ancify::on_host
