// Copies from a card's memory to a block's shared memory while threads compute. Only .cu files
// include this.
//
// A thread starts copies and closes groups of them. wait_for_copies<n>() waits for all of its
// groups but the last n. Other threads see the copies after a barrier.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

namespace ancify::cuda {

struct alignas(16) Sixteen {
  std::uint32_t words[4];
};

#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

// Starts to copy 16 bytes, or writes zeros if they do not exist; `from` is then not read. Both
// addresses are aligned to 16 bytes.
__device__ inline void begin_copy(void* to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
}

__device__ inline void end_group_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int kGroups>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

#elif defined(__CUDACC__)

// Older cards copy immediately.
__device__ inline void begin_copy(void* to, const void* from, bool is_there) {
  *static_cast<Sixteen*>(to) = is_there ? *static_cast<const Sixteen*>(from) : Sixteen{};
}
__device__ inline void end_group_of_copies() {}
template <int kGroups>
__device__ inline void wait_for_copies() {}

#else

// The host copies as late as allowed, to reveal missing waits.
inline void begin_copy(void* to, const void* from, bool is_there) {
  on_host::copy_later([=] {
    const Sixteen zeros = {};
    std::memcpy(to, is_there ? from : &zeros, sizeof zeros);
  });
}
inline void end_group_of_copies() { on_host::end_group_of_copies(); }
template <int kGroups>
inline void wait_for_copies() {
  on_host::wait_for_copies(kGroups);
}

#endif

// Waits for all copies that this thread started.
__device__ inline void finish_copies() {
  end_group_of_copies();
  wait_for_copies<0>();
}

}  // namespace ancify::cuda
