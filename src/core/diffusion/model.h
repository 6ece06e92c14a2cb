// What a demographic model is made of. Times are in units of 2 Nref generations, sizes in Nref;
// migration and selection are 2 Nref times a rate. Populations count from 0.
#pragma once

#include <functional>
#include <vector>

namespace ancify::diffusion {

constexpr int kMostPopulations = 5;

// A number that may change in time, counted from where its epoch's clock is 0.
using TimeCourse = std::function<double(double)>;

class Planner;

// An event says to a planner what it does to the populations: its operator() is
// void(Planner&) const, and throws InputError where it does not fit them.
using Event = std::function<void(Planner&)>;
using Model = std::vector<Event>;

// A population at the balance of mutation, drift and selection. Fitness is 1, 1 + 2 s h, 1 + 2 s.
struct Equilibrium {
  double size = 1;
  double theta = 1;
  double selection = 0;
  double dominance = 0.5;

  void operator()(Planner& planner) const;
};

// All populations evolve from `start` to `end`. Of a frozen one nothing changes.
struct Epoch {
  double start = 0;
  double end = 0;
  TimeCourse theta;
  std::vector<TimeCourse> size;
  std::vector<TimeCourse> migration;  // into population i from j at [i * populations + j]
  std::vector<TimeCourse> selection;
  std::vector<TimeCourse> dominance;
  std::vector<char> frozen;

  int populations() const { return static_cast<int>(size.size()); }
  void operator()(Planner& planner) const;
};

// What happens to a density at one moment: one of the linear maps of transitions.h.
struct Transition {
  enum class Kind {
    kNewPopulation,  // the last; `shares` of its ancestry
    kPulse,          // a share of `population` is replaced; shares[population] is what stays
    kRemoval,        // of `population`
    kReordering,     // order[k] is where the new population k was
  };
  Kind kind;
  int population;
  double shares[kMostPopulations];
  int order[kMostPopulations];
};

}  // namespace ancify::diffusion
