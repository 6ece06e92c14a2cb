// The focal genome's bases, from a FASTA or 2bit file or from the focal rows of alignments.
#pragma once

#include <string>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// Copies the chromosomes of a FASTA or 2bit file into `store`, and commits it. The file may hold
// other sequences, in any order, and may name chromosomes by `aliases`. FormatError if a chromosome
// is missing, occurs twice or has another length.
void focal_from_fasta(const std::string& fasta, const std::vector<Chromosome>& chromosomes,
                      const std::vector<ChromosomeAlias>& aliases, SequenceStore& store,
                      int threads, JobControl& control);

// Opens the focal sequences in a store, or in a folder's files with the identities `inputs`, so
// that blocks can be compared with them. The store and the chromosomes must outlive the result.
OpenFocal focal_in(const PackedStore& store);
OpenFocal focal_in(const std::string& folder, const std::vector<Chromosome>& chromosomes,
                   const InputIdentities& inputs = {});

// Collects the focal rows of alignment files in `store`, in upper case, and commits it. A position
// gets the base of the first file with A, C, G or T there, else N. If blocks of one file contradict
// each other, the base that is first in the alphabet wins. Takes a byte of memory a position.
void focal_from_alignments(const std::vector<std::string>& alignments,
                           const std::vector<Chromosome>& chromosomes,
                           const ProjectionOptions& options, SequenceStore& store, int threads,
                           JobControl& control);

}  // namespace ancify
