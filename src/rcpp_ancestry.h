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

// `maf`, as maf_names() in R makes it, has the focal species' name and chromosomes.
ancify::ProjectionOptions as_options(const Rcpp::List& maf, const std::string& on_bad_block,
                                     double chunk_size, const ancify::Backend& backend);

// The outgroups' names in `maf`.
std::vector<std::string> maf_outgroups(const Rcpp::List& maf);

Rcpp::List as_list(const ancify::ProjectionReport& report);

// Posts projected(i, report, checksums) for each alignment, i from 1.
ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& projected);

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
// How many records of each chromosome, a row each, are of each reason.
Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
