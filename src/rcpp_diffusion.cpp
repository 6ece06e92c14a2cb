// Connects demographic models with the core.
#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "core/diffusion/device_spectra.h"
#include "core/diffusion/expected_spectra.h"
#include "rcpp_glue.h"

namespace diffusion = ancify::diffusion;

namespace {

// Takes a number, list(shape =, from =, to =, duration =), or an R function of time. R's own thread
// computes the time steps, so the function is called there.
diffusion::TimeCourse as_course(const Rcpp::RObject& course) {
  if (Rf_isFunction(course)) {
    const Rcpp::Function f(course);
    return [f](double time) {
      const Rcpp::RObject value = f(time);
      if (!Rf_isNumeric(value) || Rf_length(value) != 1) return R_NaN;
      return Rcpp::as<double>(value);
    };
  }
  if (!Rf_isNewList(course)) return [x = Rcpp::as<double>(course)](double) { return x; };
  const Rcpp::List list(course);
  const double from = list["from"];
  const double to = list["to"];
  const double duration = list["duration"];
  if (Rcpp::as<std::string>(list["shape"]) == "linear") {
    return [=](double time) { return from + (to - from) * time / duration; };
  }
  return [=](double time) { return from * std::pow(to / from, time / duration); };
}

bool is_one_course(const Rcpp::RObject& field) {
  return Rf_isFunction(field) || Rcpp::List(field).containsElementNamed("shape");
}

std::vector<diffusion::TimeCourse> as_courses(const Rcpp::List& courses) {
  std::vector<diffusion::TimeCourse> result;
  for (R_xlen_t i = 0; i < courses.size(); ++i) result.push_back(as_course(courses[i]));
  return result;
}

// Takes list(kind =, ...) with the fields of an event: numbers, a course, or a list of courses.
diffusion::Event as_event(const Rcpp::List& event) {
  diffusion::EventFields fields;
  const Rcpp::CharacterVector names = event.names();
  for (R_xlen_t i = 0; i < event.size(); ++i) {
    const auto name = Rcpp::as<std::string>(names[i]);
    const Rcpp::RObject field = event[i];
    if (Rf_isString(field)) continue;
    if (Rf_isNumeric(field) || Rf_isLogical(field)) {
      fields.numbers[name] = Rcpp::as<std::vector<double>>(field);
    } else if (is_one_course(field)) {
      fields.courses[name] = {as_course(field)};
    } else {
      fields.courses[name] = as_courses(Rcpp::List(field));
    }
  }
  return diffusion::make_event(event["kind"], fields);
}

diffusion::Model as_model(const Rcpp::List& events) {
  diffusion::Model model;
  for (R_xlen_t i = 0; i < events.size(); ++i) model.push_back(as_event(events[i]));
  return model;
}

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
      const diffusion::Model model = as_model(models[i]);
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
