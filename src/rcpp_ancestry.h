// What the glue files of ancestral alleles share.
#pragma once

#include <Rcpp.h>

#include <string>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/ancestry/variants/annotation.h"
#include "core/genome/chromosome_sequences.h"
#include "rcpp_glue.h"

// Chromosomes whose sequences are the files in the species' folders, which have to stay; files have
// the identities that `watch` has for them.
std::vector<ancify::ChromosomeSequences> chromosomes_in(const std::vector<std::string>& folders,
                                                        const Rcpp::NumericVector& lengths,
                                                        const Rcpp::Function& watch);

// How alignments are read, as reading_of() in R makes it.
struct Reading {
  std::vector<ancify::Chromosome> chromosomes;
  ancify::ProjectionOptions options;
  std::string focal_folder;  // "" or where the focal genome is, to compare blocks with
  std::string focal_fasta;   // the same as a file
  int threads;
};
Reading as_reading(const Rcpp::List& reading);

// What as_alignments() in R makes: a row an alignment.
struct AlignmentRow {
  std::string species;
  std::string file;
  std::string name_in_file;  // of the species, or ""
  std::string folder;        // of the projected sequences, or ""
  bool inner;
};
std::vector<AlignmentRow> as_alignments(const Rcpp::List& alignments);

Rcpp::List as_list(const ancify::ProjectionReport& report);

// Posts projected(i, report, checksums), a listener, for each alignment, i from 1.
ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& watch);

// Sets the sequences that records are compared with: `sequences` is list(chromosomes =, ancestral
// =, phred =, reference =), the last three data frames of chromosome and path.
template <class Options>
void take_sequences(const Rcpp::List& sequences, Options& options) {
  options.chromosomes = Rcpp::as<std::vector<std::string>>(sequences["chromosomes"]);
  options.ancestral = as_sequence_files(sequences["ancestral"]);
  options.phred = as_paths(sequences["phred"]);
  options.reference = as_sequence_files(sequences["reference"]);
}

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
// How many records of each chromosome, a row each, are of each reason.
Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
