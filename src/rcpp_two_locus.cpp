// Connects two-locus statistics of demographic models with the core.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/two_locus/statistics.h"
#include "rcpp_events.h"
#include "rcpp_glue.h"

namespace diffusion = ancify::diffusion;
namespace two_locus = ancify::two_locus;

namespace {

// Numbers of steps of an epoch with changing parameters: the first attempt, and the maximum.
constexpr int kFirstSteps = 4;
constexpr int kMostSteps = 4096;
// Extrapolations are accepted if they agree within this relative difference.
constexpr double kTolerance = 1e-8;
// Larger differences at kMostSteps are an error.
constexpr double kLargestError = 1e-5;

// A model, and its statistics at increasing numbers of steps.
struct Solution {
  diffusion::Model model;
  two_locus::Extrapolation extrapolation;
  bool is_done = false;
};

// R's own thread makes the plans, as sizes may be R functions.
void take_steps(std::vector<Solution>& solutions, const std::vector<double>& rates, int steps,
                const ancify::Backend& backend, const Rcpp::Function& watch) {
  std::vector<diffusion::Plan> plans;
  std::vector<Solution*> open;
  guarded([&] {
    for (auto& solution : solutions) {
      if (solution.is_done) continue;
      plans.push_back(diffusion::plan_model(solution.model, [=](const diffusion::Epoch& epoch) {
        return diffusion::middle_steps(epoch, steps);
      }));
      open.push_back(&solution);
    }
  });
  std::vector<two_locus::Statistics> found;
  run_job(watch, [&](ancify::JobControl& control) {
    found = two_locus::expected_statistics(plans, rates, backend.simd, backend.threads, control);
  });
  for (std::size_t i = 0; i < open.size(); ++i) {
    open[i]->extrapolation.add(found[i]);
    open[i]->is_done =
        !two_locus::has_change(plans[i]) || open[i]->extrapolation.error() <= kTolerance;
  }
}

bool all_done(const std::vector<Solution>& solutions) {
  for (const auto& solution : solutions) {
    if (!solution.is_done) return false;
  }
  return true;
}

}  // namespace

// Returns a column for each of `models`: the statistics at the first of `rates`, then at the
// others, then heterozygosities, as in two_locus::Statistics. `rates` holds 2 Nref times the
// recombination rates. All models must end with this many populations.
// [[Rcpp::export]]
Rcpp::NumericMatrix expected_ld_impl(const Rcpp::List& models, int populations,
                                     const std::vector<double>& rates, const Rcpp::List& work,
                                     const Rcpp::Function& watch) {
  std::vector<Solution> solutions;
  guarded([&] {
    for (R_xlen_t i = 0; i < models.size(); ++i) {
      solutions.push_back({as_demography(models[i]), {}, false});
    }
  });
  for (int steps = kFirstSteps; steps <= kMostSteps && !all_done(solutions); steps *= 2) {
    take_steps(solutions, rates, steps, as_work(work).backend, watch);
  }
  const std::size_t rows = two_locus::number_of_statistics(populations) * rates.size() +
                           static_cast<std::size_t>(populations * (populations + 1) / 2);
  const auto result = make_matrix(static_cast<int>(rows), static_cast<int>(models.size()));
  double* out = const_cast<double*>(result.begin());
  guarded([&] {
    for (const auto& solution : solutions) {
      if (!solution.is_done && !(solution.extrapolation.error() <= kLargestError)) {
        throw ancify::InputError(
            "an epoch changes too abruptly: " + std::to_string(kMostSteps) +
            " time steps are not enough. Make two epochs where a size or rate jumps");
      }
      const two_locus::Statistics& best = solution.extrapolation.best();
      out = std::copy(best.two_loci.begin(), best.two_loci.end(), out);
      out = std::copy(best.heterozygosity.begin(), best.heterozygosity.end(), out);
    }
  });
  return result;
}
