// Calls twelve species, whose patterns no table holds.
#include "core/ancestry/calling/calling.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr int n_species = 12;
  constexpr std::size_t n = 100'000;
  return [species = packed(related_sequences(n_species, n, 2))] {
    const Caller caller(std::make_unique<Parsimony>(ladder(n_species)), one_thread());
    std::string calls(n, '?');
    JobControl control;
    call_sequences(caller, packed_sources(species), n, &calls[0], nullptr, control);
  };
}

}  // namespace ancify::bench
