// Expected spectra on devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/diffusion/device_plan.h"
#include "core/diffusion/expected_spectra.h"

namespace ancify::diffusion {

// What devices do for diffusion; a copy is the device's own matter.
using DiffusionOperation = std::variant<AssembleOp, SweepOp, NewPopulationOp, PulseOp, RemovalOp,
                                        ReorderOp, SampleOp, PlansOp>;
using DiffusionKernels = Kernels<DiffusionOperation>;
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
