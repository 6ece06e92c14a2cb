// Connects autoencoders of distance maps with the core. In R an autoencoder is a list with
// the fields of AutoencoderFields; `tensors` is a list of vectors in the order of tensor_forms().
// `maps`: pairs x cells; `structures`: points x 3 x cells, or empty if none are needed.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/autoencoder/autoencoder.h"
#include "core/exec/errors.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace autoencoder = ancify::autoencoder;

namespace {

using autoencoder::Autoencoder;
using Rcpp::Named;

struct AutoencoderFields {
  Autoencoder model;
  Rcpp::List tensors;
};

struct TrainingFields {
  autoencoder::Form form;
  float unit;
  autoencoder::TrainingSettings by;
};

struct TrainingData {
  Rcpp::NumericMatrix maps;
  Rcpp::NumericVector structures;
  std::vector<bool> held_out;
};

std::vector<bool> as_flags(const Rcpp::LogicalVector& flags) {
  std::vector<bool> result;
  for (const int flag : flags) result.push_back(flag != 0);
  return result;
}

}  // namespace

template <>
struct Fields<AutoencoderFields> {
  using All = AutoencoderFields;
  using Model = Autoencoder;
  using Form = autoencoder::Form;
  static constexpr auto table = fields(
      "Autoencoder",
      field("task", within(within(&All::model, &Model::form), &Form::task), autoencoder::task_of),
      field("points", within(within(&All::model, &Model::form), &Form::points)),
      field("code", within(within(&All::model, &Model::form), &Form::code)),
      field("unit", within(&All::model, &Model::unit)),
      field("scale", within(&All::model, &Model::scale)), field("tensors", &All::tensors));
};

template <>
struct Fields<TrainingFields> {
  using All = TrainingFields;
  using Form = autoencoder::Form;
  using Settings = autoencoder::TrainingSettings;
  static constexpr auto table = fields(
      "AutoencoderTraining", field("task", within(&All::form, &Form::task), autoencoder::task_of),
      field("points", within(&All::form, &Form::points)),
      field("code", within(&All::form, &Form::code)), field("unit", &All::unit),
      field("epochs", within(&All::by, &Settings::epochs)),
      field("share", within(&All::by, &Settings::share)),
      field("geometry", within(&All::by, &Settings::geometry)),
      field("seed", within(&All::by, &Settings::seed)));
};

template <>
struct Fields<TrainingData> {
  using All = TrainingData;
  static constexpr auto table =
      fields("TrainingMaps", field("maps", &All::maps), field("structures", &All::structures),
             field("held_out", &All::held_out, as_flags));
};

namespace {

// Throws InputError if parts do not fit, because the network would read out of bounds.
Autoencoder as_autoencoder(const Rcpp::List& list) {
  auto [model, tensors] = from_list<AutoencoderFields>(list);
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
                            Named("scale") = model.scale, Named("tensors") = tensors);
}

autoencoder::Maps as_maps(const Rcpp::NumericMatrix& maps, std::int64_t points,
                          const Rcpp::NumericVector& structures) {
  return {points, maps.ncol(), maps.begin(), structures.size() > 0 ? structures.begin() : nullptr};
}

// Runs job(run, control), on the device of the work if it has one.
void run_job_by(const Rcpp::List& work, const Rcpp::Function& watch,
                const std::function<void(const autoencoder::Run&, ancify::JobControl&)>& job) {
  const ancify::Backend by = as_work(work).backend;
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
                                     const Rcpp::NumericVector& structures, const Rcpp::List& work,
                                     const Rcpp::Function& watch) {
  Autoencoder by;
  guarded([&] { by = as_autoencoder(model); });
  const autoencoder::Maps from = as_maps(maps, by.form.points, structures);
  std::vector<float> codes;
  run_job_by(work, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
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
                                          const Rcpp::List& work, const Rcpp::Function& watch) {
  Autoencoder by;
  guarded([&] { by = as_autoencoder(model); });
  const autoencoder::Maps from = as_maps(maps, by.form.points, structures);
  Rcpp::NumericMatrix result = make_matrix(maps.nrow(), maps.ncol());
  double* to = result.begin();
  run_job_by(work, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
    autoencoder::reconstruct_maps(by, from, to, run, control);
  });
  return result;
}

// The object that training fills. It persists if the user stops training, which ends the call
// below.
// [[Rcpp::export]]
SEXP new_training_impl() { return TrainingPointer(new autoencoder::Training()); }

// `data` is for TrainingData, `settings` for TrainingFields.
// [[Rcpp::export]]
void train_autoencoder_impl(SEXP training, const Rcpp::List& data, const Rcpp::List& settings,
                            const Rcpp::List& work, const Rcpp::Function& watch) {
  const TrainingPointer result(training);
  const auto from = from_list<TrainingData>(data);
  TrainingFields how;
  guarded([&] { how = from_list<TrainingFields>(settings); });
  const autoencoder::Maps maps = as_maps(from.maps, how.form.points, from.structures);
  run_job_by(work, watch, [&](const autoencoder::Run& run, ancify::JobControl& control) {
    autoencoder::train_autoencoder(how.form, how.unit, maps, from.held_out, how.by, run, control,
                                   *result);
  });
}

// Returns list(model =, epochs = columns of training loss and held-out loss, best = its index from
// 1, or 0 if no epoch ended).
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
