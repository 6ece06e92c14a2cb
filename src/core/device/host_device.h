// Marks functions that CUDA kernels and the CPU share, so that they are written once; and loops of
// them that nvcc writes out: whole, so that the arrays they index stay in registers, or eight turns
// at a time, so that a thread waits for several numbers at once.
#pragma once

#ifdef __CUDACC__
#define ANCIFY_HOST_DEVICE __host__ __device__
#else
#define ANCIFY_HOST_DEVICE
#endif

#ifdef __CUDA_ARCH__
#define ANCIFY_UNROLL _Pragma("unroll")
#define ANCIFY_UNROLL_SOME _Pragma("unroll 8")
#else
#define ANCIFY_UNROLL
#define ANCIFY_UNROLL_SOME
#endif
