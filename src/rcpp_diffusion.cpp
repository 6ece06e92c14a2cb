// Connects demographic models with the core.
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "core/diffusion/device_spectra.h"
#include "core/diffusion/expected_spectra.h"
#include "rcpp_events.h"
#include "rcpp_glue.h"

namespace diffusion = ancify::diffusion;

namespace {

// Takes list(kind =, sizes =, ...) with the fields of its kind.
diffusion::Sampling as_sampling(const Rcpp::List& list) {
  using Kind = diffusion::Sampling::Kind;
  diffusion::Sampling sampling;
  sampling.sizes = Rcpp::as<std::vector<int>>(list["sizes"]);
  const std::string kind = list["kind"];
  if (kind == "direct" || kind == "ascertained") sampling.kind = Kind::kDirect;
  if (kind == "ascertained") sampling.ascertained = Rcpp::as<int>(list["population"]) - 1;
  if (kind == "admixed") {
    sampling.kind = Kind::kAdmixed;
    const Rcpp::NumericMatrix shares = list["shares"];
    for (int k = 0; k < shares.nrow(); ++k) {
      sampling.shares.push_back(
          Rcpp::as<std::vector<double>>(Rcpp::NumericVector(shares(k, Rcpp::_))));
    }
  }
  if (kind == "inbred") {
    sampling.kind = Kind::kInbred;
    sampling.inbreeding = Rcpp::as<std::vector<double>>(list["inbreeding"]);
    sampling.ploidy = Rcpp::as<std::vector<int>>(list["ploidy"]);
  }
  return sampling;
}

// The number of time steps that a plan has in memory.
std::size_t kept_steps(const diffusion::Plan& plan) {
  std::size_t steps = 0;
  for (const auto& event : plan) {
    if (const auto* schedule = std::get_if<diffusion::Schedule>(&event)) {
      steps += schedule->steps.size();
    }
  }
  return steps;
}

std::vector<std::vector<double>> spectra_of(const std::vector<diffusion::SpectrumJob>& jobs,
                                            const diffusion::Sampling& sampling,
                                            const ancify::Backend& backend,
                                            ancify::JobControl& control) {
  if (backend.kind == ancify::BackendKind::kCpu) {
    return diffusion::expected_spectra(jobs, sampling, backend.simd, backend.threads, control);
  }
  return diffusion::device_spectra(diffusion::open_diffusion_devices(backend), jobs, sampling,
                                   backend.gpu_memory, backend.threads, control);
}

// About 300 MB of time steps.
constexpr std::size_t kMostKeptSteps = 1'000'000;

}  // namespace

// Returns a column for each of `models`, for each of `parts`, for each of `points`, the last
// fastest. `grids`: list(fineness =, strongest =, parts =, points = of a grid); see
// make_schedule(). All models must end with a population for each of the sample's sizes. Models are
// computed in batches of about kMostKeptSteps time steps.
// [[Rcpp::export]]
Rcpp::NumericMatrix expected_spectra_impl(const Rcpp::List& models, const Rcpp::List& grids,
                                          const Rcpp::List& sampling, const Rcpp::List& backend,
                                          const Rcpp::Function& watch) {
  const double fineness = grids["fineness"];
  const double strongest = grids["strongest"];
  const auto parts = Rcpp::as<std::vector<int>>(grids["parts"]);
  const auto points = Rcpp::as<std::vector<int>>(grids["points"]);
  const diffusion::Sampling samples = as_sampling(sampling);
  const ancify::Backend& used = as_backend(backend);
  int cells = 1;
  for (const int size : samples.sizes) cells *= size + 1;
  const auto columns = models.size() * static_cast<R_xlen_t>(parts.size() * points.size());
  const auto result = make_matrix(cells, static_cast<int>(columns));
  double* out = const_cast<double*>(result.begin());
  std::vector<diffusion::Plan> plans;
  std::size_t kept = 0;
  const auto compute = [&] {
    std::vector<diffusion::SpectrumJob> jobs;
    for (const auto& plan : plans) {
      for (const int n : points) jobs.push_back({&plan, n});
    }
    run_job(watch, [&](ancify::JobControl& control) {
      for (const auto& spectrum : spectra_of(jobs, samples, used, control)) {
        out = std::copy(spectrum.begin(), spectrum.end(), out);
      }
    });
    plans.clear();
    kept = 0;
  };
  for (R_xlen_t i = 0; i < models.size(); ++i) {
    guarded([&] {
      const diffusion::Model model = as_demography(models[i]);
      for (const int n : parts) {
        plans.push_back(diffusion::plan_model(model, fineness, n, strongest));
        kept += kept_steps(plans.back());
      }
    });
    if (kept > kMostKeptSteps || i + 1 == models.size()) compute();
  }
  return result;
}

// The smallest frequency above 0 of grids with these numbers of points.
// [[Rcpp::export]]
std::vector<double> smallest_frequencies_impl(const std::vector<int>& points) {
  std::vector<double> smallest;
  for (const int n : points) smallest.push_back(diffusion::Grid(n).smallest());
  return smallest;
}
