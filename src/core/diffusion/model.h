// A demographic model: what happens to a density, one event after the other. Times are in units of
// 2 Nref generations, sizes in Nref; migration and selection are 2 Nref times a rate.
#pragma once

#include <functional>
#include <variant>
#include <vector>

namespace ancify::diffusion {

constexpr int kMostPopulations = 5;

// A number that may change in time, counted from where its epoch's clock is 0.
using TimeCourse = std::function<double(double)>;

// A population at the balance of mutation, drift and selection. Fitness is 1, 1 + 2 s h, 1 + 2 s.
struct Equilibrium {
  double size = 1;
  double theta = 1;
  double selection = 0;
  double dominance = 0.5;
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
};

// Populations count from 0. A new one, with these shares of its ancestry, comes last.
struct Admixture {
  std::vector<double> shares;
};

// A share of `destination` is replaced by others' at once: shares[destination] is what stays.
struct Pulse {
  int destination;
  std::vector<double> shares;
};

struct Removal {
  int population;
};

// order[k] is where the new population k was.
struct Reordering {
  std::vector<int> order;
};

using Event = std::variant<Equilibrium, Epoch, Admixture, Pulse, Removal, Reordering>;
using Model = std::vector<Event>;

}  // namespace ancify::diffusion
