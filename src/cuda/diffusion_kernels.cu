#include "cuda/cuda_device.h"
#include "cuda/diffusion_kernels.h"

namespace ancify::cuda {

namespace {

using namespace diffusion;  // of a .cu file alone

// Of a block. Lines are few and long, so that small blocks spread them over the card.
constexpr unsigned kThreadsOfAnOperation = 64;

template <class Op>
__global__ void operation_kernel(Op op) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < op.n(); i += step) {
    op(i);
  }
}

// A block's threads.
struct BlockTeam {
  template <class Op>
  __host__ __device__ void for_each(const Op& op) const {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)  // not what nvcc compiles for the host
    for (std::size_t i = threadIdx.x; i < op.n(); i += blockDim.x) op(i);
    __syncthreads();
#else
    (void)op;
#endif
  }
  __host__ __device__ void look() const {}
};

// Registers for two blocks on a multiprocessor
__global__ void __launch_bounds__(kThreadsOfAPlan, 2)
    plan_kernel(DevicePlan* plans, std::size_t n, std::int64_t rounds) {
  for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) {
    DevicePlan plan = plans[i];
    do_rounds(BlockTeam(), plan, rounds);
    __syncthreads();  // all threads have read it
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
  void begin(const AssembleOp& op, int stream) override { launch("AssembleOp", op, stream); }
  void begin(const SweepOp& op, int stream) override { launch("SweepOp", op, stream); }
  void begin(const NewPopulationOp& op, int stream) override {
    launch("NewPopulationOp", op, stream);
  }
  void begin(const PulseOp& op, int stream) override { launch("PulseOp", op, stream); }
  void begin(const RemovalOp& op, int stream) override { launch("RemovalOp", op, stream); }
  void begin(const ReorderOp& op, int stream) override { launch("ReorderOp", op, stream); }
  void begin(const CopyOp& op, int stream) override { launch("CopyOp", op, stream); }
  void begin(const SampleOp& op, int stream) override { launch("SampleOp", op, stream); }
  void begin_plans(DevicePlan* plans, std::size_t n, std::int64_t rounds, int stream) override {
    CudaDevice::Launch how = {"plan_kernel", n * kThreadsOfAPlan, stream};
    how.threads = kThreadsOfAPlan;
    device_.launch(how, plan_kernel, plans, n, rounds);
  }

 private:
  template <class Op>
  void launch(const char* name, const Op& op, int stream) {
    CudaDevice::Launch how = {name, op.n(), stream};
    how.threads = kThreadsOfAnOperation;
    device_.launch(how, operation_kernel<Op>, op);
  }

  CudaDevice device_;
};

}  // namespace

std::unique_ptr<DiffusionKernels> open_diffusion_kernels(int number, int card) {
  return std::make_unique<CudaDiffusionKernels>(number, card);
}

}  // namespace ancify::cuda
