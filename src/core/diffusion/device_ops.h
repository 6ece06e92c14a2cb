// The operations on a density that the CPU and devices share. Their parts may run in any order: on
// the threads of a GPU, or in a loop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/diffusion/schedule.h"

namespace ancify::diffusion {

// Pointers to the arrays of a Grid, in the memory of the host or of a device.
struct GridView {
  int points;
  const double* x;
  const double* width;
  const double* middle;
  const double* inverse_weight;
};

ANCIFY_HOST_DEVICE inline std::size_t power(int points, int exponent) {
  std::size_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= static_cast<std::size_t>(points);
  return result;
}

// The distance in memory between neighbouring values along this population's axis.
ANCIFY_HOST_DEVICE inline std::size_t stride_of(int points, int populations, int population) {
  return power(points, populations - 1 - population);
}

// The index of the first value of a line along an axis with this stride. Lines are numbered in the
// order of the values, without the axis' own index.
ANCIFY_HOST_DEVICE inline std::size_t first_of_line(std::size_t line, std::size_t stride,
                                                    int points) {
  return line / stride * stride * static_cast<std::size_t>(points) + line % stride;
}

// The grid indices of a value, by population; the last population's index changes fastest.
struct Indices {
  int of[kMostPopulations];
};

ANCIFY_HOST_DEVICE inline Indices indices_of(std::size_t value, int points, int populations) {
  Indices at = {};
  const auto n = static_cast<std::size_t>(points);
  for (int k = populations; k-- > 0; value /= n) at.of[k] = static_cast<int>(value % n);
  return at;
}

// ---- Time steps ---------------------------------------------------------------------------------

// Pointers to the rows of a LineSystem, which documents them.
struct SystemRows {
  double* lower;
  double* lower_by_inflow;
  double* diagonal;
  double* upper;
  double* upper_by_inflow;
};

// One population's rows, in memory that holds 5 rows for each population.
ANCIFY_HOST_DEVICE inline SystemRows rows_in(double* systems, int points, int population) {
  const auto n = static_cast<std::size_t>(points);
  double* const first = systems + static_cast<std::size_t>(population) * 5 * n;
  return {first, first + n, first + 2 * n, first + 3 * n, first + 4 * n};
}

// sum over j of m_ij: the total rate of migration into the population.
ANCIFY_HOST_DEVICE inline double immigration_of(const TimeStep& step, int populations,
                                                int population) {
  double sum = 0;
  for (int j = 0; j < populations; ++j) {
    if (j != population) sum += step.migration[population][j];
  }
  return sum;
}

// M / 2 at this frequency, without the inflow: g (h + (1 - 2 h) x) x (1 - x) - x sum_j m_j / 2.
ANCIFY_HOST_DEVICE inline double moved_at(double x, const TimeStep& step, int population,
                                          double immigration) {
  const double h = step.dominance[population];
  return step.selection[population] * (h + (1 - 2 * h) * x) * x * (1 - x) - immigration * x / 2;
}

// Row i of (1 + dt A) phi_new = phi, where A is the conservative central difference of -1/2
// d^2/dx^2 V + d/dx M, with M evaluated midway between grid points. The delta of Chang and Cooper
// (1970, J. Comput. Phys. 6:1) is 1/2 here.
ANCIFY_HOST_DEVICE inline void assemble_row(const GridView& grid, const TimeStep& step,
                                            int population, double immigration, int i,
                                            const SystemRows& rows) {
  const auto drift_at = [&](int k) {
    return grid.x[k] * (1 - grid.x[k]) / step.size[population] / 2;
  };
  const double here = step.length * grid.inverse_weight[i];
  double diagonal = 1;
  rows.lower[i] = rows.lower_by_inflow[i] = rows.upper[i] = rows.upper_by_inflow[i] = 0;
  if (i > 0) {
    const double moved = moved_at(grid.middle[i - 1], step, population, immigration);
    diagonal += here * (-moved + drift_at(i) / grid.width[i - 1]);
    rows.lower[i] = -here * (moved + drift_at(i - 1) / grid.width[i - 1]);
    rows.lower_by_inflow[i] = -here / 2;
  }
  if (i + 1 < grid.points) {
    const double moved = moved_at(grid.middle[i], step, population, immigration);
    diagonal += here * (moved + drift_at(i) / grid.width[i]);
    rows.upper[i] = -here * (-moved + drift_at(i + 1) / grid.width[i]);
    rows.upper_by_inflow[i] = here / 2;
  }
  rows.diagonal[i] = diagonal;
}

// The density that new mutations add in a step of this length, at the smallest frequency in one
// population and 0 in all others. The integral of x phi grows by theta / 2 per unit of time.
ANCIFY_HOST_DEVICE inline double mutation_mass(const GridView& grid, double length, double theta,
                                               int populations) {
  double mass = length * theta / 2 / grid.x[1] * 2 / grid.x[2];
  for (int k = 1; k < populations; ++k) mass *= 2 / grid.x[1];
  return mass;
}

// The loss at the corners. It adds to the first diagonal element of the line on which all other
// populations have lost the allele, and to the last element where they have fixed it.
ANCIFY_HOST_DEVICE inline double absorbed_in(const GridView& grid, double length, double size) {
  return length / size / grid.width[0];
}

// Fills the rows of all populations' systems.
struct AssembleOp {
  static constexpr const char* kName = "AssembleOp";
  GridView grid;
  TimeStep step;
  int populations;
  double* systems;

  ANCIFY_HOST_DEVICE std::size_t n() const {
    return static_cast<std::size_t>(grid.points) * static_cast<std::size_t>(populations);
  }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const int population = static_cast<int>(i) / grid.points;
    assemble_row(grid, step, population, immigration_of(step, populations, population),
                 static_cast<int>(i) % grid.points, rows_in(systems, grid.points, population));
  }
};

// A sweep along one axis: solves each line's tridiagonal system by the Thomas algorithm.
struct SweepOp {
  static constexpr const char* kName = "SweepOp";
  GridView grid;
  double* density;
  double* pivots;  // workspace of the density's size
  SystemRows rows;
  int populations;
  int axis;
  double length;  // of the time step
  double theta;
  double size;                     // of the axis' population
  double rates[kMostPopulations];  // of migration into it
  bool mutates[kMostPopulations];  // populations whose mutations are added before this sweep

  ANCIFY_HOST_DEVICE std::size_t n() const { return power(grid.points, populations - 1); }

  ANCIFY_HOST_DEVICE void operator()(std::size_t line) const {
    const std::size_t stride = stride_of(grid.points, populations, axis);
    const std::size_t first = first_of_line(line, stride, grid.points);
    double* const value = density + first;
    double* const pivot = pivots + first;
    mutate(first, stride);
    const double inflow = inflow_of(line);
    const auto last = static_cast<std::size_t>(grid.points) - 1;
    double diagonal = rows.diagonal[0] + rows.upper_by_inflow[0] * inflow;
    if (line == 0) diagonal += absorbed_in(grid, length, size);
    double inverse = 1 / diagonal;
    double before = value[0] * inverse;
    double pivot_before = (rows.upper[0] + rows.upper_by_inflow[0] * inflow) * inverse;
    value[0] = before;
    pivot[0] = pivot_before;
    for (std::size_t i = 1; i <= last; ++i) {
      const double lower = rows.lower[i] + rows.lower_by_inflow[i] * inflow;
      const double upper = rows.upper[i] + rows.upper_by_inflow[i] * inflow;
      diagonal = rows.diagonal[i];
      if (i == last) {
        diagonal += rows.lower_by_inflow[i] * inflow;
        if (line + 1 == n()) diagonal += absorbed_in(grid, length, size);
      }
      inverse = 1 / (diagonal - lower * pivot_before);
      before = (value[i * stride] - lower * before) * inverse;
      pivot_before = upper * inverse;
      value[i * stride] = before;
      pivot[i * stride] = pivot_before;
    }
    for (std::size_t i = last; i-- > 0;) {
      before = value[i * stride] - pivot[i * stride] * before;
      value[i * stride] = before;
    }
  }

 private:
  // Adds the mutations whose grid point is on this line. Each point is on one line only.
  ANCIFY_HOST_DEVICE void mutate(std::size_t first, std::size_t stride) const {
    for (int k = 0; k < populations; ++k) {
      if (!mutates[k]) continue;
      const std::size_t place = stride_of(grid.points, populations, k);
      if (k == axis ? first == 0 : first == place) {
        density[k == axis ? stride : place] += mutation_mass(grid, length, theta, populations);
      }
    }
  }
  ANCIFY_HOST_DEVICE double inflow_of(std::size_t line) const {
    double inflow = 0;
    const auto points = static_cast<std::size_t>(grid.points);
    for (int j = populations; j-- > 0;) {
      if (j == axis) continue;
      inflow += rates[j] * grid.x[line % points];
      line /= points;
    }
    return inflow;
  }
};

// ---- Transitions --------------------------------------------------------------------------------

// A unit mass at one frequency, as values at the two grid points around it. Their trapezoid
// integral is 1.
struct Spike {
  int lower;
  double at_lower;
  double at_upper;
};

ANCIFY_HOST_DEVICE inline Spike spike_at(const GridView& grid, double frequency) {
  // The first grid point at or above the frequency, and at least point 1.
  int upper = 1;
  for (int most = grid.points - 1; upper < most;) {
    const int half = (upper + most) / 2;
    if (grid.x[half] < frequency) {
      upper = half + 1;
    } else {
      most = half;
    }
  }
  const int lower = upper - 1;
  const double width = grid.width[lower];
  const double lower_share = (grid.x[upper] - frequency) / width;
  const double upper_share = (frequency - grid.x[lower]) / width;
  const double before = lower > 0 ? grid.width[lower - 1] : 0;
  const double after = upper + 1 < grid.points ? grid.width[upper] : 0;
  const double height = 2 / (lower_share * before + width + upper_share * after);
  return {lower, lower_share * height, upper_share * height};
}

// The frequency in a mixture of populations with these shares.
ANCIFY_HOST_DEVICE inline double mixed_frequency(const GridView& grid, const Indices& at,
                                                 const double* shares, int populations) {
  double frequency = 0;
  for (int k = 0; k < populations; ++k) frequency += shares[k] * grid.x[at.of[k]];
  return frequency;
}

// Adds a new population as the last one, with these shares of its ancestry.
struct NewPopulationOp {
  static constexpr const char* kName = "NewPopulationOp";
  GridView grid;
  const double* from;
  double* to;
  int populations;  // before
  double shares[kMostPopulations];

  ANCIFY_HOST_DEVICE std::size_t n() const { return power(grid.points, populations); }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    double* const values = to + i * static_cast<std::size_t>(grid.points);
    for (int k = 0; k < grid.points; ++k) values[k] = 0;
    // Drop the ends of a single population: lost and fixed alleles do not segregate after a split
    // either.
    if (populations == 1 && (i == 0 || i + 1 == n())) return;
    const Indices at = indices_of(i, grid.points, populations);
    const Spike spike = spike_at(grid, mixed_frequency(grid, at, shares, populations));
    values[spike.lower] = spike.at_lower * from[i];
    values[spike.lower + 1] = spike.at_upper * from[i];
  }
};

// Replaces a share of `destination` by alleles of other populations, line by line along its axis.
// shares[destination] is the share that is retained.
struct PulseOp {
  static constexpr const char* kName = "PulseOp";
  GridView grid;
  const double* from;
  double* to;
  int populations;
  int destination;
  double shares[kMostPopulations];

  ANCIFY_HOST_DEVICE std::size_t n() const { return power(grid.points, populations - 1); }
  ANCIFY_HOST_DEVICE void operator()(std::size_t line) const {
    const std::size_t stride = stride_of(grid.points, populations, destination);
    const std::size_t first = first_of_line(line, stride, grid.points);
    const auto points = static_cast<std::size_t>(grid.points);
    for (std::size_t i = 0; i < points; ++i) to[first + i * stride] = 0;
    Indices at = indices_of(first, grid.points, populations);
    for (std::size_t i = 0; i < points; ++i) {
      at.of[destination] = static_cast<int>(i);
      const double mass = from[first + i * stride] / grid.inverse_weight[i];
      const Spike spike = spike_at(grid, mixed_frequency(grid, at, shares, populations));
      double* const values = to + first + static_cast<std::size_t>(spike.lower) * stride;
      values[0] += spike.at_lower * mass;
      values[stride] += spike.at_upper * mass;
    }
  }
};

// Removes a population: integrates over its axis by the trapezoid rule.
struct RemovalOp {
  static constexpr const char* kName = "RemovalOp";
  GridView grid;
  const double* from;
  double* to;
  int populations;  // before
  int population;

  ANCIFY_HOST_DEVICE std::size_t n() const { return power(grid.points, populations - 1); }
  ANCIFY_HOST_DEVICE void operator()(std::size_t line) const {
    const std::size_t stride = stride_of(grid.points, populations, population);
    const double* const values = from + first_of_line(line, stride, grid.points);
    double sum = 0;
    for (int i = 0; i < grid.points; ++i) sum += values[i * stride] / grid.inverse_weight[i];
    to[line] = sum;
  }
};

// Reorders the populations.
struct ReorderOp {
  static constexpr const char* kName = "ReorderOp";
  int points;
  const double* from;
  double* to;
  int populations;
  int order[kMostPopulations];  // the old index of each population

  ANCIFY_HOST_DEVICE std::size_t n() const { return power(points, populations); }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const Indices at = indices_of(i, points, populations);
    std::size_t source = 0;
    for (int k = 0; k < populations; ++k) {
      source += stride_of(points, populations, order[k]) * static_cast<std::size_t>(at.of[k]);
    }
    to[i] = from[source];
  }
};

// Copies values.
struct CopyOp {
  const double* from;
  double* to;
  std::size_t size;

  ANCIFY_HOST_DEVICE std::size_t n() const { return size; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const { to[i] = from[i]; }
};

// ---- Samples ------------------------------------------------------------------------------------

// Replaces the axis of the last population not yet sampled by its sample's derived allele count,
// which becomes the fastest index. Each point has `inner` values, of the populations already
// sampled.
struct SampleOp {
  static constexpr const char* kName = "SampleOp";
  const double* from;
  double* to;
  const double* weights;  // a row for each point
  std::size_t outer;
  std::size_t inner;
  std::size_t points;
  std::size_t numbers;

  ANCIFY_HOST_DEVICE std::size_t n() const { return outer * inner * numbers; }
  ANCIFY_HOST_DEVICE void operator()(std::size_t i) const {
    const std::size_t number = i % numbers;
    const std::size_t j = i / numbers % inner;
    const double* const values = from + i / numbers / inner * points * inner + j;
    double sum = 0;
    for (std::size_t k = 0; k < points; ++k) {
      sum += weights[k * numbers + number] * values[k * inner];
    }
    to[i] = sum;
  }
};

}  // namespace ancify::diffusion
