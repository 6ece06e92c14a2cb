// Applies a transition to a density on one thread of the CPU.
#include "core/diffusion/transitions.h"

namespace ancify::diffusion {

namespace {

struct OneThread {
  template <class Op>
  void for_each(const Op& op) const {
    for (std::size_t i = 0; i < op.n(); ++i) op(i);
  }
};

}  // namespace

Density after(const Density& density, const Transition& transition) {
  Density next(density.shared_grid(), populations_after(transition, density.populations()));
  do_transition(OneThread(), density.grid().view(), density.data(), next.data(),
                density.populations(), transition);
  return next;
}

}  // namespace ancify::diffusion
