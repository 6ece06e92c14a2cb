// The ancestral base that needs the fewest changes on a tree (Fitch 1971, Hartigan 1973).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// Calls at the root of tree.rooted_at_call(). One base in the root's set gives upper case. Several
// give n; with Ties::kAlphabet two or three give the first of them in lower case. Branch lengths
// are ignored.
class Parsimony : public Method {
 public:
  explicit Parsimony(const Tree& tree, Ties ties = Ties::kOpen);
  int species() const override { return tree_.species(); }
  SiteCall call(const int* states) const override;
  void call_batch(const std::uint8_t* states, std::size_t n, SimdLevel level,
                  SiteCall* calls) const override;
  // The root's bases that allow the fewest changes, as bits; bit 0 is A.
  unsigned root_set(const int* states) const;

 private:
  SiteCall call_of_set(unsigned set, bool has_data) const;

  Tree tree_;
  Ties ties_;
  int most_children_;
};

}  // namespace ancify
