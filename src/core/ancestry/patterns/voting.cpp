// Voting as a calling method: checks of its settings, and the call of a pattern by the rule in
// voting.h.
#include "core/ancestry/patterns/voting.h"

#include <algorithm>
#include <array>
#include <memory>

#include "core/device/lanes.h"
#include "core/exec/errors.h"

namespace ancify {

namespace {

// For each pattern of a batch.
using Sets = std::array<std::uint8_t, kBatchSites>;
using Counts = std::array<std::uint16_t, kBatchSites>;
using Votes = std::array<Counts, kBases>;

// On the heap, as it exceeds the registers.
struct Workspace {
  Votes votes;
  Counts most;
  Sets inner;
  Sets outer;
};

// Bytes in a register.
using PlainBytes = std::uint8_t __attribute__((vector_size(16)));
using Avx2Bytes = std::uint8_t __attribute__((vector_size(32)));

// The most rows whose votes fit a byte.
constexpr int kMostRows = 255;

template <class Vector>
ANCIFY_ALWAYS_INLINE void add_counts(const Vector& votes, std::uint16_t* counts) {
  std::array<std::uint8_t, sizeof(Vector)> bytes;
  store(votes, bytes.data());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    counts[i] = static_cast<std::uint16_t>(counts[i] + bytes[i]);
  }
}

// Adds the votes of at most kMostRows rows. Votes stay in registers; a true mask is -1.
template <class Vector>
ANCIFY_ALWAYS_INLINE void add_votes(const std::uint8_t* rows, int n, Votes& votes) {
  static_assert(kBases == 4, "a register for each base");
  for (std::size_t i = 0; i < kBatchSites; i += sizeof(Vector)) {
    Vector a{};
    Vector c{};
    Vector g{};
    Vector t{};
    for (int s = 0; s < n; ++s) {
      Vector states;
      load(rows + static_cast<std::size_t>(s) * kBatchSites + i, states);
      a -= Vector(states == Vector{});
      c -= Vector(states == Vector{} + std::uint8_t{1});
      g -= Vector(states == Vector{} + std::uint8_t{2});
      t -= Vector(states == Vector{} + std::uint8_t{3});
    }
    add_counts(a, &votes[0][i]);
    add_counts(c, &votes[1][i]);
    add_counts(g, &votes[2][i]);
    add_counts(t, &votes[3][i]);
  }
}

// most_frequent() of a tier's rows. There are fewer than 65,536 species.
template <class Vector>
ANCIFY_ALWAYS_INLINE void most_frequent_of_rows(const std::uint8_t* rows, int n_species, int fewest,
                                                Workspace& workspace, Sets& sets) {
  Votes& votes = workspace.votes;
  Counts& most = workspace.most;
  for (Counts& count : votes) count.fill(0);
  for (int first = 0; first < n_species; first += kMostRows) {
    add_votes<Vector>(rows + static_cast<std::size_t>(first) * kBatchSites,
                      std::min(kMostRows, n_species - first), votes);
  }
  most.fill(static_cast<std::uint16_t>(std::min(fewest, 0xffff)));
  for (const Counts& count : votes) {
    for (std::size_t i = 0; i < kBatchSites; ++i) most[i] = std::max(most[i], count[i]);
  }
  for (std::size_t i = 0; i < kBatchSites; ++i) {
    unsigned set = 0;
    for (std::size_t base = 0; base < kBases; ++base) {
      set |= static_cast<unsigned>(votes[base][i] == most[i]) << base;
    }
    sets[i] = static_cast<std::uint8_t>(set);
  }
}

template <class Vector>
ANCIFY_ALWAYS_INLINE void tiers_of_batch(const Voting& voting, const std::uint8_t* states,
                                         Workspace& workspace) {
  most_frequent_of_rows<Vector>(states, voting.n_inner, voting.min_inner, workspace,
                                workspace.inner);
  const std::size_t first = static_cast<std::size_t>(voting.n_inner) * kBatchSites;
  most_frequent_of_rows<Vector>(states + first, voting.n_outer, voting.min_outer, workspace,
                                workspace.outer);
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 void tiers_of_batch_avx2(const Voting& voting, const std::uint8_t* states,
                                            Workspace& workspace) {
  tiers_of_batch<Avx2Bytes>(voting, states, workspace);
}
#endif

}  // namespace

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

void VotingMethod::call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                              SiteCall* calls) const {
  const auto workspace = std::make_unique<Workspace>();
#if defined(__x86_64__)
  if (level != SimdLevel::kScalar) {
    tiers_of_batch_avx2(voting_, states, *workspace);
  } else {
    tiers_of_batch<PlainBytes>(voting_, states, *workspace);
  }
#else
  static_cast<void>(level);
  tiers_of_batch<PlainBytes>(voting_, states, *workspace);
#endif
  for (std::size_t i = 0; i < n; ++i) {
    calls[i] = {call_of_tiers(voting_, workspace->inner[i], workspace->outer[i]), {}};
  }
}

}  // namespace ancify
