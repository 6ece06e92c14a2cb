// Expected spectra of neutral models by moments: no grid, and no error except from time steps.
#pragma once

#include <vector>

#include "core/diffusion/events.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify::moments {

struct MomentCost {
  double moments;  // the most at any time
  double work;     // moments times applications of the generator, summed over time steps
};

// `sizes`: haplotypes sampled of each population at the end. InputError for a plan with selection.
MomentCost cost_of(const diffusion::Plan& plan, const std::vector<int>& sizes);

// The expected spectrum. The first population's index changes fastest. Cells of sites that are not
// variable are not meaningful. InputError for a plan with selection.
std::vector<double> moment_spectrum(const diffusion::Plan& plan, const std::vector<int>& sizes,
                                    const TaskContext& context);

// The spectra of several plans, in parallel. Interrupted if the job is stopped.
std::vector<std::vector<double>> moment_spectra(const std::vector<diffusion::Plan>& plans,
                                                const std::vector<int>& sizes, int threads,
                                                JobControl& control);

}  // namespace ancify::moments
