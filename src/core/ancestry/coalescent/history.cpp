// Checks a history, and computes the rates of its mutation model with mean rate mu (Tavare 1986,
// Lect. Math. Life Sci. 17:57): Q_ij = mu s_ij pi_j / (2 sum over i < j of s_ij pi_i pi_j).
#include "core/ancestry/coalescent/history.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

void check_positive(double value, const std::string& name) {
  if (!(value > 0 && std::isfinite(value))) {
    throw InputError(name + " is " + number_text(value) + "; it must be a number above 0");
  }
}

void check_join(const History& history, std::size_t i, std::vector<bool>& gone) {
  const auto& join = history.joins[i];
  const std::string which = std::to_string(i + 1);
  check_positive(join.time, "split time " + which);
  check_positive(join.size, "population size " + which);
  if (i > 0 && join.time < history.joins[i - 1].time) {
    throw InputError("split time " + which + " is " + number_text(join.time) +
                     ", before split time " + std::to_string(i) + ", " +
                     number_text(history.joins[i - 1].time) +
                     "; order the splits by time, the most recent first");
  }
  const auto exists = [&](int population) {
    return population >= 0 && population <= history.outgroups() &&
           !gone[static_cast<std::size_t>(population)];
  };
  if (join.from == 0 || join.from == join.into || !exists(join.from) || !exists(join.into)) {
    throw InputError("split " + which + " joins population " + std::to_string(join.from) +
                     " into population " + std::to_string(join.into) +
                     "; each outgroup must join once, into the focal species (population 0) or an "
                     "outgroup that has not joined yet");
  }
  gone[static_cast<std::size_t>(join.from)] = true;
}

void check_change(const History& history, std::size_t i) {
  const auto& change = history.focal_changes[i];
  check_positive(change.time, "the time of a focal size");
  check_positive(change.size, "the focal population's size");
  const double before = i > 0 ? history.focal_changes[i - 1].time : 0;
  if (change.time <= before || change.time >= history.focal_split()) {
    throw InputError("a focal size begins " + number_text(change.time) +
                     " generations ago; these times must increase, up to the first split at " +
                     number_text(history.focal_split()));
  }
}

}  // namespace

double History::focal_split() const {
  const auto meets = [](const PopulationJoin& join) { return join.into == 0; };
  return std::find_if(joins.begin(), joins.end(), meets)->time;
}

std::vector<SizeEpoch> History::focal_epochs() const {
  std::vector<SizeEpoch> epochs;
  double start = 0;
  double size = focal_size;
  for (const auto& change : focal_changes) {
    epochs.push_back({size, change.time - start});
    start = change.time;
    size = change.size;
  }
  epochs.push_back({size, focal_split() - start});
  return epochs;
}

void check(const History& history) {
  check_positive(history.focal_size, "the focal population's size");
  if (history.focal_lineages < 1) {
    throw InputError("the number of focal lineages is " + std::to_string(history.focal_lineages) +
                     "; it must be at least 1");
  }
  if (history.focal_lineages > kMostHaplotypes) {
    throw InputError("the number of focal lineages is " + std::to_string(history.focal_lineages) +
                     "; the maximum is " + std::to_string(kMostHaplotypes) +
                     ". Give that many: more hardly change the result");
  }
  if (history.joins.empty()) throw InputError("the history has no splits; give one per outgroup");
  std::vector<bool> gone(history.joins.size() + 1, false);
  for (std::size_t i = 0; i < history.joins.size(); ++i) check_join(history, i, gone);
  for (std::size_t i = 0; i < history.focal_changes.size(); ++i) check_change(history, i);
}

MutationModel mutation_model(const SubstitutionRates& rates, double mutation_rate) {
  check_positive(mutation_rate, "the mutation rate");
  const SubstitutionModel model(rates);  // checks the rates
  MutationModel result = {{}, model.frequencies(), model.rate_classes()};
  std::size_t pair = 0;
  double mean = 0;
  for (std::size_t i = 0; i < kBases; ++i) {
    for (std::size_t j = i + 1; j < kBases; ++j, ++pair) {
      const double exchange = rates.exchangeabilities[pair];
      result.rates[i][j] = exchange * result.frequencies[j];
      result.rates[j][i] = exchange * result.frequencies[i];
      result.rates[i][i] -= result.rates[i][j];
      result.rates[j][j] -= result.rates[j][i];
      mean += 2 * exchange * result.frequencies[i] * result.frequencies[j];
    }
  }
  result.rates = scaled(result.rates, mutation_rate / mean);
  return result;
}

RateMatrix scaled(const RateMatrix& rates, double factor) {
  RateMatrix result = rates;
  for (auto& row : result) {
    for (double& rate : row) rate *= factor;
  }
  return result;
}

}  // namespace ancify
