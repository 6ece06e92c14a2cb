// Connects distance maps with the core. `maps`: pairs x cells; `coordinates`: points x 3 x cells.
// Absent values are R's NA.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/chromatin/measure.h"
#include "core/chromatin/self_avoiding.h"
#include "core/chromatin/structures.h"
#include "core/chromatin/triangles.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace chromatin = ancify::chromatin;

namespace {

// Arithmetic need not preserve the bits that distinguish R's NA from NaN.
void mark_absent(double* first, R_xlen_t n) {
  std::replace_if(
      first, first + n, [](double value) { return std::isnan(value); }, NA_REAL);
}

struct StructureFields {
  int points;
  chromatin::StructureSettings settings;
};

}  // namespace

template <>
struct Fields<StructureFields> {
  using All = StructureFields;
  using Settings = chromatin::StructureSettings;
  static constexpr auto table =
      fields("StructureSettings", field("points", &All::points),
             field("iterations", within(&All::settings, &Settings::iterations)),
             field("tolerance", within(&All::settings, &Settings::tolerance)));
};

template <>
struct Fields<chromatin::SelfAvoidingModel> {
  using All = chromatin::SelfAvoidingModel;
  static constexpr auto table =
      fields("SelfAvoidingModel", field("points", &All::points), field("diameter", &All::diameter),
             field("radius", &All::radius), field("moves", &All::moves));
};

// [[Rcpp::export]]
Rcpp::NumericMatrix measure_maps_impl(const Rcpp::NumericVector& coordinates, int points, int cells,
                                      const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  Rcpp::NumericMatrix maps = make_matrix(points * (points - 1) / 2, cells);
  const double* from = coordinates.begin();
  double* to = maps.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    chromatin::measure_maps(points, cells, from, to, control, threads);
  });
  mark_absent(to, maps.size());
  return maps;
}

// `settings` is for StructureFields. Returns list(coordinates =, stress =, iterations =).
// [[Rcpp::export]]
Rcpp::List fit_structures_impl(const Rcpp::NumericMatrix& maps, const Rcpp::List& settings,
                               const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto [points, how] = from_list<StructureFields>(settings);
  const int cells = maps.ncol();
  Rcpp::NumericMatrix coordinates = make_matrix(3 * points, cells);
  std::vector<double> stress(static_cast<std::size_t>(cells));
  std::vector<int> steps(static_cast<std::size_t>(cells));
  const double* from = maps.begin();
  double* to = coordinates.begin();
  run_job(watch, [&, n = points, &how = how](ancify::JobControl& control) {
    chromatin::fit_structures(n, cells, from, how, to, stress.data(), steps.data(), control,
                              threads);
  });
  mark_absent(to, coordinates.size());
  return Rcpp::List::create(Rcpp::Named("coordinates") = coordinates,
                            Rcpp::Named("stress") = stress, Rcpp::Named("iterations") = steps);
}

// For each cell list(broken =, triples =).
// [[Rcpp::export]]
Rcpp::List count_triangles_impl(const Rcpp::NumericMatrix& maps, int points, const Rcpp::List& work,
                                const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const int cells = maps.ncol();
  std::vector<double> broken(static_cast<std::size_t>(cells));
  std::vector<double> triples(static_cast<std::size_t>(cells));
  const double* from = maps.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    chromatin::count_triangles(points, cells, from, broken.data(), triples.data(), control,
                               threads);
  });
  return Rcpp::List::create(Rcpp::Named("broken") = broken, Rcpp::Named("triples") = triples);
}

// `chain` is for SelfAvoidingModel. `seed`: from 0 to 2^32 - 1. Returns 3 points x cells.
// [[Rcpp::export]]
Rcpp::NumericMatrix self_avoiding_impl(int cells, const Rcpp::List& chain, double seed,
                                       const Rcpp::List& work, const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const auto model = from_list<chromatin::SelfAvoidingModel>(chain);
  Rcpp::NumericMatrix coordinates = make_matrix(3 * static_cast<int>(model.points), cells);
  double* to = coordinates.begin();
  const auto stream = as_integer<std::uint32_t>(seed);
  run_job(watch, [&](ancify::JobControl& control) {
    chromatin::self_avoiding_chains(model, stream, cells, to, control, threads);
  });
  return coordinates;
}
