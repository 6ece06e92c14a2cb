// d<f>/dt = sum_i <x_i (1 - x_i) f_ii> / (2 nu_i) + sum_ij m_ij <(x_j - x_i) f_i> + theta / 2
// sum_i f_i(0), where <f> is the sum of f(x) over sites, and f_i the derivative by x_i. Neither
// drift nor migration raises the degree of f, so the moments of a sample's degrees are closed, as
// the lineages of the structured coalescent are.
#include "core/moments/generator.h"

#include <algorithm>
#include <cmath>

namespace ancify::moments {

namespace {

int most_lineages(const LineageBounds& bounds) {
  return *std::max_element(bounds.lineages.begin(), bounds.lineages.end());
}

double immigration(const diffusion::TimeStep& step, int population, int populations) {
  double sum = 0;
  for (int j = 0; j < populations; ++j) sum += step.migration[population][j];
  return sum;
}

// The moments that new mutations change, and their rates: theta / 2 g_k'(0) = (-1)^(k-1) theta / 2.
std::vector<std::pair<std::size_t, double>> new_mutations(const DegreeSet& set,
                                                          const diffusion::Schedule& schedule,
                                                          double theta) {
  std::vector<std::pair<std::size_t, double>> rates;
  std::vector<int> degrees(static_cast<std::size_t>(set.populations()));
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    if (schedule.mutates[i] == 0) continue;
    for (int k = 1; k <= set.bounds().of_population(static_cast<int>(i)); ++k) {
      degrees[i] = k;
      rates.emplace_back(set.position(degrees), (k % 2 == 1 ? 1 : -1) * theta / 2);
    }
    degrees[i] = 0;
  }
  return rates;
}

}  // namespace

// Gershgorin's bound of the highest degrees. It is convex, so largest with all lineages of a group
// in one population.
double spectral_radius(const LineageBounds& bounds, const diffusion::Schedule& schedule,
                       const diffusion::TimeStep& step) {
  std::vector<double> most(bounds.lineages.size());
  for (int i = 0; i < bounds.populations(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double n = bounds.of_population(i);
    const double drift = schedule.frozen[k] != 0 ? 0 : n * (n - 1) / (2 * step.size[i]);
    const double all = drift + 2 * n * immigration(step, i, bounds.populations());
    double& group = most[static_cast<std::size_t>(bounds.group[k])];
    group = std::max(group, all);
  }
  double sum = 0;
  for (const double group : most) sum += group;
  return sum;
}

Generator::Generator(const DegreeSet& set, const diffusion::Schedule& schedule,
                     const diffusion::TimeStep& step)
    : set_(set),
      schedule_(schedule),
      step_(step),
      integrals_(integral_recurrence(most_lineages(set.bounds()))),
      legendre_(legendre_recurrence(most_lineages(set.bounds()))),
      radius_(spectral_radius(set.bounds(), schedule, step)),
      mutations_(new_mutations(set, schedule, step.theta)),
      slopes_(set.size()),
      changes_(set.size()) {}

void Generator::apply(const double* c, double* out) {
  std::fill(out, out + set_.size(), 0.0);
  add_drift(c, out);
  for (int i = 0; i < set_.populations(); ++i) {
    if (immigration(step_, i, set_.populations()) > 0) add_immigration(i, c, out);
  }
  for (const auto& [position, rate] : mutations_) out[position] += rate;
}

void Generator::add_drift(const double* c, double* out) const {
  const int last = set_.populations() - 1;
  const auto rate = [&](int population, int degree) {
    return schedule_.frozen[static_cast<std::size_t>(population)] != 0
               ? 0
               : degree * (degree - 1.0) / (2 * step_.size[population]);
  };
  std::vector<double> along;
  for (int a = 0; a <= set_.bounds().of_population(last); ++a) along.push_back(rate(last, a));
  for (int line = 0; line < set_.lines(); ++line) {
    double others = 0;
    for (int k = 0; k < last; ++k) others += rate(k, set_.degree(line, k));
    const double* const from = c + set_.first(line);
    double* const to = out + set_.first(line);
    for (int a = 0; a < set_.length(line); ++a) {
      to[a] -= (others + along[static_cast<std::size_t>(a)]) * from[a];
    }
  }
}

void Generator::add_immigration(int population, const double* c, double* out) {
  legendre_moments(set_, population, c, slopes_.data());
  std::fill(changes_.begin(), changes_.end(), 0.0);
  for (int j = 0; j < set_.populations(); ++j) {
    const double rate = step_.migration[population][j];
    if (rate > 0) {
      add_times_frequency(set_, j, integrals_, rate, slopes_.data(), changes_.data());
    }
  }
  add_times_frequency(set_, population, legendre_,
                      -immigration(step_, population, set_.populations()), slopes_.data(),
                      changes_.data());
  // P_(k-1) belongs to g_k.
  const bool along = population + 1 == set_.populations();
  for (int line = 0; line < set_.lines(); ++line) {
    const int to = along ? line : set_.above(line, population);
    if (to < 0) continue;
    const double* const changes = changes_.data() + set_.first(line);
    double* const moments = out + set_.first(to) + (along ? 1 : 0);
    const int length = along ? set_.length(line) - 1 : set_.length(to);
    for (int a = 0; a < length; ++a) moments[a] += changes[a];
  }
}

}  // namespace ancify::moments
