// Checks that the stand-in for CUDA finds each fault that it should find.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "cub/device/device_radix_sort.cuh"
#include "cuda/async_copy.h"
#include "cuda/launch.h"
#include "gpu/watched.h"
#include "sanitizer.h"

namespace ancify::on_host {
namespace {

constexpr unsigned kThreads = 64;
constexpr std::size_t kBytes = kThreads * sizeof(int);

class DeviceInts {
 public:
  DeviceInts() { cudaMalloc(reinterpret_cast<void**>(&data_), kBytes); }
  ~DeviceInts() { cudaFree(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};

template <class... Parameters, class... Arguments>
void launch_one(void (*kernel)(Parameters...), const Arguments&... arguments) {
  cuda::launch(kernel, {1, kThreads, kBytes}, nullptr, arguments...);
}

// Runs a fault in a process of its own, as the stand-in reports at the end of a process.
void expect_found(void (*fault)(), const std::string& said) {
  EXPECT_EXIT((fault(), std::exit(0)), testing::ExitedWithCode(1), said);
}

// Each thread reads its neighbour's value.
template <bool kBarrier>
__global__ void rotate_kernel(int* result) {
  ANCIFY_SHARED_MEMORY(int, shared);
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kBarrier) __syncthreads();
  result[threadIdx.x] = shared[threadIdx.x ^ 1];
}

template <bool kBarrier>
std::vector<int> rotated(const char* order) {
  setenv("ANCIFY_THREAD_ORDER", order, 1);
  const DeviceInts ints;
  launch_one(rotate_kernel<kBarrier>, ints.data());
  unsetenv("ANCIFY_THREAD_ORDER");
  std::vector<int> result(kThreads);
  cudaMemcpy(result.data(), ints.data(), kBytes, cudaMemcpyDeviceToHost);
  return result;
}

TEST(PlantedFaults, AMissingBarrierLetsResultsDependOnTheOrder) {
  std::vector<int> right(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) right[i] = static_cast<int>(i ^ 1);
  for (const char* const order : {"forward", "reverse", "random"}) {
    EXPECT_EQ(rotated<true>(order), right) << order;
    EXPECT_NE(rotated<false>(order), right) << order;
  }
  EXPECT_NE(rotated<false>("forward"), rotated<false>("reverse"));
  EXPECT_NE(rotated<false>("random"), rotated<false>("forward"));
  EXPECT_NE(rotated<false>("random"), rotated<false>("reverse"));
}

TEST(PlantedFaults, AnOrderOfThreadsThatThereIsNot) {
  expect_found([] { rotated<true>("backward"); }, "ANCIFY_THREAD_ORDER is 'backward'");
}

__global__ void half_meet_kernel() {
  if (threadIdx.x < kThreads / 2) __syncthreads();
}

TEST(PlantedFaults, ABarrierThatNotAllThreadsMeet) {
  expect_found([] { launch_one(half_meet_kernel); }, "ended while others wait at a barrier");
}

__global__ void two_barriers_kernel(int* result) {
  if (threadIdx.x < kThreads / 2) {
    result[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
    result[threadIdx.x] = 2;
  }
}

TEST(PlantedFaults, ThreadsThatWaitAtDifferentBarriers) {
  const auto fault = [] { launch_one(two_barriers_kernel, DeviceInts().data()); };
  expect_found(fault, "wait at different barriers");
}

// Each lane takes values of its neighbour in the warp, one exchange after the other.
__global__ void exchange_kernel(int* result) {
  int value = static_cast<int>(threadIdx.x);
  for (int turn = 0; turn < 3; ++turn) value = exchange(value)[(threadIdx.x + 1) % 32];
  result[threadIdx.x] = value;
}

TEST(PlantedFaults, LanesOfAWarpExchangeValues) {
  for (const char* const order : {"forward", "reverse", "random"}) {
    setenv("ANCIFY_THREAD_ORDER", order, 1);
    const DeviceInts ints;
    launch_one(exchange_kernel, ints.data());
    unsetenv("ANCIFY_THREAD_ORDER");
    std::vector<int> result(kThreads);
    cudaMemcpy(result.data(), ints.data(), kBytes, cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < kThreads; ++i) {
      EXPECT_EQ(result[i], static_cast<int>(i / 32 * 32 + (i + 3) % 32)) << order;
    }
  }
}

__global__ void half_exchange_kernel() {
  if (threadIdx.x % 32 < 16) exchange(1);
}

TEST(PlantedFaults, AnExchangeWithoutSomeLanes) {
  expect_found([] { launch_one(half_exchange_kernel); }, "ended while others wait at a barrier");
}

// Each thread copies 16 bytes to shared memory, in one group of copies or another.
template <int kLeft>
__global__ void copy_kernel(const cuda::Sixteen* from, cuda::Sixteen* to) {
  ANCIFY_SHARED_MEMORY(cuda::Sixteen, shared);
  shared[threadIdx.x] = {};
  cuda::begin_copy(shared + threadIdx.x, from, threadIdx.x > 0);
  cuda::end_group_of_copies();
  cuda::end_group_of_copies();
  cuda::wait_for_copies<kLeft>();
  *to = shared[threadIdx.x];
}

// The first number that a thread finds where it copied.
template <int kLeft>
int copied(unsigned threads) {
  const DeviceInts from;
  const DeviceInts to;
  const std::vector<int> values(kThreads, 7);
  cudaMemcpy(from.data(), values.data(), kBytes, cudaMemcpyHostToDevice);
  cuda::launch(copy_kernel<kLeft>, {1, threads, threads * sizeof(cuda::Sixteen)}, nullptr,
               reinterpret_cast<const cuda::Sixteen*>(from.data()),
               reinterpret_cast<cuda::Sixteen*>(to.data()));
  int first = -1;
  cudaMemcpy(&first, to.data(), sizeof first, cudaMemcpyDeviceToHost);
  return first;
}

TEST(PlantedFaults, ACopyThatIsNotWaitedFor) {
  EXPECT_EQ(copied<0>(2), 7);
  EXPECT_EQ(copied<1>(2), 7);
  EXPECT_EQ(copied<2>(2), 0);
  EXPECT_EQ(copied<0>(1), 0);  // nothing is there to copy
}

__global__ void write_kernel(int* to, std::ptrdiff_t offset) { to[threadIdx.x + offset] = 1; }

__global__ void read_kernel(int* to, std::ptrdiff_t offset) {
  to[threadIdx.x] = to[threadIdx.x + offset];
}

__global__ void write_shared_kernel(std::ptrdiff_t offset) {
  ANCIFY_SHARED_MEMORY(int, shared);
  shared[threadIdx.x + offset] = 1;
}

template <std::ptrdiff_t kOffset>
void expect_write_found() {
  const std::string beside = "a kernel wrote beside 256 bytes of ";
  const std::string poisoned = "AddressSanitizer: use-after-poison";
  expect_found([] { launch_one(write_kernel, DeviceInts().data(), kOffset); },
               kClosesMemory ? poisoned : beside + "device memory");
  expect_found([] { launch_one(write_shared_kernel, kOffset); },
               kClosesMemory ? poisoned : beside + "shared memory");
}

TEST(PlantedFaults, AnIndexBehindMemory) { expect_write_found<1>(); }

TEST(PlantedFaults, AnIndexBeforeMemory) { expect_write_found<-1>(); }

TEST(PlantedFaults, WhatIsReadBehindMemory) {
  if (!kClosesMemory) GTEST_SKIP() << "only AddressSanitizer sees what is read beside memory";
  expect_found([] { launch_one(read_kernel, DeviceInts().data(), std::ptrdiff_t{1}); },
               "AddressSanitizer: use-after-poison");
}

void copy_to(void* to, std::size_t n, cudaMemcpyKind kind) {
  const std::vector<char> from(n);
  cudaMemcpy(to, from.data(), n, kind);
}

TEST(PlantedFaults, ACopyOutOfRange) {
  expect_found([] { copy_to(DeviceInts().data(), kBytes + 1, cudaMemcpyHostToDevice); },
               "a copy or fill goes beyond device memory");
  const auto from_the_host = [] {
    void* memory = nullptr;
    cudaMallocHost(&memory, kBytes - 1);
    cudaMemcpy(DeviceInts().data(), memory, kBytes, cudaMemcpyHostToDevice);
    cudaFreeHost(memory);
  };
  expect_found(from_the_host, "a copy or fill goes beyond host memory");
}

TEST(PlantedFaults, AFillOutOfRange) {
  expect_found([] { cudaMemsetAsync(DeviceInts().data(), 0, kBytes + 1, nullptr); },
               "a copy or fill goes beyond device memory");
}

// Counts the visits to each place in three dimensions; threads take several turns.
__global__ void place_kernel(int* at, unsigned x, unsigned y, unsigned z) {
  for (unsigned k = blockIdx.z * blockDim.z + threadIdx.z; k < z; k += gridDim.z * blockDim.z) {
    for (unsigned j = blockIdx.y * blockDim.y + threadIdx.y; j < y; j += gridDim.y * blockDim.y) {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < x; i += gridDim.x * blockDim.x) {
        ++at[(k * y + j) * x + i];
        __syncthreads();  // a thread must keep its indices
        ++at[(k * y + j) * x + i];
      }
    }
  }
}

TEST(WhatIsRight, ALaunchInThreeDimensionsComesToEachPlace) {
  for (const std::size_t most : {1, 4, 100}) {
    const DeviceInts ints;
    cudaMemsetAsync(ints.data(), 0, kBytes, nullptr);
    const cuda::Extent threads = {2, 2, 1};
    const cuda::Extent blocks = cuda::blocks_for({8, 4, 2}, threads, most);
    EXPECT_LE(blocks.size(), most);
    cuda::launch(place_kernel, {blocks, threads, 0}, nullptr, ints.data(), 8U, 4U, 2U);
    std::vector<int> counted(kThreads);
    cudaMemcpy(counted.data(), ints.data(), kBytes, cudaMemcpyDeviceToHost);
    EXPECT_EQ(counted, std::vector<int>(kThreads, 2)) << most;
  }
}

TEST(WhatIsRight, AStreamWaitsForAnEventOfAnother) {
  const DeviceInts ints;
  cudaStream_t streams[2];
  for (auto& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaMemsetAsync(ints.data(), 0, kBytes, streams[0]);
  cudaEventRecord(event, streams[0]);
  cudaStreamWaitEvent(streams[1], event, 0);
  cudaEventDestroy(event);
  cudaMemsetAsync(ints.data(), 1, kBytes, streams[0]);  // after the event
  int first = -1;
  cudaMemcpyAsync(&first, ints.data(), sizeof first, cudaMemcpyDeviceToHost, streams[1]);
  cudaStreamSynchronize(streams[1]);
  EXPECT_EQ(first, 0);
  for (const auto& stream : streams) cudaStreamDestroy(stream);
}

struct ComparedOp {
  static constexpr const char* kName = "ComparedOp";
};
struct ForgottenOp {
  static constexpr const char* kName = "ForgottenOp";
};

TEST(PlantedFaults, AnOperationThatIsNeverCompared) {
  test::Begun<std::variant<ComparedOp, ForgottenOp>> begun;
  begun.add(ComparedOp());
  EXPECT_EQ(begun.missing(), std::vector<std::string>{"ForgottenOp"});
  begun.add(ForgottenOp());
  EXPECT_TRUE(begun.missing().empty());
}

TEST(PlantedFaults, MemoryOfTheHostForTheDevices) {
  const auto fault = [] {
    std::vector<char> host(kBytes);
    copy_to(host.data(), kBytes, cudaMemcpyHostToDevice);
  };
  expect_found(fault, "a copy's or fill's device end is not device memory");
}

TEST(PlantedFaults, MemoryOfTheDeviceForTheHosts) {
  expect_found([] { copy_to(DeviceInts().data(), kBytes, cudaMemcpyDeviceToHost); },
               "a copy's or fill's host end is not host memory");
}

TEST(PlantedFaults, MemoryThatIsNotGivenBack) {
  const auto of_the_device = [] {
    void* memory = nullptr;
    cudaMalloc(&memory, kBytes);
  };
  expect_found(of_the_device, "1 pieces of device memory were not given back");
  const auto of_the_host = [] {
    void* memory = nullptr;
    cudaMallocHost(&memory, kBytes);
  };
  expect_found(of_the_host, "1 pieces of host memory were not given back");
}

TEST(PlantedFaults, MemoryThatIsGivenBackTwice) {
  const auto fault = [] {
    const DeviceInts ints;
    cudaFree(ints.data());
  };
  expect_found(fault, "device memory is given back that was not taken");
}

template <unsigned kBlocks, unsigned kThreadsOfEach, std::size_t kSharedBytes>
void launch_wrongly() {
  cuda::launch(half_meet_kernel, {kBlocks, kThreadsOfEach, kSharedBytes}, nullptr);
  if (cudaGetLastError() != cudaErrorInvalidConfiguration) std::_Exit(2);
}

TEST(PlantedFaults, ALaunchThatNoCardTakes) {
  expect_found(launch_wrongly<0, kThreads, 0>, "a launch of 0 blocks");
  expect_found(launch_wrongly<1, 0, 0>, "a launch of 1 blocks of 0 threads");
  expect_found(launch_wrongly<1, 1025, 0>, "a launch of 1 blocks of 1025 threads");
  expect_found(launch_wrongly<1, kThreads, 49153>, "64 threads and 49153 shared bytes");
}

// Sorts half of the numbers, from one on, in a room that may have too few bytes.
cudaError_t sort_half(std::size_t first, std::size_t too_few) {
  const DeviceInts from;
  const DeviceInts to;
  const DeviceInts room;
  std::size_t bytes = 0;
  const auto call = [&](void* with) {
    return cub::DeviceRadixSort::SortKeys(
        with, bytes, reinterpret_cast<const unsigned*>(from.data() + first),
        reinterpret_cast<unsigned*>(to.data()), kThreads / 2, 0, 32, nullptr);
  };
  call(nullptr);
  bytes -= too_few;
  return call(room.data());
}

TEST(PlantedFaults, ASortBeyondMemory) {
  expect_found([] { sort_half(kThreads / 2 + 1, 0); }, "a copy or fill goes beyond device memory");
}

TEST(PlantedFaults, ALibraryInTooLittleRoom) {
  EXPECT_EQ(sort_half(kThreads / 2, 0), cudaSuccess);
  EXPECT_EQ(sort_half(kThreads / 2, 1), cudaErrorInvalidValue);
}

TEST(PlantedFaults, WhatIsRightIsNoFault) {
  const auto right = [] {
    launch_one(rotate_kernel<true>, DeviceInts().data());
    launch_one(write_kernel, DeviceInts().data(), std::ptrdiff_t{0});
    copy_to(DeviceInts().data(), kBytes, cudaMemcpyHostToDevice);
    std::exit(0);
  };
  EXPECT_EXIT(right(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ancify::on_host
