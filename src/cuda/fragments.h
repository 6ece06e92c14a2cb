// The parts of two small matrices that a lane of a warp holds, as PTX lays them out for `mma`, and
// their product on cards without that instruction. Only .cu files include this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace ancify::cuda {

struct Fragments {
  std::uint32_t a[4];
  std::uint32_t b[2];
};

// The fragments of all lanes. On a card all lanes ask for one at a time.
#ifdef __CUDACC__
class WarpFragments {
 public:
  __device__ explicit WarpFragments(const Fragments& own) : own_(own) {}
  __device__ std::uint32_t a(int i, unsigned lane) const {
    return __shfl_sync(0xffffffff, own_.a[i], static_cast<int>(lane));
  }
  __device__ std::uint32_t b(int i, unsigned lane) const {
    return __shfl_sync(0xffffffff, own_.b[i], static_cast<int>(lane));
  }

 private:
  const Fragments& own_;
};
#else
class WarpFragments {
 public:
  explicit WarpFragments(const Fragments& own) : of_lanes_(on_host::exchange(own)) {}
  std::uint32_t a(int i, unsigned lane) const { return of_lanes_[lane].a[i]; }
  std::uint32_t b(int i, unsigned lane) const { return of_lanes_[lane].b[i]; }

 private:
  const Fragments* of_lanes_;
};
#endif

// C += A B, word by word. add(word of a, word of b, sum) adds the products of their elements.
template <class Sum, class Add>
__device__ inline void multiply_by_words(const Fragments& own, Sum (&c)[4], const Add& add) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned row = lane / 4;
  const unsigned column = 2 * (lane % 4);
  const WarpFragments all(own);
  for (unsigned k = 0; k < 4; ++k) {
    for (int i = 0; i < 4; ++i) {
      const unsigned of_column = 4 * (column + static_cast<unsigned>(i) % 2) + k;
      c[i] = add(all.a(i / 2, 4 * row + k), all.b(0, of_column), c[i]);
      c[i] = add(all.a(2 + i / 2, 4 * row + k), all.b(1, of_column), c[i]);
    }
  }
}

}  // namespace ancify::cuda
