// Runs a GPU block's threads one after the other on a thread of the host.
#pragma once

#include <functional>
#include <vector>

#include "cuda_runtime_api.h"

namespace ancify::on_host {

// The order of a block's threads, or of a grid's blocks, by ANCIFY_THREAD_ORDER.
std::vector<unsigned> indices_in_order(unsigned n);

// Runs the kernel for all threads of the calling thread's block; blockDim has its size.
void run_block(const std::function<void()>& kernel);

}  // namespace ancify::on_host
