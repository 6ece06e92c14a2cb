// A whole run of a small genome that keeps projections as files, and calls from them.
#include "kernel.h"
#include "whole_run.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string& folder) {
  return [folder, genome = simulated_genome(folder)] {
    std::vector<Alignment> alignments;
    std::vector<std::string> folders;
    for (const auto& file : genome.alignments) {
      folders.push_back(file + ".projected");
      alignments.push_back(
          {file, file, std::make_unique<FileStore>(folders.back(), genome.chromosomes)});
    }
    JobControl control;
    project_alignments(alignments, genome.chromosomes, usual_projection(), 1, control);

    const auto opened = [&](const Chromosome& chromosome) {
      return [&] {
        SequenceSources sources;
        for (const auto& projected : folders) {
          sources.push_back(file_source(sequence_path(projected, chromosome.name), chromosome.name,
                                        chromosome.length));
        }
        return sources;
      };
    };
    const Chromosome& first = genome.chromosomes[0];
    const Chromosome& second = genome.chromosomes[1];
    call_chromosomes(
        vote_of_four(),
        {{first.name, first.length, opened(first)}, {second.name, second.length, opened(second)}},
        folder + "/calls", control);
  };
}

}  // namespace ancify::bench
