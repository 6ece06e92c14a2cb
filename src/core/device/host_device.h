// Marks functions that CUDA kernels and the CPU share, so that they are written once, and their
// loops that nvcc unrolls. Full unrolling keeps the arrays that a loop indexes in registers. Eight
// iterations at a time let a thread wait for several values at once.
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
