// What every glue file needs: jobs that R can watch and interrupt, and errors as R conditions.
#pragma once

#include <Rcpp.h>

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/backend.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_set.h"
#include "core/genome/sequence_source.h"
#include "core/io/checksum.h"

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

// The function of this name in the list `tell`, an attribute of a job's `watch`, which keeps it: it
// is told of what the job has finished. R's NULL where there is none.
SEXP listener_of(const Rcpp::Function& watch, const char* name);

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

std::vector<ancify::Chromosome> as_chromosomes(const Rcpp::NumericVector& lengths);

// What backend_impl() made, in this session.
const ancify::Backend& as_backend(const Rcpp::List& backend);

// list(size =, checksum =, identity =), vectors; the checksums as 8 hexadecimal digits; NA where
// the size is negative, an identity also where it is not known.
Rcpp::List as_list(const std::vector<ancify::FileChecksum>& sums);

// Of a data frame of chromosome and path.
std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files);
std::unordered_map<std::string, std::string> as_paths(const Rcpp::DataFrame& files);
