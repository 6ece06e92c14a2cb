// A whole run of a small genome that keeps no projections.
#include "kernel.h"
#include "whole_run.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string& folder) {
  return [folder, genome = simulated_genome(folder)] {
    std::vector<OutgroupAlignment> outgroups;
    for (const auto& file : genome.alignments) outgroups.push_back({file, file});
    JobControl control;
    project_and_call(outgroups, genome.chromosomes, usual_projection(), vote_of_four(),
                     folder + "/calls", control);
  };
}

}  // namespace ancify::bench
