// Connects kernels in files with the core.
#include <Rcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/grm_files.h"
#include "core/formats/genotype/tables.h"
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
  return Rcpp::List::create(Named("id") = as_strings(id), Named("row") = Rcpp::wrap(triangle.row),
                            Named("column") = Rcpp::wrap(triangle.column),
                            Named("value") = Rcpp::wrap(triangle.value));
}
