// What every glue file needs: jobs that R can watch and interrupt, and errors as R conditions.
#pragma once

#include <Rcpp.h>

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ancestry/annotation.h"
#include "core/ancestry/calling.h"
#include "core/ancestry/projection.h"
#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/io/checksum.h"
#include "core/io/lengths.h"
#include "core/io/sequence_source.h"

// Runs body(); an error of the core is signalled by R's abort_from_core() with its class and facts.
void guarded(const std::function<void()>& body);

// What a job's threads want done on R's own thread.
class Mailbox {
 public:
  void post(std::function<void()> letter);
  // Does what was posted, in that order.
  void deliver();

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> letters_;
};

// The attribute `inputs` of a job's `watch`: identities, named by path, that the job's inputs must
// have. None where it has no such attribute.
ancify::InputIdentities inputs_of(const Rcpp::Function& watch);

// Runs a job beside R's main thread, under guarded(). Meanwhile `watch`, an R function of the
// share done (0 to 1) and the lines to log, is called 20 times a second, mail is delivered, and
// Ctrl-C is honoured.
void run_job(const Rcpp::Function& watch, const std::function<void(ancify::JobControl&)>& job,
             Mailbox* mail = nullptr);

// An element for a character vector; safe where R has too little memory for it.
SEXP make_string(const char* text, int n);

// A matrix of zeros; safe where R has too little memory for it.
Rcpp::NumericMatrix make_matrix(int rows, int columns);

// Sources of the strings of a character vector, which has to stay.
ancify::SequenceSources as_sources(const Rcpp::CharacterVector& sequences);

// Chromosomes whose sequences are the files in the species' folders, which have to stay; files have
// the identities that `watch` has for them.
std::vector<ancify::ChromosomeToCall> chromosomes_in(const std::vector<std::string>& folders,
                                                     const Rcpp::NumericVector& lengths,
                                                     const Rcpp::Function& watch);

std::vector<ancify::Chromosome> as_chromosomes(const Rcpp::NumericVector& lengths);

// As backend_impl() makes it.
ancify::Backend as_backend(const Rcpp::List& backend);

// `maf`, as maf_names() in R makes it, has the focal species' name and chromosomes.
ancify::ProjectionOptions as_options(const Rcpp::List& maf, const std::string& on_bad_block,
                                     double chunk_size, const ancify::Backend& backend);

// The outgroups' names in `maf`.
std::vector<std::string> maf_outgroups(const Rcpp::List& maf);

Rcpp::List as_list(const ancify::ProjectionReport& report);

// Posts projected(i, report, checksums) for each alignment, i from 1.
ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& projected);

// list(size =, checksum =), vectors; the checksums as 8 hexadecimal digits, both NA where the size
// is negative.
Rcpp::List as_list(const std::vector<ancify::FileChecksum>& sums);

// Of a data frame of chromosome and path.
std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files);
std::unordered_map<std::string, std::string> as_paths(const Rcpp::DataFrame& files);

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
// How many records of each chromosome, a row each, are of each reason.
Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes);
