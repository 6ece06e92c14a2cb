// The change of moments with time, by drift, migration and new mutations.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/diffusion/schedule.h"
#include "core/moments/basis.h"
#include "core/moments/degree_set.h"

namespace ancify::moments {

// The eigenvalues of a generator of this step have real parts from -radius to 0.
double spectral_radius(const LineageBounds& bounds, const diffusion::Schedule& schedule,
                       const diffusion::TimeStep& step);

// dc/dt = A c + b for the moments c of a degree set, while parameters are constant. The moment of 1
// is infinite, and 0 stands for it.
class Generator {
 public:
  // The set must have the degrees that migration reaches.
  Generator(const DegreeSet& set, const diffusion::Schedule& schedule,
            const diffusion::TimeStep& step);

  // out = A c + b
  void apply(const double* c, double* out);

  double radius() const { return radius_; }

 private:
  void add_drift(const double* c, double* out) const;
  void add_immigration(int population, const double* c, double* out);

  const DegreeSet& set_;
  const diffusion::Schedule& schedule_;
  const diffusion::TimeStep& step_;
  Recurrence integrals_;
  Recurrence legendre_;
  double radius_;
  std::vector<std::pair<std::size_t, double>> mutations_;  // positions in b, and their values
  std::vector<double> slopes_;  // moments with P_(k-1) = g_k' in one population
  std::vector<double> changes_;
};

}  // namespace ancify::moments
