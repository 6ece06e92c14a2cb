// Projects an alignment in AXT from memory into memory.
#include "core/ancestry/projection/projection.h"
#include "inputs.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  const std::vector<Chromosome> chromosomes = {{"chr1", 500'000}};
  return [chromosomes, text = alignment_text({0.03, 1500}, 1, chromosomes)] {
    MemoryStore store(chromosomes);
    const std::string name = "memory";
    ProjectionOptions options;
    options.simd = kernel_level();
    const TaskContext context;
    AlignmentProjector projector(name, {{"", &store}}, chromosomes, options, context);
    projector.consume(text, true);
    projector.finish();
  };
}

}  // namespace ancify::bench
