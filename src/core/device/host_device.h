// Marks functions that CUDA kernels and the CPU share, so that they are written once; and loops of
// them that nvcc writes out, so that the arrays they index stay in registers.
#pragma once

#ifdef __CUDACC__
#define ANCIFY_HOST_DEVICE __host__ __device__
#else
#define ANCIFY_HOST_DEVICE
#endif

#ifdef __CUDA_ARCH__
#define ANCIFY_UNROLL _Pragma("unroll")
#else
#define ANCIFY_UNROLL
#endif
