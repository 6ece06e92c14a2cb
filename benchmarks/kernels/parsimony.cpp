// The calls of all patterns of six species by parsimony.
#include "core/ancestry/phylogeny/parsimony.h"

#include "core/ancestry/patterns/site_patterns.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  return [tree = ladder(6)] { const CallTable table(Parsimony(tree), false); };
}

}  // namespace ancify::bench
