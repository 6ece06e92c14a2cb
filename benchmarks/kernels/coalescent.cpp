// The posteriors of all patterns of three outgroups under the multispecies coalescent.
#include "core/ancestry/coalescent/coalescent.h"

#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  const History history = {
      10'000, 4, {{250'000, 1, 0, 50'000}, {350'000, 2, 0, 60'000}, {700'000, 3, 0, 80'000}}};
  return [history, model = mutation_model(usual_rates(), 1.25e-8)] {
    const JobControl control;
    ancestor_table(history, model, control);
  };
}

}  // namespace ancify::bench
