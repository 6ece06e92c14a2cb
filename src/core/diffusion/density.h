// A density over the frequencies of an allele in several populations.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/diffusion/grid.h"

namespace ancify::diffusion {

// Values on the grid's product with itself, the last population's index fastest.
class Density {
 public:
  // InputError where so many values could not be counted
  Density(std::shared_ptr<const Grid> grid, int populations);

  const Grid& grid() const { return *grid_; }
  const std::shared_ptr<const Grid>& shared_grid() const { return grid_; }
  int points() const { return grid_->points(); }
  int populations() const { return populations_; }
  std::size_t size() const { return size_; }
  // How far apart two values are that differ by one step in this population.
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
