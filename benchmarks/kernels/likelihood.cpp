// The calls of all patterns of four species, and the likelihood of counted patterns with its
// slope, under HKY85 with gamma rates.
#include "core/ancestry/patterns/site_patterns.h"
#include "core/ancestry/phylogeny/pattern_likelihood.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

namespace {

// All patterns of so many leaves, with made-up counts.
PatternCounts all_patterns(int leaves) {
  PatternCounts patterns;
  patterns.leaves = leaves;
  std::vector<int> states(static_cast<std::size_t>(leaves));
  for (std::size_t number = 0; number < number_of_patterns(leaves); ++number) {
    states_of_pattern(number, leaves, states.data());
    for (const int state : states) patterns.states.push_back(static_cast<std::uint8_t>(state));
    patterns.counts.push_back(static_cast<std::int64_t>(1 + number % 97));
  }
  return patterns;
}

}  // namespace

std::function<void()> make_kernel(const std::string&) {
  SubstitutionRates rates = usual_rates();
  rates.alpha = 0.5;
  return [model = SubstitutionModel(rates), tree = ladder(4), patterns = all_patterns(5)] {
    const CallTable table(Likelihood(tree, model, Thresholds()), true);
    const PatternLikelihood likelihood(tree, patterns);
    const std::vector<double> lengths(tree.nodes().size(), 0.02);
    JobControl control;
    likelihood.log_likelihood(lengths, model, 1, control);
    likelihood.slope(lengths, model, 1, control);
  };
}

}  // namespace ancify::bench
