// Expected spectra on devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/device/backend.h"
#include "core/device/device.h"
#include "core/diffusion/device_plan.h"
#include "core/diffusion/expected_spectra.h"

namespace ancify::diffusion {

// A device and what it can do for diffusion: to begin an operation in a stream, or the next rounds
// of n plans, each by a block of threads. Plans are in the device's memory.
class DiffusionKernels {
 public:
  DiffusionKernels() = default;
  virtual ~DiffusionKernels() = default;
  DiffusionKernels(const DiffusionKernels&) = delete;
  DiffusionKernels& operator=(const DiffusionKernels&) = delete;

  virtual Device& device() = 0;
  virtual void begin(const AssembleOp& op, int stream) = 0;
  virtual void begin(const SweepOp& op, int stream) = 0;
  virtual void begin(const NewPopulationOp& op, int stream) = 0;
  virtual void begin(const PulseOp& op, int stream) = 0;
  virtual void begin(const RemovalOp& op, int stream) = 0;
  virtual void begin(const ReorderOp& op, int stream) = 0;
  virtual void begin(const CopyOp& op, int stream) = 0;
  virtual void begin(const SampleOp& op, int stream) = 0;
  virtual void begin_plans(DevicePlan* plans, std::size_t n, std::int64_t rounds, int stream) = 0;
};

using DiffusionDevices = std::vector<std::unique_ptr<DiffusionKernels>>;

// The backend's devices, none for the CPU. DeviceError where one fails.
DiffusionDevices open_diffusion_devices(const Backend& backend);

// As expected_spectra(), to a relative 1e-12 or so; threads prepare what goes to the devices. Plans
// with few lines go together, a block of threads each, which does about `values_at_once` values
// before it is looked whether to stop; one with more than `most_lines` takes the whole device.
// DeviceError where one does not fit the memory of which `memory_limit` bytes may be taken, see
// memory_budget().
std::vector<std::vector<double>> device_spectra(const DiffusionDevices& devices,
                                                const std::vector<SpectrumJob>& jobs,
                                                const Sampling& sampling, std::size_t memory_limit,
                                                int threads, JobControl& control,
                                                std::size_t most_lines = 1024,
                                                std::size_t values_at_once = std::size_t{1} << 24);

}  // namespace ancify::diffusion
