// Variance components by the method of moments.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/solvers/covariance.h"

namespace ancify::reml {

struct HasemanElstonSettings {
  int blocks = 100;            // of samples; the jackknife leaves out one at a time
  int max_probes = 1000;       // for traces
  double mc_tolerance = 0.05;  // largest Monte Carlo error, as a share of the standard error
  std::uint64_t seed = 1;
  int columns = 32;                   // of one product
  std::int64_t exact_samples = 2000;  // the most samples for which traces are exact
  // True if the jackknife is corrected for pairs of blocks (Efron and Stein 1981, Ann. Stat.
  // 9:586).
  bool corrected = false;
};

// Vectors by component have the residual last.
struct HasemanElston {
  std::vector<double> theta;          // may be below 0
  std::vector<double> covariance;     // by the jackknife, (G + 1) x (G + 1)
  std::vector<double> mc_covariance;  // of the traces' error; zeros if they are exact
  std::vector<double> mean_diagonal;  // of each kernel; 1 for the residual
  int probes = 0;                     // 0 if the traces are exact
  double passes = 0;
};

// Regresses the products of two samples' responses on the kernels' elements. `of_blocks`: the
// results of jackknife_moments() for all blocks in turn; if empty, they are computed here.
// InputError as from FixedEffects, or for kernels that are not identifiable; Interrupted within a
// second of a stop request.
HasemanElston haseman_elston(const FitData& data, Kernels& kernels,
                             const HasemanElstonSettings& settings,
                             const std::vector<double>& of_blocks, JobControl& control,
                             int threads);

// Blocks whose moments are computed together.
constexpr int kBlocksAtOnce = 10;

struct JackknifePart {
  std::vector<double> moments;
  double passes;
};

// The jackknife's input from blocks [first, first + kBlocksAtOnce), or up to the last. `first` is a
// multiple of kBlocksAtOnce. Errors as above.
JackknifePart jackknife_moments(const FitData& data, Kernels& kernels,
                                const HasemanElstonSettings& settings, int first,
                                JobControl& control, int threads);

// A starting point above these bounds for a search, from few probes.
std::vector<double> haseman_elston_start(const RestrictedModel& model,
                                         const std::vector<double>& lower, std::uint64_t seed,
                                         int columns);

}  // namespace ancify::reml
