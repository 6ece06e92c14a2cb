// Packs four species and calls them by a vote.
#include "core/ancestry/patterns/voting.h"

#include "core/ancestry/calling/calling.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr std::size_t n = 400'000;
  return [sequences = related_sequences(4, n, 10)] {
    const auto species = packed(sequences);
    const Caller caller(std::make_unique<VotingMethod>(Voting{3, 1, 1, 1}), one_thread());
    std::string calls(n, '?');
    JobControl control;
    call_sequences(caller, packed_sources(species), n, &calls[0], nullptr, control);
  };
}

}  // namespace ancify::bench
