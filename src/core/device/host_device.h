// Marks functions that CUDA kernels and the CPU share, so that they are written once. It marks
// their loops, too, which nvcc writes out. Whole loops keep the arrays that they index in
// registers. With eight turns at a time a thread waits for several numbers at once.
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
