// The ancestral base by a vote of two tiers of outgroups.
#pragma once

#include "core/ancestry/patterns/method.h"
#include "core/genome/bases.h"

namespace ancify {

// The sizes of the two tiers, and the fewest votes for a consensus in each. Inner species come
// first.
struct Voting {
  int n_inner = 0;
  int n_outer = 0;
  int min_inner = 1;
  int min_outer = 1;

  ANCIFY_HOST_DEVICE int species() const { return n_inner + n_outer; }
};

// The most frequent base of species `begin` to `end` - 1, ties to the first of A, C, G, T; kMissing
// if it has fewer than `fewest` votes. `fewest` must be at least 1. code(i) is the base code of
// species i.
template <class Code>
ANCIFY_HOST_DEVICE int consensus(Code code, int begin, int end, int fewest) {
  int votes[kStates] = {0, 0, 0, 0, 0};
  for (int i = begin; i < end; ++i) ++votes[code(i)];
  int best = 0;
  for (int base = 1; base < kBases; ++base) {
    if (votes[base] > votes[best]) best = base;
  }
  return votes[best] >= fewest ? best : kMissing;
}

// Upper case if both tiers agree, lower case if one tier alone has a consensus, n if they differ, N
// if neither has one.
template <class Code>
ANCIFY_HOST_DEVICE char call_by_vote(const Voting& voting, Code code) {
  const int inner = consensus(code, 0, voting.n_inner, voting.min_inner);
  const int outer = consensus(code, voting.n_inner, voting.species(), voting.min_outer);
  if (inner == outer) return upper_base(inner);
  if (outer == kMissing) return lower_base(inner);
  if (inner == kMissing) return lower_base(outer);
  return 'n';
}

class VotingMethod : public Method {
 public:
  // InputError unless both tiers have species and both minima are at least 1.
  explicit VotingMethod(const Voting& voting);
  int species() const override { return voting_.species(); }
  SiteCall call(const int* states) const override;
  const Voting* votes() const override { return &voting_; }

 private:
  Voting voting_;
};

}  // namespace ancify
