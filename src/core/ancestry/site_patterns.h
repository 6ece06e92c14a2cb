// A site pattern, the states of all species at a position, is a number; a method's calls are a
// table over these numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/ancestry/bases.h"

namespace ancify {

// Species for which all patterns are tabulated; 5^8 calls fit a core's own cache.
constexpr int kMostTabulated = 8;

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
  }

  // Calls n positions; species[i] are those of species i.
  void apply(const char* const* species, std::size_t n, char* calls) const;

 private:
  // The next pattern; the first species counts fastest.
  static void advance(std::vector<int>& states) {
    for (int& state : states) {
      if (++state < kStates) return;
      state = 0;
    }
  }

  int species_;
  std::string calls_;
};

}  // namespace ancify
