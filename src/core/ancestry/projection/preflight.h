// A look at the first text of alignments, before a run spends hours on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ancestry/projection/projector.h"
#include "core/exec/job_control.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"

namespace ancify {

struct PreflightOutgroup {
  std::string file;
  std::string name_in_file;  // where the file has several species
  bool inner;
};

struct PreflightOptions {
  ProjectionOptions projection;
  // Looks at no more than a small share of a file's bytes, so that a run hardly becomes longer.
  bool brief = false;
  std::string focal_fasta = {};  // or empty
};

struct SeenChromosome {
  std::string name;
  std::int64_t blocks = 0;
  std::int64_t end = 0;  // the largest position, where it is known
};

// What the first text of a file holds of one outgroup.
struct OutgroupLook {
  std::string problem;  // that ended the look, or empty
  std::int64_t problem_line = 0;
  bool whole = false;  // the file ends within the text
  std::vector<SeenChromosome> chromosomes;
  std::int64_t bad = 0;  // blocks
  std::vector<BadBlocks::Example> bad_examples;
  std::int64_t sites = 0;   // positions with a base in both rows
  std::int64_t differ = 0;  // and another one in each
  // Focal letters and the focal genome's.
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  std::string first_wrong;
};

// Focal rows of two files at the positions that both cover.
struct FocalComparison {
  std::size_t first;
  std::size_t second;
  std::int64_t sites = 0;
  std::int64_t differ = 0;
  std::string first_difference = {};
};

// An inner and an outer outgroup at the positions that both cover.
struct DivergenceComparison {
  std::size_t inner;
  std::size_t outer;
  std::int64_t sites = 0;
  std::int64_t inner_differ = 0;  // from the focal row
  std::int64_t outer_differ = 0;
  // By how many standard errors the inner one differs more. The error is that of stretches of
  // positions, as what is aligned wrongly differs in many neighbouring ones.
  double excess = 0;
};

struct Preflight {
  std::vector<OutgroupLook> outgroups;
  std::vector<FocalComparison> focal;
  std::vector<DivergenceComparison> divergence;
  std::string fasta_problem;
};

// Looks at the first 16 MB of text of every file, all files at once on the threads there are, and
// at the focal genome as far as they reach. Keeps five bits a position, of each page of 512 that
// was seen, and outgroup. What is wrong with a file is no error, but in the result.
Preflight look_at_alignments(const std::vector<PreflightOutgroup>& outgroups,
                             const std::vector<Chromosome>& chromosomes,
                             const PreflightOptions& options, int threads, JobControl& control);

}  // namespace ancify
