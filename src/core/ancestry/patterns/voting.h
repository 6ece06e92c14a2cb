// The ancestral base by a vote of two tiers of outgroups.
#pragma once

#include <cstddef>
#include <cstdint>

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
  Ties ties = Ties::kOpen;

  ANCIFY_HOST_DEVICE int species() const { return n_inner + n_outer; }
};

// The most frequent bases of species `begin` to `end` - 1, as bits; bit 0 is A. None if they have
// fewer than `fewest` votes, which must be at least 1. code(i) is the base code of species i.
template <class Code>
ANCIFY_HOST_DEVICE unsigned most_frequent(Code code, int begin, int end, int fewest) {
  int votes[kStates] = {0, 0, 0, 0, 0};
  for (int i = begin; i < end; ++i) ++votes[code(i)];
  int most = fewest;
  for (int base = 0; base < kBases; ++base) {
    if (votes[base] > most) most = votes[base];
  }
  unsigned bases = 0;
  for (int base = 0; base < kBases; ++base) {
    if (votes[base] == most) bases |= 1U << base;
  }
  return bases;
}

// The call for the most frequent bases of both tiers: upper case if both tiers agree, lower case if
// one tier alone has a consensus, N if neither has one. n if they differ or, with Ties::kOpen, if
// the call depends on which of several most frequent bases is a tier's consensus.
ANCIFY_HOST_DEVICE inline char call_of_tiers(const Voting& voting, unsigned inner, unsigned outer) {
  if (voting.ties == Ties::kAlphabet) {  // leaves the lowest bit
    inner &= 0U - inner;
    outer &= 0U - outer;
  }
  const unsigned bases = inner | outer;
  if (bases == 0) return 'N';
  if ((bases & (bases - 1)) != 0) return 'n';
  const bool both = inner != 0 && outer != 0;
  return both ? upper_base(first_base(bases)) : lower_base(first_base(bases));
}

template <class Code>
ANCIFY_HOST_DEVICE char call_by_vote(const Voting& voting, Code code) {
  return call_of_tiers(voting, most_frequent(code, 0, voting.n_inner, voting.min_inner),
                       most_frequent(code, voting.n_inner, voting.species(), voting.min_outer));
}

class VotingMethod : public Method {
 public:
  // InputError unless both tiers have species and both minima are at least 1.
  explicit VotingMethod(const Voting& voting);
  int species() const override { return voting_.species(); }
  SiteCall call(const int* states) const override;
  void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                  SiteCall* calls) const override;
  const Voting* votes() const override { return &voting_; }

 private:
  Voting voting_;
};

}  // namespace ancify
