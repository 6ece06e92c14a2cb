// REML without a relationship matrix: products with kernels alone, and traces by random probes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/reml/fit/fit.h"
#include "core/reml/kernels/kernels.h"
#include "core/reml/linear_algebra/quadrature.h"

namespace ancify::reml {

struct StochasticSettings {
  SearchSettings search;
  int probes = 16;             // of each search step
  std::vector<double> matrix;  // the only probes, n x count; empty for random signs
  int max_probes = 1000;
  double mc_tolerance = 0.05;  // largest Monte Carlo error, as a share of the standard error
  int rank = -1;               // directions of the preconditioner; below 0, the fit chooses
  std::uint64_t seed = 1;
  int columns = 32;  // the most columns of a product, as from columns_for()
};

// The number of columns, from 32 to 1,024, whose Lanczos vectors take about 50 MB. It affects a
// fit's rounding, so it depends on the data alone.
int columns_for(std::int64_t samples);

// The results of the search's probes and the response at a theta.
struct ProbePoint {
  std::vector<double> theta;
  std::vector<double> solutions;    // P y and P z of each probe, n x (1 + probes)
  std::vector<double> forms;        // y'P A_i P y
  std::vector<double> known;        // tr(M^+ A_i), the known traces
  std::vector<double> values;       // each probe's corrections, by trace_values()
  std::vector<double> information;  // average information
};

// The state for resuming a fit to identical bytes, after each search step and batch of probes.
struct StochasticState {
  double passes = 0;
  bool orthogonal = false;  // orthogonal probes, as many as the complement's dimension
  std::vector<Iteration> iterations;

  // One component: the Lanczos runs of the response and of all probes so far, and the vectors of
  // the response's run.
  std::vector<LanczosRun> runs;
  std::vector<int> blocks;  // sizes of the blocks of probes; the rounding of BLAS in products of a
                            // block depends on its size
  std::vector<double> response_vectors;

  // Several components:
  enum class Phase { kSearch, kBatches, kFinish, kDone };
  Phase phase = Phase::kSearch;
  std::string status;  // why the fit ended, as in Fit
  std::string message;
  bool solved = true;                  // all solves reached their residuals
  std::vector<double> sketch_weights;  // of the kernels in the preconditioner's sketch
  double radius = 0;                   // of the next step
  ProbePoint here;                     // the search's current point
  int first_probe = 0;                 // the index of the search's first probe
  // Batches of probes, at the theta where the first search ended:
  std::vector<double> batch_theta;
  std::vector<double> batch_values;  // of all probes
  std::vector<double> first_values;  // of the search's probes
};

// The state to resume from, and the receiver of new states. Both may be empty.
struct Checkpoint {
  const StochasticState* from = nullptr;
  std::function<void(const StochasticState&)> save;
};

// Fits a model. InputError for a kernel with a negative eigenvalue, or as FixedEffects and
// free_inverse() throw it; Interrupted within a second of a stop request.
Fit fit_stochastic(const FitData& data, Kernels& kernels, const StochasticSettings& settings,
                   const Checkpoint& checkpoint, JobControl& control, int threads);

}  // namespace ancify::reml
