// Connects demographic models with the core.
#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/diffusion/device_spectra.h"
#include "core/diffusion/expected_spectra.h"
#include "core/moments/moment_spectra.h"
#include "rcpp_events.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace diffusion = ancify::diffusion;

namespace {

using Kind = diffusion::Sampling::Kind;

Kind as_kind(const std::string& name) {
  return choice<Kind>(name, {{"analytic", Kind::kAnalytic},
                             {"direct", Kind::kDirect},
                             {"ascertained", Kind::kDirect},
                             {"admixed", Kind::kAdmixed},
                             {"inbred", Kind::kInbred}});
}

// The index of a population, from 0, for its number, from 1.
std::optional<int> as_population(int number) { return number - 1; }

std::vector<std::vector<double>> as_shares(const Rcpp::NumericMatrix& shares) {
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < shares.nrow(); ++k) {
    rows.push_back(Rcpp::as<std::vector<double>>(Rcpp::NumericVector(shares(k, Rcpp::_))));
  }
  return rows;
}

struct GridFields {
  diffusion::StepRule rule;
  std::vector<int> parts;
  std::vector<int> points;  // of a grid
};

}  // namespace

template <>
struct Fields<diffusion::Sampling> {
  using All = diffusion::Sampling;
  static constexpr auto table = fields(
      "Sampling", field("kind", &All::kind, as_kind), field("sizes", &All::sizes),
      field_or_default("population", &All::ascertained, as_population),
      field_or_default("shares", &All::shares, as_shares),
      field_or_default("inbreeding", &All::inbreeding), field_or_default("ploidy", &All::ploidy));
};

template <>
struct Fields<GridFields> {
  using All = GridFields;
  using Rule = diffusion::StepRule;
  static constexpr auto table =
      fields("DiffusionGrids", field("fineness", within(&All::rule, &Rule::fineness)),
             field("strongest", within(&All::rule, &Rule::strongest)),
             field("looks_ahead", within(&All::rule, &Rule::looks_ahead)),
             field("parts", &All::parts), field("points", &All::points));
};

namespace {

// The number of time steps that a plan holds in memory.
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
// fastest. `grids` is for GridFields, `sampling` for Sampling. All models must end with a
// population for each of the sample's sizes. Models are computed in batches of about kMostKeptSteps
// time steps.
// [[Rcpp::export]]
Rcpp::NumericMatrix expected_spectra_impl(const Rcpp::List& models, const Rcpp::List& grids,
                                          const Rcpp::List& sampling, const Rcpp::List& work,
                                          const Rcpp::Function& watch) {
  auto given = from_list<GridFields>(grids);
  diffusion::StepRule& rule = given.rule;
  const std::vector<int>& parts = given.parts;
  const std::vector<int>& points = given.points;
  const auto samples = from_list<diffusion::Sampling>(sampling);
  const ancify::Backend used = as_work(work).backend;
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
        rule.parts = n;
        plans.push_back(diffusion::plan_model(model, rule));
        kept += kept_steps(plans.back());
      }
    });
    if (kept > kMostKeptSteps || i + 1 == models.size()) compute();
  }
  return result;
}

// The smallest frequency above 0 of grids with these point counts.
// [[Rcpp::export]]
std::vector<double> smallest_frequencies_impl(const std::vector<int>& points) {
  std::vector<double> smallest;
  for (const int n : points) smallest.push_back(diffusion::Grid(n).smallest());
  return smallest;
}

namespace {

diffusion::Plan moment_plan(const Rcpp::List& model, int parts) {
  return diffusion::plan_model(as_demography(model), [=](const diffusion::Epoch& epoch) {
    return diffusion::averaged_steps(epoch, parts);
  });
}

}  // namespace

// Returns a column for each of `models`, which are neutral. Epochs with changing parameters have
// this many `parts`. All models must end with a population for each of the sample's `sizes`.
// [[Rcpp::export]]
Rcpp::NumericMatrix moment_spectra_impl(const Rcpp::List& models, int parts,
                                        const std::vector<int>& sizes, const Rcpp::List& work,
                                        const Rcpp::Function& watch) {
  const int threads = as_work(work).backend.threads;
  int cells = 1;
  for (const int size : sizes) cells *= size + 1;
  const auto result = make_matrix(cells, static_cast<int>(models.size()));
  double* out = const_cast<double*>(result.begin());
  std::vector<diffusion::Plan> plans;
  guarded([&] {
    for (R_xlen_t i = 0; i < models.size(); ++i) plans.push_back(moment_plan(models[i], parts));
  });
  run_job(watch, [&](ancify::JobControl& control) {
    for (const auto& one : ancify::moments::moment_spectra(plans, sizes, threads, control)) {
      out = std::copy(one.begin(), one.end(), out);
    }
  });
  return result;
}

// The size of a neutral model's computation: moments, and changes of one moment.
// [[Rcpp::export]]
std::vector<double> moment_cost_impl(const Rcpp::List& model, int parts,
                                     const std::vector<int>& sizes) {
  ancify::moments::MomentCost cost = {0, 0};
  guarded([&] { cost = ancify::moments::cost_of(moment_plan(model, parts), sizes); });
  return {cost.moments, cost.work};
}
