// Counts k-mers on an NVIDIA card: our kernel expands super-k-mers, CUB sorts and counts.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include "cuda/kmer_kernels.h"
#include "cuda/operation_kernel.h"

namespace ancify::cuda {

namespace {

// Calls CUB for an operation. Without `workspace` it only sets `bytes` to the workspace needed.
template <class Key>
cudaError_t call_cub(const SortOp<Key>& op, void* workspace, std::size_t& bytes,
                     cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(workspace, bytes, op.from, op.to, static_cast<int>(op.size),
                                        0, op.bits, stream);
}
template <class Key>
cudaError_t call_cub(const CountRunsOp<Key>& op, void* workspace, std::size_t& bytes,
                     cudaStream_t stream) {
  return cub::DeviceRunLengthEncode::Encode(workspace, bytes, op.sorted, op.keys, op.counts,
                                            op.runs, static_cast<int>(op.size), stream);
}

class CudaKmerKernels : public KmerKernels {
 public:
  CudaKmerKernels(int number, int card) : device_(number, card) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(),
                         cudaFuncGetAttributes(&attributes, operation_kernel<ExpandOp<LongKey>>));
  }
  Device& device() override { return device_; }
  std::size_t workspace_for(const KmerCountOperation& operation) override {
    return std::visit([&](const auto& op) { return bytes_of(op); }, operation);
  }
  void begin(const KmerCountOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  static constexpr unsigned kThreads = 128;  // per block

  template <class Key>
  std::size_t bytes_of(const ExpandOp<Key>& /*op*/) {
    return 0;
  }
  template <class Op>
  std::size_t bytes_of(const Op& op) {
    std::size_t bytes = 0;
    device_.call(Op::kName, 0, [&](cudaStream_t on) { return call_cub(op, nullptr, bytes, on); });
    return bytes;
  }

  template <class Key>
  void launch(const ExpandOp<Key>& op, int stream) {
    launch_operation(device_, op, stream, kThreads);
  }
  template <class Op>
  void launch(const Op& op, int stream) {
    std::size_t bytes = op.workspace.bytes;
    device_.call(Op::kName, stream,
                 [&](cudaStream_t on) { return call_cub(op, op.workspace.data, bytes, on); });
  }

  CudaDevice device_;
};

}  // namespace

std::unique_ptr<KmerKernels> open_kmer_kernels(int number, int card) {
  return std::make_unique<CudaKmerKernels>(number, card);
}

}  // namespace ancify::cuda
