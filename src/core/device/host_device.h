// Functions that a CUDA kernel and the CPU share are written once, under this macro.
#pragma once

#ifdef __CUDACC__
#define ANCIFY_HOST_DEVICE __host__ __device__
#else
#define ANCIFY_HOST_DEVICE
#endif
