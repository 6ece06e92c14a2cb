// The ancestral base that needs the fewest changes on a tree (Fitch 1971, Hartigan 1973).
#pragma once

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/phylogeny/tree.h"

namespace ancify {

// Calls at the root of tree.rooted_at_call(): one base in its set gives upper case, two or three
// the first of them in lower case, all four n. Branch lengths are not looked at.
class Parsimony : public Method {
 public:
  explicit Parsimony(const Tree& tree) : tree_(tree.rooted_at_call()) {}
  int species() const override { return tree_.species(); }
  SiteCall call(const int* states) const override;
  // The bases that the fewest changes allow at the root, as bits; bit 0 is A.
  unsigned root_set(const int* states) const;

 private:
  Tree tree_;
};

}  // namespace ancify
