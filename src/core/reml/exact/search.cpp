// Steps of average (or expected) information under bounds, shortened until the likelihood rises.
// Newton's method with the observed information 2 AI - E gives the last digits or, where it is
// cheap, every step.
#include "core/reml/exact/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/reml/fit/search_end.h"
#include "core/reml/fit/steps.h"

namespace ancify::reml {

namespace {

using Vector = std::vector<double>;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The most steps far from the maximum before observed information is used, if it is expensive.
constexpr int kFarSteps = 12;
// Rounding error of the likelihood, relative to the size of the data.
constexpr double kRoundingOfLikelihood = 1e-10;
// If a step shortened to this length brings no gain, no gain exists.
constexpr double kShortestStep = 1e-9;

class Search {
 public:
  Search(ExactModel& model, const SearchSettings& settings)
      : model_(model), settings_(settings), end_(settings) {}

  Maximum from(Vector theta);

 private:
  void look(double step, bool newton);
  // True if the last steps to the maximum are cheaper with the observed information.
  bool newton_is_better() const;
  // Moves to a point where the likelihood is not lower. Returns false if none exists.
  bool go();
  LocalModel local(const Vector& information) const {
    return {at_.theta, settings_.lower, at_.derivatives.score, information};
  }
  Vector observed_or_asked() const;

  ExactModel& model_;
  const SearchSettings& settings_;
  SearchEnd end_;
  Maximum at_;
  double radius_ = kNoLimit;
  double step_ = 0;
};

// Computes the quantities at the model's current point.
void Search::look(double step, bool newton) {
  at_.log_likelihood = model_.log_likelihood();
  at_.derivatives = model_.derivatives(newton || settings_.expected);
  at_.information = settings_.expected ? at_.derivatives.expected : at_.derivatives.average;
  const LocalModel here = local(at_.information);
  at_.at_bound = at_bound(here);
  at_.iterations.push_back({at_.log_likelihood, decrement(here), 0, step, at_.theta});
}

bool Search::newton_is_better() const {
  if (model_.expected_is_cheap()) return true;
  const auto& past = at_.iterations;
  if (past.size() < 3) return false;
  const double now = past.back().decrement;
  if (now > 1 && static_cast<int>(past.size()) <= kFarSteps) return false;
  // An average-information step reduces s'I^-1 s by a nearly constant factor, and costs N^3
  // operations. Newton's method takes two steps, of 4 G N^3.
  const double shrinks = now / past[past.size() - 2].decrement;
  if (shrinks >= 1) return true;
  return std::log(settings_.tolerance / now) / std::log(shrinks) > 8 * model_.components();
}

// The observed information if it is known and positive definite; otherwise the requested one.
Vector Search::observed_or_asked() const {
  const Derivatives& known = at_.derivatives;
  if (known.expected.empty()) return at_.information;
  Vector observed = known.average;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    observed[i] = 2 * observed[i] - known.expected[i];
  }
  const std::size_t k = at_.theta.size();
  return first_dependent(observed, k, 1e-8) == k ? observed : at_.information;
}

bool Search::go() {
  const LocalModel here = local(observed_or_asked());
  const double allowed = at_.log_likelihood - kRoundingOfLikelihood * model_.size();
  while (radius_ > kShortestStep) {
    Step step = bounded_step(here, radius_);
    if (model_.move_to(step.theta) && model_.log_likelihood() >= allowed) {
      at_.theta = std::move(step.theta);
      step_ = step.length;
      radius_ = std::max(radius_, 4 * step.length);
      return true;
    }
    radius_ = step.length / 4;
  }
  return false;
}

Maximum Search::from(Vector theta) {
  at_.theta = std::move(theta);
  while (true) {
    look(step_, newton_is_better());
    if (end_.reached(at_.iterations.back().decrement, at_)) break;
    if (!go()) {
      model_.move_to(at_.theta);
      end_search(false, "stopped", "no step from here raises the likelihood", at_);
      break;
    }
  }
  return std::move(at_);
}

}  // namespace

Maximum search(ExactModel& model, const SearchSettings& settings) {
  std::vector<Vector> starts = {settings.start};
  if (settings.start.empty()) {
    starts = model.starts(settings.lower);
  } else {
    for (std::size_t i = 0; i < starts[0].size(); ++i) {
      starts[0][i] = std::max(starts[0][i], settings.lower[i]);
    }
  }
  if (starts.size() > 1 && !model.search_is_cheap()) {
    Vector heights;
    for (const auto& start : starts) {
      heights.push_back(model.move_to(start) ? model.log_likelihood() : -kNoLimit);
    }
    const auto best = std::max_element(heights.begin(), heights.end()) - heights.begin();
    starts = {starts[static_cast<std::size_t>(best)]};
  }
  Maximum best;
  best.log_likelihood = -kNoLimit;
  for (const auto& start : starts) {
    if (!model.move_to(start)) continue;
    Maximum found = Search(model, settings).from(start);
    if (found.log_likelihood > best.log_likelihood) best = std::move(found);
  }
  if (!best.theta.empty()) model.move_to(best.theta);
  return best;
}

}  // namespace ancify::reml
