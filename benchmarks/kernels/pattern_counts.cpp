// Counts the site patterns of five species.
#include "core/ancestry/patterns/pattern_counts.h"

#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr std::int64_t n = 200'000;
  return [species = packed(related_sequences(5, n, 5))] {
    JobControl control;
    count_patterns({{"chr1", n, [&] { return packed_sources(species); }}}, one_thread(), control);
  };
}

}  // namespace ancify::bench
