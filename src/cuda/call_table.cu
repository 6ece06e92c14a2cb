#include <string>

#include "cuda/buffer.h"
#include "cuda/call_table.h"

namespace ancify::cuda {

namespace {

// Species s's position i is bases[s * n + i]; the first species counts fastest in a pattern.
__global__ void number_kernel(const char* bases, int n_species, std::size_t n, unsigned* numbers) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    unsigned number = 0;
    for (int s = n_species - 1; s >= 0; --s) {
      number = number * kStates + base_code(bases[static_cast<std::size_t>(s) * n + i]);
    }
    numbers[i] = number;
  }
}

__global__ void look_up_kernel(const unsigned* numbers, const char* table, std::size_t n,
                               char* out) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    out[i] = table[numbers[i]];
  }
}

void look_up(const unsigned* numbers, const ByteTable& table, std::size_t n, void* out) {
  const std::string& bytes = table.bytes();
  DeviceBuffer on_device(bytes.size());
  DeviceBuffer result(n);
  on_device.upload(bytes.data(), bytes.size());
  look_up_kernel<<<blocks_for(n), kThreads>>>(numbers, on_device.data(), n, result.data());
  ANCIFY_CUDA_CHECK(cudaGetLastError());
  result.download(out, n);
}

}  // namespace

void apply_table(int device, int n_species, const CallTable& table, const char* const* species,
                 std::size_t n, char* calls, std::uint8_t* phred) {
  if (n == 0) return;
  ANCIFY_CUDA_CHECK(cudaSetDevice(device));
  const auto count = static_cast<std::size_t>(n_species);
  DeviceBuffer bases(count * n);
  DeviceBuffer number_memory(n * sizeof(unsigned));
  auto* const numbers = reinterpret_cast<unsigned*>(number_memory.data());
  upload_species(species, count, n, bases);
  number_kernel<<<blocks_for(n), kThreads>>>(bases.data(), n_species, n, numbers);
  ANCIFY_CUDA_CHECK(cudaGetLastError());
  look_up(numbers, table.calls(), n, calls);
  if (phred != nullptr) look_up(numbers, *table.phred(), n, phred);
}

}  // namespace ancify::cuda
