// Conversions shared by all glue code for ancestral alleles.
#pragma once

#include <Rcpp.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/ancestry/variants/annotation.h"
#include "core/genome/chromosome_sequences.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

// Chromosomes whose sequences are files in the species' folders. `folders` must stay valid. The
// files must have the identities that `watch` expects.
std::vector<ancify::ChromosomeSequences> chromosomes_in(const std::vector<std::string>& folders,
                                                        const Rcpp::NumericVector& lengths,
                                                        const Rcpp::Function& watch);

// The options for reading alignments, from the list that reading_of() makes in R.
struct Reading {
  std::vector<ancify::Chromosome> chromosomes;
  ancify::ProjectionOptions options;
  std::string focal_folder;  // folder of the focal genome to compare blocks with, or ""
  std::string focal_fasta;   // its FASTA file, or ""
  int threads;
};
Reading as_reading(const Rcpp::List& reading);

// An alignment: a row of the columns that as_alignments() makes in R.
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

// The sequences with which records are compared. Files are data frames of chromosome and path.
struct RecordSequences {
  std::vector<std::string> chromosomes;
  std::vector<ancify::SequenceFile> ancestral;
  std::unordered_map<std::string, std::string> phred;
  std::vector<ancify::SequenceFile> reference;
};

template <>
struct Fields<RecordSequences> {
  using All = RecordSequences;
  static constexpr auto table = fields("RecordSequences", field("chromosomes", &All::chromosomes),
                                       field("ancestral", &All::ancestral, as_sequence_files),
                                       field("phred", &All::phred, as_paths),
                                       field("reference", &All::reference, as_sequence_files));
};

// Sets the sequences of `options`, from a list for RecordSequences.
template <class Options>
void take_sequences(const Rcpp::List& sequences, Options& options) {
  auto taken = from_list<RecordSequences>(sequences);
  options.chromosomes = std::move(taken.chromosomes);
  options.ancestral = std::move(taken.ancestral);
  options.phred = std::move(taken.phred);
  options.reference = std::move(taken.reference);
}

// "error" or "skip"
ancify::OnBadBlock as_on_bad_block(const std::string& name);

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
// The letters in the records' field AA: a data frame of letters and counts of records.
Rcpp::DataFrame as_data_frame(const ancify::AncestralLetterCounts& letters);
// The number of records of each chromosome (row) and reason (column).
Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
