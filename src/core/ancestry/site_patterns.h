// A site pattern, the states of all species at a position, is a number; a method's calls are a
// table over these numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/device/simd.h"
#include "core/io/bases.h"

namespace ancify {

// Species for which all patterns are tabulated; 5^8 calls fit a core's own cache.
constexpr int kMostTabulated = 8;

// How the species' sequences are kept: a character a position, or packed (io/packed.h).
enum class SequenceForm { kCharacters, kPacked };

class CallTable {
 public:
  // call(code) gives the call of the pattern in which species i has the state code(i).
  template <class Call>
  CallTable(int species, Call call) : species_(species) {
    std::size_t patterns = 1;
    for (int i = 0; i < species; ++i) patterns *= kStates;
    calls_.resize(patterns);
    std::vector<int> states(static_cast<std::size_t>(species), 0);
    for (char& result : calls_) {
      result = call([&](int i) { return states[static_cast<std::size_t>(i)]; });
      advance(states);
    }
    tile();
  }

  // Calls n positions; species[i] are those of species i, from a multiple of kPackedGroup on if
  // packed.
  void apply(const char* const* species, SequenceForm form, std::size_t n, char* calls,
             SimdLevel level) const;

 private:
  // The next pattern; the first species counts fastest.
  static void advance(std::vector<int>& states) {
    for (int& state : states) {
      if (++state < kStates) return;
      state = 0;
    }
  }
  void tile();

  int species_;
  std::string calls_;
  std::vector<std::uint8_t> tiles_;  // see tile(); empty for more than four species
};

}  // namespace ancify
