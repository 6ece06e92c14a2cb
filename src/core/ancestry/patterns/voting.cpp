// Voting as a calling method: checks of its settings, and the call of a pattern by the rule in
// voting.h.
#include "core/ancestry/patterns/voting.h"

#include "core/exec/errors.h"

namespace ancify {

VotingMethod::VotingMethod(const Voting& voting) : voting_(voting) {
  if (voting.n_inner < 1 || voting.n_outer < 1) {
    throw InputError("voting needs at least one inner and one outer outgroup");
  }
  if (voting.min_inner < 1 || voting.min_outer < 1) {
    throw InputError("the minimum number of votes per tier must be at least 1");
  }
}

SiteCall VotingMethod::call(const int* states) const {
  return {call_by_vote(voting_, [&](int i) { return states[i]; }), {}};
}

}  // namespace ancify
