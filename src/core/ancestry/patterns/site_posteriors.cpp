// Posteriors at positions; each pattern is evaluated once.
#include "core/ancestry/patterns/site_posteriors.h"

#include <limits>
#include <vector>

#include "core/ancestry/patterns/pattern_map.h"

namespace ancify {

void site_posteriors(const Method& method, const Sites& sites, SimdLevel level, double* out,
                     std::size_t pitch) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  PatternMap numbers(method.species());
  std::vector<Posterior> posteriors;
  std::vector<int> states(static_cast<std::size_t>(method.species()));
  numbers.for_each_site(
      sites, level, [&](std::size_t i, const std::uint64_t* key, std::uint64_t& number) {
        if (number == 0) {
          numbers.keys().states(key, states.data());
          const SiteCall site = method.call(states.data());
          posteriors.push_back(site.posterior.value_or(Posterior{none, none, none, none}));
          number = posteriors.size();
        }
        const Posterior& posterior = posteriors[number - 1];
        for (std::size_t base = 0; base < kBases; ++base) {
          out[base * pitch + i] = posterior[base];
        }
      });
}

}  // namespace ancify
