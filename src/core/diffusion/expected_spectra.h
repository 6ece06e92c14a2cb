// Computes the expected site frequency spectra of demographic models.
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

// The work of a plan, for progress: time steps times grid values times axes that are not frozen.
double work_of(const Plan& plan, int points);

// The density at the end of a plan, on a grid with this many points for each population. InputError
// for too few points, too many values, or an invalid equilibrium.
Density evolve(const Plan& plan, int points, SimdLevel level, const TaskContext& context);

// The sampling scheme for a density; see sampling.h.
struct Sampling {
  enum class Kind { kAnalytic, kDirect, kAdmixed, kInbred };
  Kind kind = Kind::kAnalytic;
  std::vector<int> sizes;                   // haplotypes sampled of each population
  std::optional<int> ascertained;           // kDirect: the ascertained population, or none
  std::vector<std::vector<double>> shares;  // kAdmixed
  std::vector<double> inbreeding;           // kInbred: of each population
  std::vector<int> ploidy;
};

// The weights of each population, for any kind but kAdmixed.
std::vector<SampleWeights> weights_of(const Sampling& sampling, const Grid& grid);

// A plan, and the number of points of its grid.
struct SpectrumJob {
  const Plan* plan;
  int points;
};

// A spectrum for each job, in the order of sample(). Jobs run in parallel, and idle threads take
// parts of them. The number of threads does not change a spectrum. Interrupted if the job is
// stopped.
std::vector<std::vector<double>> expected_spectra(const std::vector<SpectrumJob>& jobs,
                                                  const Sampling& sampling, SimdLevel level,
                                                  int threads, JobControl& control);

}  // namespace ancify::diffusion
