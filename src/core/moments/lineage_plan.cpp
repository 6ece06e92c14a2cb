// Groups are numbered from 0 without gaps, in the order of their first population.
#include "core/moments/lineage_plan.h"

#include <algorithm>
#include <cstddef>
#include <variant>

namespace ancify::moments {

namespace {

std::size_t as_index(int k) { return static_cast<std::size_t>(k); }

// The same groups with numbers without gaps.
LineageBounds numbered(const LineageBounds& bounds) {
  LineageBounds result;
  std::vector<int> number(bounds.lineages.size(), -1);
  for (const int group : bounds.group) {
    int& own = number[as_index(group)];
    if (own < 0) {
      own = static_cast<int>(result.lineages.size());
      result.lineages.push_back(bounds.lineages[as_index(group)]);
    }
    result.group.push_back(own);
  }
  return result;
}

// Joins the groups of two populations.
void join(LineageBounds& bounds, int a, int b) {
  const int kept = bounds.group[as_index(a)];
  const int joined = bounds.group[as_index(b)];
  if (kept == joined) return;
  bounds.lineages[as_index(kept)] += bounds.lineages[as_index(joined)];
  std::replace(bounds.group.begin(), bounds.group.end(), joined, kept);
}

void join_sources(LineageBounds& bounds, int population, const double* shares, int sources) {
  for (int k = 0; k < sources; ++k) {
    if (shares[k] > 0) join(bounds, population, k);
  }
}

struct Before {
  const LineageBounds& after;

  LineageBounds operator()(const diffusion::Equilibrium& /*event*/) const { return after; }

  LineageBounds operator()(const diffusion::Schedule& schedule) const {
    LineageBounds bounds = after;
    for (const auto& step : schedule.steps) {
      for (int i = 0; i < schedule.populations; ++i) {
        for (int j = 0; j < schedule.populations; ++j) {
          if (step.migration[i][j] > 0) join(bounds, i, j);
        }
      }
    }
    return numbered(bounds);
  }

  LineageBounds operator()(const diffusion::Transition& transition) const {
    using Kind = diffusion::Transition::Kind;
    LineageBounds bounds = after;
    switch (transition.kind) {
      case Kind::kNewPopulation: {
        const int last = after.populations() - 1;
        join_sources(bounds, last, transition.shares, last);
        bounds.group.pop_back();
        break;
      }
      case Kind::kPulse:
        join_sources(bounds, transition.population, transition.shares, after.populations());
        break;
      case Kind::kRemoval:
        bounds.group.insert(bounds.group.begin() + transition.population,
                            static_cast<int>(bounds.lineages.size()));
        bounds.lineages.push_back(0);
        break;
      case Kind::kReordering:
        for (int k = 0; k < after.populations(); ++k) {
          bounds.group[as_index(transition.order[k])] = after.group[as_index(k)];
        }
        break;
    }
    return numbered(bounds);
  }
};

}  // namespace

LineageBounds bounds_of_samples(const std::vector<int>& sizes) {
  LineageBounds bounds;
  for (const int size : sizes) {
    bounds.group.push_back(static_cast<int>(bounds.lineages.size()));
    bounds.lineages.push_back(size);
  }
  return bounds;
}

LineageBounds bounds_before(const diffusion::PlannedEvent& event, const LineageBounds& after) {
  return std::visit(Before{after}, event);
}

std::vector<LineageBounds> bounds_of(const diffusion::Plan& plan, const std::vector<int>& sizes) {
  std::vector<LineageBounds> bounds = {bounds_of_samples(sizes)};
  for (auto event = plan.rbegin(); event != plan.rend(); ++event) {
    bounds.push_back(bounds_before(*event, bounds.back()));
  }
  std::reverse(bounds.begin(), bounds.end());
  return bounds;
}

}  // namespace ancify::moments
