// The parts of a demographic model. Times are in units of 2 Nref generations, sizes in Nref;
// migration and selection are 2 Nref times a rate, and theta is 4 Nref times the mutation rate of
// the whole sequence. Populations count from 0.
#pragma once

#include <functional>
#include <vector>

namespace ancify::diffusion {

constexpr int kMostPopulations = 5;

// A parameter as a function of time on its epoch's clock.
using ParameterHistory = std::function<double(double)>;

class Planner;

// An event tells a planner how it changes the populations. Its operator() is void(Planner&) const,
// and throws InputError if the event does not fit the populations.
using Event = std::function<void(Planner&)>;
using Model = std::vector<Event>;

// A population at the balance of mutation, drift and selection. The fitness of the three genotypes
// is 1, 1 + 2 s h and 1 + 2 s.
struct Equilibrium {
  double size = 1;
  double theta = 1;
  double selection = 0;
  double dominance = 0.5;

  void operator()(Planner& planner) const;
};

// All populations evolve from `start` to `end`. A frozen population does not change, and one that
// does not mutate has no new mutations.
struct Epoch {
  double start = 0;
  double end = 0;
  ParameterHistory theta;
  std::vector<ParameterHistory> size;
  std::vector<ParameterHistory> migration;  // into population i from j at [i * populations + j]
  std::vector<ParameterHistory> selection;
  std::vector<ParameterHistory> dominance;
  std::vector<char> frozen;
  std::vector<char> mutates;  // empty: all do

  int populations() const { return static_cast<int>(size.size()); }
  void operator()(Planner& planner) const;
};

// A change of the density at one moment: one of the linear maps of transitions.h.
struct Transition {
  enum class Kind {
    kNewPopulation,  // added last, with `shares` of its ancestry
    kPulse,          // others replace a share of `population`; shares[population] is retained
    kRemoval,        // of `population`
    kReordering,     // order[k] is the old index of the new population k
  };
  Kind kind;
  int population;
  double shares[kMostPopulations];
  int order[kMostPopulations];
};

}  // namespace ancify::diffusion
