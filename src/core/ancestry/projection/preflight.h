// Checks the beginning of alignments, before a run spends hours on them.
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
  // Reads only a small share of each file, so that the check hardly prolongs a run.
  bool brief = false;
  std::string focal_fasta = {};  // empty for none
};

struct SeenChromosome {
  std::string name;
  std::int64_t blocks = 0;
  std::int64_t end = 0;  // the largest position, if known
};

// The results for one outgroup, from the beginning of its file.
struct OutgroupPreflight {
  std::string problem;  // that ended the reading; empty for none
  std::int64_t problem_line = 0;
  bool whole = false;  // the whole file was read
  std::vector<SeenChromosome> chromosomes;
  std::int64_t secondary = 0;  // alignments left out
  std::int64_t bad = 0;        // blocks
  std::vector<BadBlocks::Example> bad_examples;
  std::int64_t sites = 0;   // positions with a base in both rows
  std::int64_t differ = 0;  // of these, positions where the bases differ
  // Focal rows against the focal genome: positions compared, positions that differ, and the first
  // difference.
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  std::string first_wrong;
};

// Two files' focal rows, at the positions that both cover.
struct FocalComparison {
  std::size_t first;
  std::size_t second;
  std::int64_t sites = 0;
  std::int64_t differ = 0;
  std::string first_difference = {};
};

// The divergence of an inner and an outer outgroup, at the positions that both cover.
struct DivergenceComparison {
  std::size_t inner;
  std::size_t outer;
  std::int64_t sites = 0;
  std::int64_t inner_differ = 0;  // positions that differ from the focal row
  std::int64_t outer_differ = 0;
  // inner_differ - outer_differ in standard errors. The standard error is estimated from stretches
  // of positions, because the errors of a wrong alignment cluster.
  double excess = 0;
};

// The results of look_at_alignments(). `fasta_problem`: with the focal genome's file; empty for
// none.
struct Preflight {
  std::vector<OutgroupPreflight> outgroups;
  std::vector<FocalComparison> focal;
  std::vector<DivergenceComparison> divergence;
  std::string fasta_problem;
};

// Reads the first 16 MB of text of every file, in parallel, and the focal genome as far as these
// reach. Takes five bits of memory a position and outgroup, in pages of 512 positions. Problems of
// a file are not thrown: they are in the result. Interrupted if `control` stops it.
Preflight look_at_alignments(const std::vector<PreflightOutgroup>& outgroups,
                             const std::vector<Chromosome>& chromosomes,
                             const PreflightOptions& options, int threads, JobControl& control);

}  // namespace ancify
