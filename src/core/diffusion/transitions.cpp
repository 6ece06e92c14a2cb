#include "core/diffusion/transitions.h"

#include <algorithm>

#include "core/diffusion/device_ops.h"

namespace ancify::diffusion {

namespace {

template <class Op>
void for_each(const Op& op) {
  for (std::size_t i = 0; i < op.n(); ++i) op(i);
}

}  // namespace

Density with_new_population(const Density& density, const std::vector<double>& shares) {
  Density wider(density.shared_grid(), density.populations() + 1);
  NewPopulationOp op = {
      density.grid().view(), density.data(), wider.data(), density.populations(), {}};
  std::copy(shares.begin(), shares.end(), op.shares);
  for_each(op);
  return wider;
}

Density with_pulse(const Density& density, int destination, const std::vector<double>& shares) {
  Density after(density.shared_grid(), density.populations());
  PulseOp op = {density.grid().view(), density.data(), after.data(),
                density.populations(), destination,    {}};
  std::copy(shares.begin(), shares.end(), op.shares);
  for_each(op);
  return after;
}

Density without_population(const Density& density, int population) {
  Density fewer(density.shared_grid(), density.populations() - 1);
  for_each(RemovalOp{density.grid().view(), density.data(), fewer.data(), density.populations(),
                     population});
  return fewer;
}

Density reordered(const Density& density, const std::vector<int>& order) {
  Density other(density.shared_grid(), density.populations());
  ReorderOp op = {density.points(), density.data(), other.data(), density.populations(), {}};
  std::copy(order.begin(), order.end(), op.order);
  for_each(op);
  return other;
}

}  // namespace ancify::diffusion
