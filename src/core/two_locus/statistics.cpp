// A sample's value is the probability that both lineages differ at each locus followed. Let u = 1 -
// 2 p and v = 1 - 2 q, with the populations' frequencies p at the left and q at the right locus.
// For two, three and four haplotypes:
//
//   X_ij   = E[(1 - u_i u_j - v_i v_j + (u_i v_i + 4 D_i) (u_j v_j + 4 D_j)) / 4]
//   Y_ijk  = E[(1 - u_i u_j - v_i v_k + (u_i v_i + 4 D_i) u_j v_k) / 4]
//   Z_ijkl = E[(1 - u_i u_j) (1 - v_k v_l) / 4]
//
// So E[D_i D_j] = (X_ij - Y_ijj - Y_jii + Z_ijij) / 4, E[D_i u_j v_k] = Y_ijk - Z_ijik, and the
// mean of p_i (1 - p_j) q_k (1 - q_l) over orders is Z_ijkl / 4.
#include "core/two_locus/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include "core/diffusion/transitions.h"
#include "core/two_locus/propagation.h"
#include "core/two_locus/rates.h"
#include "core/two_locus/samples.h"

namespace ancify::two_locus {

namespace {

using diffusion::Equilibrium;
using diffusion::Schedule;
using diffusion::Transition;

// The equilibrium of one population: all rates of change are 0. `inflow` is the influx of mutations
// times the size, and q the recombination rate times the size.
Values equilibrium_values(const Equilibrium& event, const Bundle& recombination) {
  if (event.selection != 0) {
    throw InputError("two-locus statistics are for models without selection");
  }
  if (!(event.size > 0) || !(event.theta >= 0)) {
    throw InputError("an equilibrium needs a size above 0 and a theta not below 0");
  }
  const double heterozygosity = event.theta * event.size;
  const double inflow = 2 * event.theta * event.size * heterozygosity;
  Values values(5);
  for (std::size_t k = 0; k < kBundle; ++k) {
    const double q = event.size * recombination[k];
    const double three =
        inflow * (1 / (1 + 2 * q) + q / 6 + 1) / (3 + q - 2 * q / (1 + 2 * q) - 2 * q / 3);
    const double two = (2 * q * three + inflow) / (1 + 2 * q);
    const double four = (4 * three + inflow) / 6;
    const double of_samples[] = {1, heterozygosity, two, three, four};
    for (std::size_t sample = 0; sample < values.size(); ++sample) {
      values[sample][k] = of_samples[sample];
    }
  }
  return values;
}

void refuse_selection(const Schedule& schedule) {
  for (const auto& step : schedule.steps) {
    const auto* const end = step.selection + schedule.populations;
    if (std::any_of(step.selection, end, [](double s) { return s != 0; })) {
      throw InputError("two-locus statistics are for models without selection");
    }
  }
}

// A plan's parts, with the matrices that all recombination rates share.
struct Evolution {
  struct Steps {
    const Schedule* schedule;
    Rates rates;
  };
  using Part = std::variant<Equilibrium, Steps, SparseMatrix>;

  explicit Evolution(const diffusion::Plan& plan) {
    auto samples = std::make_unique<Samples>(1);
    for (const auto& event : plan) {
      if (const auto* const equilibrium = std::get_if<Equilibrium>(&event)) {
        parts.emplace_back(*equilibrium);
      } else if (const auto* const schedule = std::get_if<Schedule>(&event)) {
        refuse_selection(*schedule);
        parts.emplace_back(Steps{schedule, Rates(*samples, *schedule)});
      } else {
        const auto& transition = std::get<Transition>(event);
        auto next = std::make_unique<Samples>(
            diffusion::populations_after(transition, samples->populations()));
        parts.emplace_back(transition_matrix(*samples, *next, transition));
        samples = std::move(next);
      }
    }
    populations = samples->populations();
  }

  Values values(const Bundle& recombination, SimdLevel level, const TaskContext& context) const {
    Values values;
    for (const auto& part : parts) {
      if (const auto* const equilibrium = std::get_if<Equilibrium>(&part)) {
        values = equilibrium_values(*equilibrium, recombination);
      } else if (const auto* const steps = std::get_if<Steps>(&part)) {
        RateMatrix rates = steps->rates.pattern();
        for (const auto& step : steps->schedule->steps) {
          steps->rates.fill(step, rates);
          propagate(rates, recombination, step.length * static_cast<double>(step.times), values,
                    level, context);
        }
      } else {
        values = transformed(std::get<SparseMatrix>(part), values);
      }
    }
    return values;
  }

  std::vector<Part> parts;
  int populations = 1;
};

// The statistics at one rate of the bundle.
void write_two_loci(const Samples& samples, const Values& values, std::size_t rate, double* out) {
  const int n = samples.populations();
  const auto x = [&](int i, int j) { return values[samples.two_haplotypes(i, j)][rate]; };
  const auto y = [&](int i, int j, int k) {
    return values[samples.three_haplotypes(i, j, k)][rate];
  };
  const auto z = [&](int i, int j, int k, int l) {
    return values[samples.four_haplotypes(i, j, k, l)][rate];
  };
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      *out++ = ((x(i, j) - y(i, j, j)) - (y(j, i, i) - z(i, j, i, j))) / 4;
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = j; k < n; ++k) *out++ = y(i, j, k) - z(i, j, i, k);
    }
  }
  for (std::size_t index = samples.four_haplotypes(0, 0, 0, 0); index < samples.size(); ++index) {
    *out++ = values[index][rate] / 4;
  }
}

void write_heterozygosity(const Samples& samples, const Values& values, Statistics& statistics) {
  for (std::size_t pair = 0; pair < samples.pairs(); ++pair) {
    statistics.heterozygosity[pair] = values[samples.one_locus(0, 0) + pair][0];
  }
}

}  // namespace

std::size_t number_of_statistics(int populations) {
  const Samples samples(populations);
  return samples.size() - samples.two_haplotypes(0, 0);
}

std::vector<Statistics> expected_statistics(const std::vector<diffusion::Plan>& plans,
                                            const std::vector<double>& rates, SimdLevel level,
                                            int threads, JobControl& control) {
  std::vector<Evolution> evolutions;
  std::vector<Statistics> results;
  for (const auto& plan : plans) {
    evolutions.emplace_back(plan);
    const int populations = evolutions.back().populations;
    Statistics statistics;
    statistics.two_loci.resize(number_of_statistics(populations) * rates.size());
    statistics.heterozygosity.resize(Samples(populations).pairs());
    results.push_back(std::move(statistics));
  }
  // A task is a bundle of rates of a model. The first writes the heterozygosities.
  const std::size_t bundles = (rates.size() + kBundle - 1) / kBundle;
  control.expect(static_cast<std::int64_t>(bundles * plans.size()));
  run_tasks(control, threads, static_cast<std::int64_t>(bundles * plans.size()),
            [&](std::int64_t task, const TaskContext& context) {
              const std::size_t model = static_cast<std::size_t>(task) / bundles;
              const std::size_t first = static_cast<std::size_t>(task) % bundles * kBundle;
              const std::size_t last = std::min(first + kBundle, rates.size());
              Bundle recombination;
              for (std::size_t k = 0; k < kBundle; ++k) {
                recombination[k] = rates[std::min(first + k, last - 1)];
              }
              const Evolution& evolution = evolutions[model];
              const Samples samples(evolution.populations);
              const Values values = evolution.values(recombination, level, context);
              Statistics& result = results[model];
              const std::size_t size = result.two_loci.size() / rates.size();
              for (std::size_t i = first; i < last; ++i) {
                write_two_loci(samples, values, i - first, result.two_loci.data() + i * size);
              }
              if (first == 0) write_heterozygosity(samples, values, result);
              control.advance(1);
            });
  return results;
}

// ---- Steps of length 0 ----------------------------------------------------------------------

namespace {

// The value at step length 0, extrapolated from steps with an error of order 2k and steps half as
// long.
std::vector<double> extrapolated(const std::vector<double>& whole, const std::vector<double>& half,
                                 double power) {
  std::vector<double> result(half.size());
  for (std::size_t i = 0; i < half.size(); ++i) {
    result[i] = half[i] + (half[i] - whole[i]) / (power - 1);
  }
  return result;
}

// Values below this share of the largest are dominated by rounding.
constexpr double kSmallShare = 1e-4;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (const double value : b) most = std::max(most, std::abs(value));
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const double size = std::max(std::abs(b[i]), kSmallShare * most);
    largest = std::max(largest, std::abs(a[i] - b[i]) / size);
  }
  return largest;
}

}  // namespace

void Extrapolation::add(const Statistics& statistics) {
  std::vector<Statistics> row = {statistics};
  double power = 4;
  for (const auto& whole : last_) {
    row.push_back({extrapolated(whole.two_loci, row.back().two_loci, power),
                   extrapolated(whole.heterozygosity, row.back().heterozygosity, power)});
    power *= 4;
  }
  error_ = last_.empty() ? std::numeric_limits<double>::infinity()
                         : largest_difference(row.back().two_loci, best_.two_loci);
  best_ = row.back();
  last_ = std::move(row);
}

bool has_change(const diffusion::Plan& plan) {
  return std::any_of(plan.begin(), plan.end(), [](const auto& event) {
    const auto* const schedule = std::get_if<Schedule>(&event);
    return schedule != nullptr && schedule->steps.size() > 1;
  });
}

}  // namespace ancify::two_locus
