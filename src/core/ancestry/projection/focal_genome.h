// The focal genome's own bases, for what looks at them too.
#pragma once

#include <string>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// From a FASTA file of all chromosomes, in any order and among others, into `store`, which is
// committed. FormatError where one is missing, there twice, or of another length.
void focal_from_fasta(const std::string& fasta, const std::vector<Chromosome>& chromosomes,
                      SequenceStore& store, int threads, JobControl& control);

// The sequences that are in a store, or in the files of a folder with these identities, for a run
// to compare blocks with. The store and the chromosomes have to stay.
OpenFocal focal_in(const PackedStore& store);
OpenFocal focal_in(const std::string& folder, const std::vector<Chromosome>& chromosomes,
                   const InputIdentities& inputs = {});

// From the focal rows of alignment files, into `store`, which is committed: in upper case, the base
// of the first file that has A, C, G or T there (of blocks of one file that contradict each other,
// the first of the alphabet), elsewhere N. Takes a byte a position.
void focal_from_alignments(const std::vector<std::string>& alignments,
                           const std::vector<Chromosome>& chromosomes, ProjectionOptions options,
                           SequenceStore& store, int threads, JobControl& control);

}  // namespace ancify
