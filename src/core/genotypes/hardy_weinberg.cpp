// Of n genotypes with a copies of the rarer allele, h are heterozygous with a probability that is
// proportional to 2^h / (r! h! c!), where r = (a - h) / 2 and c = n - h - r are the homozygotes. So
//   P(h + 2) / P(h) = 4 r c / ((h + 1) (h + 2)).
// Source: Wigginton JE, Cutler DJ, Abecasis GR (2005) A note on exact tests of Hardy-Weinberg
// equilibrium. American Journal of Human Genetics 76: 887-893.
#include "core/genotypes/hardy_weinberg.h"

#include <algorithm>
#include <cmath>

namespace ancify {

namespace {

struct GenotypeCounts {
  double heterozygotes;
  double rare;
  double common;

  double ratio_up() const {
    return 4 * rare * common / ((heterozygotes + 1) * (heterozygotes + 2));
  }
  double ratio_down() const {
    return heterozygotes * (heterozygotes - 1) / (4 * (rare + 1) * (common + 1));
  }
  void move(int pairs) {
    heterozygotes += 2 * pairs;
    rare -= pairs;
    common -= pairs;
  }
};

// Sums of relative probabilities over one side of the start.
struct TailSums {
  double all = 0;
  double tail = 0;  // of those at most 1, the start's
};

// Terms first rise to the mode, and fall from there.
TailSums sum_from(GenotypeCounts at, int step) {
  // Products of many ratios differ from equal ones by rounding.
  constexpr double at_most_start = 1 + 1e-8;
  constexpr double negligible = 1e-20;
  TailSums sums;
  double term = 1;
  for (;;) {
    const double ratio = step > 0 ? at.ratio_up() : at.ratio_down();
    if (ratio <= 0) return sums;
    term *= ratio;
    sums.all += term;
    if (term <= at_most_start) sums.tail += term;
    if (ratio < 1 && term < negligible * (1 + sums.all)) return sums;
    // Many terms above the start are more than a double holds: the start's share is then 0.
    if (std::isinf(sums.all)) return sums;
    at.move(step);
  }
}

}  // namespace

double hardy_weinberg_p(std::int64_t heterozygotes, std::int64_t homozygotes,
                        std::int64_t other_homozygotes) {
  const auto [rare, common] = std::minmax(homozygotes, other_homozygotes);
  const GenotypeCounts start = {static_cast<double>(heterozygotes), static_cast<double>(rare),
                                static_cast<double>(common)};
  const TailSums down = sum_from(start, -1);
  const TailSums up = sum_from(start, 1);
  return std::min(1.0, (1 + down.tail + up.tail) / (1 + down.all + up.all));
}

}  // namespace ancify
