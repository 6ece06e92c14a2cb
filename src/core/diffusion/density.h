// The density of derived allele frequencies in one or several populations, on a grid.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/diffusion/grid.h"

namespace ancify::diffusion {

// One value for each combination of grid points; the last population's index changes fastest.
class Density {
 public:
  // All values start at 0. InputError if there are too many values to count.
  Density(std::shared_ptr<const Grid> grid, int populations);

  const Grid& grid() const { return *grid_; }
  const std::shared_ptr<const Grid>& shared_grid() const { return grid_; }
  int points() const { return grid_->points(); }
  int populations() const { return populations_; }
  std::size_t size() const { return size_; }
  // The distance in memory between neighbouring values along this population's axis.
  std::size_t stride(int population) const;

  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }

 private:
  std::shared_ptr<const Grid> grid_;
  int populations_;
  std::size_t size_;
  std::vector<double> values_;
};

}  // namespace ancify::diffusion
