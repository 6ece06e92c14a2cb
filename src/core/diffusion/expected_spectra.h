// The expected spectra of demographic models: from events to numbers.
#pragma once

#include <optional>
#include <vector>

#include "core/device/simd.h"
#include "core/diffusion/density.h"
#include "core/diffusion/events.h"
#include "core/diffusion/sampling.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify::diffusion {

// Time steps times grid points times axes, for progress.
double work_of(const Plan& plan, int points);

Density evolve(const Plan& plan, int points, SimdLevel level, const TaskContext& context);

// How samples are drawn from a density.
struct Sampling {
  enum class Kind { kAnalytic, kDirect, kAdmixed, kInbred };
  Kind kind = Kind::kAnalytic;
  std::vector<int> sizes;
  std::optional<int> ascertained;           // kDirect: a population
  std::vector<std::vector<double>> shares;  // kAdmixed
  std::vector<double> inbreeding;           // kInbred: of each population
  std::vector<int> ploidy;
};

// Of each population, for any kind but kAdmixed.
std::vector<SampleWeights> weights_of(const Sampling& sampling, const Grid& grid);

struct SpectrumJob {
  const Plan* plan;
  int points;
};

// A spectrum for each job, as sample() has it. Jobs run side by side, and what threads they leave
// take parts of them: a spectrum is the same at any number.
std::vector<std::vector<double>> expected_spectra(const std::vector<SpectrumJob>& jobs,
                                                  const Sampling& sampling, SimdLevel level,
                                                  int threads, JobControl& control);

}  // namespace ancify::diffusion
