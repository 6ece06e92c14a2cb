// A small genome and its outgroups, for the kernels that are whole runs.
#pragma once

#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/project_and_call.h"
#include "core/ancestry/patterns/voting.h"
#include "inputs.h"

namespace ancify::bench {

struct Genome {
  std::vector<Chromosome> chromosomes = {{"chr1", 150'000}, {"chr2", 100'000}};
  std::vector<std::string> alignments;  // .axt.gz
};

inline Genome simulated_genome(const std::string& folder) {
  const std::vector<Outgroup> outgroups = {
      {0.012, 8000}, {0.012, 8000}, {0.016, 6000}, {0.06, 1500}};
  Genome genome;
  for (const auto& outgroup : outgroups) {
    const auto number = static_cast<unsigned>(genome.alignments.size());
    genome.alignments.push_back(folder + "/" + std::to_string(number) + ".axt.gz");
    write_gzip(genome.alignments.back(), alignment_text(outgroup, number, genome.chromosomes));
  }
  return genome;
}

inline Caller vote_of_four() {
  return Caller(std::make_unique<VotingMethod>(Voting{3, 1, 1, 1}), one_thread());
}

inline ProjectionOptions usual_projection() {
  ProjectionOptions options;
  options.simd = kernel_level();
  return options;
}

}  // namespace ancify::bench
