// Computes expected spectra on devices.
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

// The operations of diffusion on devices, except copies, which a Device provides.
using DiffusionOperation = std::variant<AssembleOp, SweepOp, NewPopulationOp, PulseOp, RemovalOp,
                                        ReorderOp, SampleOp, PlansOp>;
using DiffusionKernels = Kernels<DiffusionOperation>;
using DiffusionDevices = std::vector<std::unique_ptr<DiffusionKernels>>;

// Opens the backend's devices; none for the CPU. DeviceError if one fails.
DiffusionDevices open_diffusion_devices(const Backend& backend);

// Computes a spectrum for each job. It agrees with expected_spectra() within relative differences
// of about 1e-12. `threads` CPU threads prepare the jobs. Plans with at most `most_lines` lines run
// together, one on each block; a larger plan takes the whole device. A launch computes about
// `values_at_once` values of each plan, and a stop is noticed between launches. At most
// `memory_limit` bytes are allocated on each device; 0 means no limit (see memory_budget()).
// DeviceError if a plan does not fit. Interrupted if the job is stopped.
std::vector<std::vector<double>> device_spectra(const DiffusionDevices& devices,
                                                const std::vector<SpectrumJob>& jobs,
                                                const Sampling& sampling, std::size_t memory_limit,
                                                int threads, JobControl& control,
                                                std::size_t most_lines = 1024,
                                                std::size_t values_at_once = std::size_t{1} << 24);

}  // namespace ancify::diffusion
