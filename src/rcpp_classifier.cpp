// Connects classifiers of embeddings with the core. In R a classifier is a list with `width`,
// `hidden`, `classes`, and `tensors`, a list of vectors in the order of kClassifierTensors.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/models/classifier.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace {

using ancify::Classifier;
using Rcpp::Named;

std::array<std::vector<float>, ancify::kClassifierTensors.size()> as_tensors(
    const Rcpp::List& list) {
  std::array<std::vector<float>, ancify::kClassifierTensors.size()> tensors;
  if (static_cast<std::size_t>(list.size()) != tensors.size()) {
    throw FieldFault("has another number of tensors");
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = Rcpp::as<std::vector<float>>(list[static_cast<R_xlen_t>(i)]);
  }
  return tensors;
}

// Rows are held out, or for training. `labels` are 0 or 1.
struct LabelledEmbeddings {
  Rcpp::NumericMatrix x;
  Rcpp::IntegerVector labels;
  Rcpp::LogicalVector held_out;
};

}  // namespace

template <>
struct Fields<Classifier> {
  using All = Classifier;
  static constexpr auto table =
      fields("Classifier", field("width", &All::width), field("hidden", &All::hidden),
             field("classes", &All::classes), field("tensors", &All::tensors, as_tensors));
};

template <>
struct Fields<LabelledEmbeddings> {
  using All = LabelledEmbeddings;
  static constexpr auto table =
      fields("LabelledEmbeddings", field("x", &All::x), field("labels", &All::labels),
             field("held_out", &All::held_out));
};

namespace {

Rcpp::List as_list(const Classifier& classifier) {
  Rcpp::List tensors(static_cast<R_xlen_t>(classifier.tensors.size()));
  for (std::size_t i = 0; i < classifier.tensors.size(); ++i) {
    const std::vector<float>& values = classifier.tensors[i];
    tensors[static_cast<R_xlen_t>(i)] = Rcpp::NumericVector(values.begin(), values.end());
  }
  Rcpp::CharacterVector classes;
  for (const std::string& name : classifier.classes) {
    classes.push_back(Rf_mkCharLenCE(name.data(), static_cast<int>(name.size()), CE_UTF8));
  }
  return Rcpp::List::create(Named("width") = static_cast<double>(classifier.width),
                            Named("hidden") = static_cast<double>(classifier.hidden),
                            Named("classes") = classes, Named("tensors") = tensors);
}

// Appends a row of the matrix.
void append_row(const Rcpp::NumericMatrix& x, int i, std::vector<float>& values) {
  for (int j = 0; j < x.ncol(); ++j) values.push_back(static_cast<float>(x(i, j)));
}

ancify::ClassifierRun as_run(const Rcpp::List& work) {
  const ancify::Backend by = as_work(work).backend;
  return {by.threads, by.simd};
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List read_classifier_impl(const std::string& path) {
  Classifier classifier;
  guarded([&] { classifier = ancify::read_classifier(path, ancify::TaskContext()); });
  return as_list(classifier);
}

// [[Rcpp::export]]
void write_classifier_impl(const Rcpp::List& classifier, const std::string& path) {
  const Classifier from = from_list<Classifier>(classifier);
  guarded([&] { ancify::write_classifier(from, path, ancify::TaskContext()); });
}

// The probability of the second class for each row.
// [[Rcpp::export]]
Rcpp::NumericVector classify_impl(const Rcpp::List& classifier, const Rcpp::NumericMatrix& x,
                                  const Rcpp::List& work, const Rcpp::Function& watch) {
  const Classifier by = from_list<Classifier>(classifier);
  const ancify::ClassifierRun run = as_run(work);
  std::vector<float> rows;
  for (int i = 0; i < x.nrow(); ++i) append_row(x, i, rows);
  std::vector<double> probabilities;
  run_job(watch, [&](ancify::JobControl& control) {
    probabilities = ancify::classify(by, rows, run, control);
  });
  return Rcpp::NumericVector(probabilities.begin(), probabilities.end());
}

// `embeddings` is for LabelledEmbeddings. Returns list(classifier =, epochs = columns of rate,
// training loss and held-out loss, best = its index from 1).
// [[Rcpp::export]]
Rcpp::List train_classifier_impl(const Rcpp::List& embeddings, double seed, const Rcpp::List& work,
                                 const Rcpp::Function& watch) {
  const auto given = from_list<LabelledEmbeddings>(embeddings);
  const Rcpp::NumericMatrix& x = given.x;
  const ancify::ClassifierRun run = as_run(work);
  ancify::LabelledRows training;
  ancify::LabelledRows rest;
  for (int i = 0; i < x.nrow(); ++i) {
    ancify::LabelledRows& to = given.held_out[i] != 0 ? rest : training;
    append_row(x, i, to.values);
    to.labels.push_back(given.labels[i]);
  }
  ancify::TrainingSettings settings;
  settings.seed = as_integer<std::uint64_t>(seed);
  ancify::TrainedClassifier trained;
  run_job(watch, [&](ancify::JobControl& control) {
    trained = ancify::train_classifier(x.ncol(), training, rest, settings, run, control);
  });
  Rcpp::NumericMatrix epochs = make_matrix(static_cast<int>(trained.epochs.size()), 3);
  for (int i = 0; i < epochs.nrow(); ++i) {
    const ancify::TrainingEpoch& epoch = trained.epochs[static_cast<std::size_t>(i)];
    epochs(i, 0) = epoch.rate;
    epochs(i, 1) = epoch.training_loss;
    epochs(i, 2) = epoch.held_out_loss;
  }
  return Rcpp::List::create(Named("classifier") = as_list(trained.classifier),
                            Named("epochs") = epochs,
                            Named("best") = static_cast<double>(trained.best + 1));
}
