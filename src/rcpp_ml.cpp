// Connects trained models and their training with the core.
#include "core/ancestry/comparison/reference.h"
#include "core/ancestry/trained/boosted_trees.h"
#include "core/ancestry/trained/lightgbm_model.h"
#include "core/ancestry/training/ml_training.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_store.h"
#include "core/genome/stretch.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

namespace {

// Calls use(stretch) for each `piece` positions of sequences in memory, on the backend's threads.
template <class Use>
void for_each_stretch(const ancify::SequenceSources& sources, std::int64_t n, std::int64_t piece,
                      const ancify::Backend& backend, ancify::JobControl& control, Use use) {
  control.expect(n);
  ancify::run_tasks(control, backend.threads, (n + piece - 1) / piece,
                    [&](std::int64_t i, const ancify::TaskContext& context) {
                      context.throw_if_stopped();
                      const std::int64_t end = std::min((i + 1) * piece, n);
                      ancify::StretchReader reader(sources, n, ancify::kFeatureReach);
                      use(reader.read(i * piece, end));
                      control.advance(end - i * piece);
                    });
}

constexpr std::int64_t kPiece = 1 << 15;

}  // namespace

// For tests only. The features of each position of sequences of equal length, inner outgroups
// first: a matrix with a row per position. Computes `piece` positions at a time, a multiple of 128.
// [[Rcpp::export]]
Rcpp::NumericMatrix ml_features_impl(const Rcpp::CharacterVector& sequences, int n_inner,
                                     double piece, const Rcpp::List& work,
                                     const Rcpp::Function& watch) {
  const auto sources = as_sources(sequences);
  const ancify::SiteFeatures features(n_inner, static_cast<int>(sources.size()) - n_inner);
  const ancify::Backend chosen = as_work(work).backend;
  const int n = LENGTH(STRING_ELT(sequences, 0));
  auto matrix = make_matrix(n, features.count());
  double* const out = matrix.begin();
  const auto sites = as_integer<std::int64_t>(piece);
  run_job(watch, [&](ancify::JobControl& control) {
    for_each_stretch(sources, n, sites, chosen, control, [&](const ancify::Stretch& stretch) {
      const std::size_t here = stretch.size();
      std::vector<float> some(static_cast<std::size_t>(features.count()) * here);
      features.compute(stretch, some.data());
      for (int f = 0; f < features.count(); ++f) {
        const auto from = some.begin() + static_cast<std::ptrdiff_t>(f * here);
        std::copy_n(from, here, out + std::int64_t{f} * n + stretch.start);
      }
    });
  });
  return matrix;
}

// For tests only, which compare with LightGBM. Applies a model in LightGBM's text form to rows of
// features. Returns a matrix of probabilities or raw scores, with columns for A, C, G, T. Features
// are converted to 32-bit floats.
// [[Rcpp::export]]
Rcpp::NumericMatrix ml_predict_impl(const std::string& model, const Rcpp::NumericMatrix& features,
                                    bool raw, const Rcpp::List& work, const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
  const auto n = static_cast<std::size_t>(features.nrow());
  const int columns = features.ncol();
  const double* const given = features.begin();
  auto matrix = make_matrix(features.nrow(), ancify::kBases);
  double* const predicted = matrix.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    const std::vector<float> values(given, given + n * static_cast<std::size_t>(columns));
    const ancify::BoostedTrees trees(ancify::read_lightgbm_model(model, columns), columns);
    constexpr auto piece = static_cast<std::size_t>(kPiece);
    ancify::run_tasks(
        control, chosen.threads, static_cast<std::int64_t>((n + piece - 1) / piece),
        [&](std::int64_t i, const ancify::TaskContext& context) {
          context.throw_if_stopped();
          const std::size_t start = static_cast<std::size_t>(i) * piece;
          const ancify::FeatureRows rows = {values.data() + start, n, std::min(piece, n - start)};
          std::vector<double> of_sites(ancify::kBases * rows.n);
          if (raw) {
            trees.scores(rows, chosen.simd, of_sites.data());
          } else {
            trees.probabilities(rows, chosen.simd, of_sites.data());
          }
          for (std::size_t at = 0; at < of_sites.size(); ++at) {
            predicted[at % ancify::kBases * n + start + at / ancify::kBases] = of_sites[at];
          }
        });
  });
  return matrix;
}

template <>
struct Fields<ancify::TrainingOptions> {
  using All = ancify::TrainingOptions;
  using Voting = ancify::Voting;
  static constexpr auto table =
      fields("TrainingOptions", field("n_inner", within(&All::voting, &Voting::n_inner)),
             field("min_inner", within(&All::voting, &Voting::min_inner)),
             field("min_outer", within(&All::voting, &Voting::min_outer)),
             field("most_sites", &All::most_sites), field("seed", &All::seed),
             field("work", &All::threads, threads_of));
};

// Draws training sites from the sequences in the outgroups' folders, inner ones first. `options`:
// list(n_inner =, min_inner =, min_outer =, most_sites =, seed =, work =). Labels come from
// `references`, a file per chromosome, or without references from the upper-case calls by vote.
// Returns list(features = a matrix with a row per site, labels = 0 to 3, labelled = the number of
// labelled sites of each base).
// [[Rcpp::export]]
Rcpp::List ml_training_sites_impl(const std::vector<std::string>& folders,
                                  const Rcpp::NumericVector& lengths,
                                  const std::vector<std::string>& references,
                                  const Rcpp::List& options, const Rcpp::Function& watch) {
  auto chromosomes = chromosomes_in(folders, lengths, watch);
  for (std::size_t i = 0; i < references.size(); ++i) {
    const auto length = chromosomes[i].length;
    chromosomes[i].open = [open = chromosomes[i].open, length, &reference = references[i]] {
      auto sources = open();
      sources.push_back(ancify::reference_source(reference, length));
      return sources;
    };
  }
  auto wanted = from_list<ancify::TrainingOptions>(options);
  wanted.voting.n_outer = static_cast<int>(folders.size()) - wanted.voting.n_inner;
  wanted.labels = references.empty() ? ancify::Labels::kVoting : ancify::Labels::kReference;
  std::unique_ptr<ancify::TrainingSample> sample;
  run_job(watch, [&](ancify::JobControl& control) {
    sample = std::make_unique<ancify::TrainingSample>(chromosomes, wanted, control);
  });
  auto features = make_matrix(static_cast<int>(sample->sites()), sample->features());
  Rcpp::IntegerVector labels(static_cast<int>(sample->sites()));
  double* const all_features = features.begin();
  int* const all_labels = labels.begin();
  run_job(watch,
          [&](ancify::JobControl& control) { sample->extract(all_features, all_labels, control); });
  const auto& labelled = sample->labelled();
  return Rcpp::List::create(
      Rcpp::Named("features") = features, Rcpp::Named("labels") = labels,
      Rcpp::Named("labelled") = Rcpp::NumericVector(labelled.begin(), labelled.end()));
}
