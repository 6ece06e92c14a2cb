// Connects kernels in files with the core.
#include <Rcpp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/formats/genotype/grm_files.h"
#include "core/formats/genotype/tables.h"
#include "core/io/lines.h"
#include "core/io/numpy.h"
#include "rcpp_genotypes.h"
#include "rcpp_glue.h"

// Returns list(id =, matrix =, counts = the range of the values in the file `counts`, or NULL if
// `counts` is ""). `ids`, `values`, `counts`: paths of .grm.id, .grm.bin and .grm.N.bin.
// [[Rcpp::export]]
Rcpp::List read_grm_impl(const std::string& ids, const std::string& values,
                         const std::string& counts, const Rcpp::Function& watch) {
  ancify::TextColumn id;
  std::unique_ptr<ancify::GrmTriangle> triangle;
  std::pair<double, double> range;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::TaskContext context(control);
    id = ancify::read_samples(ids, context).id;
    const auto n = static_cast<std::int64_t>(id.size());
    triangle = std::make_unique<ancify::GrmTriangle>(values, n);
    if (!counts.empty()) range = ancify::GrmTriangle(counts, n).range(id, context);
  });
  const auto n = static_cast<int>(id.size());
  Rcpp::NumericMatrix matrix = make_matrix(n, n);
  double* const out = matrix.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    triangle->read(id, ancify::TaskContext(control), out);
  });
  using Rcpp::Named;
  Rcpp::List found = Rcpp::List::create(Named("id") = as_strings(id), Named("matrix") = matrix);
  if (!counts.empty()) found["counts"] = Rcpp::NumericVector::create(range.first, range.second);
  return found;
}

// Returns list(id =, row =, column =, value =): the lower triangle of a .grm.sp, sorted by column,
// then row, from 1.
// [[Rcpp::export]]
Rcpp::List read_sparse_grm_impl(const std::string& ids, const std::string& values,
                                const Rcpp::Function& watch) {
  ancify::TextColumn id;
  ancify::SparseTriangle triangle;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::TaskContext context(control);
    id = ancify::read_samples(ids, context).id;
    triangle = ancify::read_sparse_grm(values, static_cast<std::int64_t>(id.size()), context);
  });
  for (std::int32_t& row : triangle.row) ++row;
  for (std::int32_t& column : triangle.column) ++column;
  using Rcpp::Named;
  return Rcpp::List::create(Named("id") = as_strings(id), Named("row") = triangle.row,
                            Named("column") = triangle.column, Named("value") = triangle.value);
}

namespace {

// Integers stay integers; an array of two dimensions is a matrix.
SEXP as_array(const ancify::NumpyArray& array) {
  if (array.is_text) return as_texts(array.texts);
  Rcpp::RObject values;
  if (array.is_whole) {
    values = Rcpp::IntegerVector(array.values.begin(), array.values.end());
  } else {
    values = Rcpp::NumericVector(array.values.begin(), array.values.end());
  }
  if (array.shape.size() == 2) {
    values.attr("dim") = Rcpp::IntegerVector::create(as_integer<int>(double(array.shape[0])),
                                                     as_integer<int>(double(array.shape[1])));
  }
  return values;
}

}  // namespace

// The arrays of a .npy or .npz: a list of vectors and matrices, by name.
// [[Rcpp::export]]
Rcpp::List read_numpy_impl(const std::string& path, const Rcpp::Function& watch) {
  std::vector<ancify::NumpyArray> arrays;
  run_job(watch, [&](ancify::JobControl& control) {
    arrays = ancify::read_numpy(path, ancify::TaskContext(control));
  });
  Rcpp::List found(static_cast<R_xlen_t>(arrays.size()));
  Rcpp::CharacterVector names(found.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    found[static_cast<R_xlen_t>(i)] = as_array(arrays[i]);
    names[static_cast<R_xlen_t>(i)] = Rf_mkCharCE(arrays[i].name.c_str(), CE_UTF8);
    arrays[i].values = {};
  }
  found.names() = names;
  return found;
}

// The bytes of a file, inflated if it is compressed by gzip or Zstandard.
// [[Rcpp::export]]
Rcpp::RawVector read_inflated_impl(const std::string& path, const Rcpp::Function& watch) {
  std::vector<char> bytes;
  run_job(watch, [&](ancify::JobControl& control) {
    bytes = ancify::read_inflated(path, ancify::TaskContext(control));
  });
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}
