// Connects autoencoders of distance maps with the core. In R one is a list with `task`, `points`,
// `code`, `unit`, and `tensors`, a list of vectors in the order of tensor_forms(). `maps`: pairs x
// cells; `structures`: points x 3 x cells, or empty where none are needed.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/autoencoder/autoencoder.h"
#include "core/exec/errors.h"
#include "rcpp_glue.h"

namespace autoencoder = ancify::autoencoder;

namespace {

using autoencoder::Autoencoder;
using Rcpp::Named;

autoencoder::Form form_from(const Rcpp::List& list) {
  autoencoder::Form form;
  form.task = autoencoder::task_of(Rcpp::as<std::string>(list["task"]));
  form.points = static_cast<std::int64_t>(Rcpp::as<double>(list["points"]));
  form.code = static_cast<std::int64_t>(Rcpp::as<double>(list["code"]));
  return form;
}

// InputError if parts do not fit, which the network would read out of bounds.
Autoencoder as_autoencoder(const Rcpp::List& list) {
  Autoencoder model;
  model.form = form_from(list);
  model.unit = static_cast<float>(Rcpp::as<double>(list["unit"]));
  const Rcpp::List tensors = list["tensors"];
  const std::vector<autoencoder::TensorForm> forms = autoencoder::tensor_forms(model.form);
  bool fits = tensors.size() == static_cast<R_xlen_t>(forms.size());
  for (std::size_t i = 0; fits && i < forms.size(); ++i) {
    std::int64_t wanted = 1;
    for (const std::int64_t n : forms[i].shape) wanted *= n;
    const SEXP values = tensors[static_cast<R_xlen_t>(i)];
    fits = TYPEOF(values) == REALSXP && Rf_xlength(values) == wanted;
    if (fits) model.tensors.push_back(Rcpp::as<std::vector<float>>(values));
  }
  if (!fits) {
    throw ancify::InputError(
        "the autoencoder was changed: its parts do not fit. Train or read it "
        "again");
  }
  return model;
}

Rcpp::List as_list(const Autoencoder& model) {
  Rcpp::List tensors(static_cast<R_xlen_t>(model.tensors.size()));
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    tensors[static_cast<R_xlen_t>(i)] =
        Rcpp::NumericVector(model.tensors[i].begin(), model.tensors[i].end());
  }
  return Rcpp::List::create(Named("task") = model.form.of_task().name,
                            Named("points") = static_cast<double>(model.form.points),
                            Named("code") = static_cast<double>(model.form.code),
                            Named("unit") = static_cast<double>(model.unit),
                            Named("tensors") = tensors);
}

autoencoder::Maps as_maps(const Rcpp::NumericMatrix& maps, std::int64_t points,
                          const Rcpp::NumericVector& structures) {
  return {points, maps.ncol(), maps.begin(), structures.size() > 0 ? structures.begin() : nullptr};
}

// Does job(run, control), where the backend has a device on that.
void run_job_by(const Rcpp::List& backend, const Rcpp::Function& watch,
                const std::function<void(const autoencoder::Run&, ancify::JobControl&)>& job) {
  const ancify::Backend& by = as_backend(backend);
  run_job(watch, [&](ancify::JobControl& control) {
    const std::unique_ptr<ancify::NetworkKernels> device = ancify::open_network_device(by);
    job({by.threads, by.simd, device.get(), by.gpu_memory}, control);
  });
}

using TrainingPointer = Rcpp::XPtr<autoencoder::Training>;

}  // namespace

// [[Rcpp::export]]
Rcpp::List read_autoencoder_impl(const std::string& path) {
  Autoencoder model;
  guarded([&] { model = autoencoder::read_autoencoder(path, ancify::TaskContext()); });
  return as_list(model);
}

// [[Rcpp::export]]
void write_autoencoder_impl(const Rcpp::List& model, const std::string& path) {
  guarded(
      [&] { autoencoder::write_autoencoder(as_autoencoder(model), path, ancify::TaskContext()); });
}

// Returns the code's width x cells.
// [[Rcpp::export]]
Rcpp::NumericMatrix encode_maps_impl(const Rcpp::List& model, const Rcpp::NumericMatrix& maps,
                                     const Rcpp::NumericVector& structures,
                                     const Rcpp::List& backend, const Rcpp::Function& watch) {
  Autoencoder by;
  guarded([&] { by = as_autoencoder(model); });
  const autoencoder::Maps from = as_maps(maps, by.form.points, structures);
  std::vector<float> codes;
  run_job_by(backend, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
    codes = autoencoder::encode_maps(by, from, run, control);
  });
  Rcpp::NumericMatrix result = make_matrix(static_cast<int>(by.form.code), maps.ncol());
  std::copy(codes.begin(), codes.end(), result.begin());
  return result;
}

// Returns pairs x cells.
// [[Rcpp::export]]
Rcpp::NumericMatrix reconstruct_maps_impl(const Rcpp::List& model, const Rcpp::NumericMatrix& maps,
                                          const Rcpp::NumericVector& structures,
                                          const Rcpp::List& backend, const Rcpp::Function& watch) {
  Autoencoder by;
  guarded([&] { by = as_autoencoder(model); });
  const autoencoder::Maps from = as_maps(maps, by.form.points, structures);
  Rcpp::NumericMatrix result = make_matrix(maps.nrow(), maps.ncol());
  double* to = result.begin();
  run_job_by(backend, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
    autoencoder::reconstruct_maps(by, from, to, run, control);
  });
  return result;
}

// What training fills. It stays when the user stops training, which ends the call below.
// [[Rcpp::export]]
SEXP new_training_impl() { return TrainingPointer(new autoencoder::Training()); }

// `form`: list(task =, points =, code =). `settings`: list(unit =, epochs =, share =, geometry =,
// seed =).
// [[Rcpp::export]]
void train_autoencoder_impl(SEXP training, const Rcpp::List& form, const Rcpp::NumericMatrix& maps,
                            const Rcpp::NumericVector& structures,
                            const Rcpp::LogicalVector& held_out, const Rcpp::List& settings,
                            const Rcpp::List& backend, const Rcpp::Function& watch) {
  const TrainingPointer result(training);
  const autoencoder::Form of = form_from(form);
  const autoencoder::Maps from = as_maps(maps, of.points, structures);
  const auto unit = static_cast<float>(Rcpp::as<double>(settings["unit"]));
  autoencoder::TrainingSettings by;
  by.epochs = static_cast<std::int64_t>(Rcpp::as<double>(settings["epochs"]));
  by.share = Rcpp::as<double>(settings["share"]);
  by.geometry = Rcpp::as<double>(settings["geometry"]);
  by.seed = static_cast<std::uint64_t>(Rcpp::as<double>(settings["seed"]));
  std::vector<bool> judging;
  for (const int out : held_out) judging.push_back(out != 0);
  run_job_by(backend, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
    autoencoder::train_autoencoder(of, unit, from, judging, by, run, control, *result);
  });
}

// Returns list(model =, epochs = a column each of loss in training and loss of what was held out,
// best = its number from 1, or 0 if no epoch ended).
// [[Rcpp::export]]
Rcpp::List trained_autoencoder_impl(SEXP training) {
  const TrainingPointer from(training);
  Rcpp::NumericMatrix epochs = make_matrix(static_cast<int>(from->epochs.size()), 2);
  for (int i = 0; i < epochs.nrow(); ++i) {
    const autoencoder::Epoch& epoch = from->epochs[static_cast<std::size_t>(i)];
    epochs(i, 0) = epoch.training_loss;
    epochs(i, 1) = epoch.held_out_loss;
  }
  const double best = from->epochs.empty() ? 0 : static_cast<double>(from->best + 1);
  return Rcpp::List::create(Named("model") = as_list(from->model), Named("epochs") = epochs,
                            Named("best") = best);
}
