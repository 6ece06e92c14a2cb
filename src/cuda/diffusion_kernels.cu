// CUDA kernels of diffusion: one operation on a whole card, or one plan per block.
#include "cuda/diffusion_kernels.h"
#include "cuda/operation_kernel.h"

namespace ancify::cuda {

namespace {

using namespace diffusion;  // no other file includes this one

// Threads per block. Lines are few and long, so small blocks spread them over the card.
constexpr unsigned kThreadsOfAnOperation = 64;

// A team of a block's threads.
struct BlockTeam {
  template <class Op>
  __device__ void for_each(const Op& op) const {
    for (std::size_t i = threadIdx.x; i < op.n(); i += blockDim.x) op(i);
    __syncthreads();
  }
  __device__ void look() const {}
};

// Limits registers, so that two blocks fit a multiprocessor.
__global__ void __launch_bounds__(kThreadsOfAPlan, 2)
    plan_kernel(DevicePlan* plans, std::size_t n, std::int64_t rounds) {
  for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) {
    DevicePlan plan = plans[i];
    if (plan.is_finished()) continue;
    do_rounds(BlockTeam(), plan, rounds);  // ends at a barrier: all threads have read plans[i]
    if (threadIdx.x == 0) plans[i] = plan;
  }
}

class CudaDiffusionKernels : public DiffusionKernels {
 public:
  CudaDiffusionKernels(int number, int card) : device_(number, card) {
    cudaFuncAttributes attributes;
    ANCIFY_CUDA_CHECK_ON(device_.name(), cudaFuncGetAttributes(&attributes, plan_kernel));
  }
  Device& device() override { return device_; }
  void begin(const DiffusionOperation& operation, int stream) override {
    std::visit([&](const auto& op) { launch(op, stream); }, operation);
  }

 private:
  template <class Op>
  void launch(const Op& op, int stream) {
    launch_operation(device_, op, stream, kThreadsOfAnOperation);
  }
  void launch(const PlansOp& op, int stream) {
    device_.launch({"plan_kernel", op.n() * kThreadsOfAPlan, stream, 0, kThreadsOfAPlan},
                   plan_kernel, op.plans, op.n(), op.rounds);
  }

  CudaDevice device_;
};

}  // namespace

std::unique_ptr<DiffusionKernels> open_diffusion_kernels(int number, int card) {
  return std::make_unique<CudaDiffusionKernels>(number, card);
}

}  // namespace ancify::cuda
