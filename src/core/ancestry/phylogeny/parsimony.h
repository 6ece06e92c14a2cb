// The ancestral base that needs the fewest changes on a tree (Fitch 1971, Hartigan 1973).
#pragma once

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// Calls at the root of tree.rooted_at_call(). One base in the root's set gives upper case. Several
// give n; with Ties::kAlphabet two or three give the first of them in lower case. Branch lengths
// are ignored.
class Parsimony : public Method {
 public:
  explicit Parsimony(const Tree& tree, Ties ties = Ties::kOpen)
      : tree_(tree.rooted_at_call()), ties_(ties) {}
  int species() const override { return tree_.species(); }
  SiteCall call(const int* states) const override;
  // The root's bases that allow the fewest changes, as bits; bit 0 is A.
  unsigned root_set(const int* states) const;

 private:
  Tree tree_;
  Ties ties_;
};

}  // namespace ancify
