// Exchange among the 32 threads of a warp. Only .cu files include this.
#pragma once

#include <cuda_runtime_api.h>

namespace ancify::cuda {

// The index of the lane that differs from this one in the bits of `mask`.
__device__ inline float of_other_lane(float own, unsigned mask) {
#ifdef __CUDACC__
  return __shfl_xor_sync(0xffffffff, own, static_cast<int>(mask));
#else
  return on_host::exchange(own)[threadIdx.x % 32 ^ mask];
#endif
}

// The pointers of all lanes. All lanes ask for one at a time.
template <class T>
class OfLanes {
 public:
#ifdef __CUDACC__
  __device__ explicit OfLanes(T own) : own_(own) {}
  __device__ T operator()(unsigned lane) const {
    return reinterpret_cast<T>(__shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(own_),
                                           static_cast<int>(lane)));
  }

 private:
  T own_;
#else
  explicit OfLanes(T own) : own_(on_host::exchange(own)) {}
  T operator()(unsigned lane) const { return own_[lane]; }

 private:
  const T* own_;
#endif
};

// The sum over all lanes, in pairs: of two, of four, and so on.
__device__ inline float sum_of_warp(float own) {
#ifdef __CUDACC__
  for (unsigned mask = 16; mask > 0; mask /= 2) own += of_other_lane(own, mask);
  return own;
#else
  const float* const of_lanes = on_host::exchange(own);
  float sums[32];
  for (int lane = 0; lane < 32; ++lane) sums[lane] = of_lanes[lane];
  for (int n = 16; n > 0; n /= 2) {
    for (int lane = 0; lane < n; ++lane) sums[lane] += sums[lane + n];
  }
  return sums[0];
#endif
}

}  // namespace ancify::cuda
