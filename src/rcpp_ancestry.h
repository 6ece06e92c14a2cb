// Conversions that all glue of ancestral alleles shares.
#pragma once

#include <Rcpp.h>

#include <string>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/ancestry/variants/annotation.h"
#include "core/genome/chromosome_sequences.h"
#include "rcpp_glue.h"

// Chromosomes whose sequences are files in the species' folders. `folders` must stay valid. The
// files must have the identities that `watch` expects.
std::vector<ancify::ChromosomeSequences> chromosomes_in(const std::vector<std::string>& folders,
                                                        const Rcpp::NumericVector& lengths,
                                                        const Rcpp::Function& watch);

// How to read alignments, from the list that reading_of() makes in R.
struct Reading {
  std::vector<ancify::Chromosome> chromosomes;
  ancify::ProjectionOptions options;
  std::string focal_folder;  // folder of the focal genome to compare blocks with, or ""
  std::string focal_fasta;   // the same as a FASTA file, or ""
  int threads;
};
Reading as_reading(const Rcpp::List& reading);

// An alignment: a row of the table that as_alignments() makes in R.
struct AlignmentRow {
  std::string species;
  std::string file;
  std::string name_in_file;  // the species' name in the file, or ""
  std::string folder;        // of the projected sequences, or ""
  bool inner;
};
std::vector<AlignmentRow> as_alignments(const Rcpp::List& alignments);

Rcpp::List as_list(const ancify::ProjectionReport& report);

// Makes a function that posts the listener projected(i, report, checksums) for a finished
// alignment, with i from 1.
ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& watch);

// Sets the sequences that records are compared with. `sequences` is list(chromosomes =, ancestral
// =, phred =, reference =); the last three are data frames of chromosome and path.
template <class Options>
void take_sequences(const Rcpp::List& sequences, Options& options) {
  options.chromosomes = Rcpp::as<std::vector<std::string>>(sequences["chromosomes"]);
  options.ancestral = as_sequence_files(sequences["ancestral"]);
  options.phred = as_paths(sequences["phred"]);
  options.reference = as_sequence_files(sequences["reference"]);
}

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
// What AA of records is: a data frame of letters and records.
Rcpp::DataFrame as_data_frame(const ancify::AncestralLetterCounts& letters);
// The number of records of each chromosome (row) and reason (column).
Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
