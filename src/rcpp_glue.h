// Tools for all glue files: jobs that R can watch and interrupt, and errors as R conditions.
#pragma once

#include <Rcpp.h>

#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/device/work.h"
#include "core/exec/job_control.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_set.h"
#include "core/genome/sequence_source.h"
#include "core/io/checksum.h"

// Runs body(). Passes an error of the core to R's abort_from_core(), with its class and fields.
void guarded(const std::function<void()>& body);

// Raises an error of the core as an R error of this class, with the fields `facts`.
void abort_from_core(const std::string& type, const std::string& message, const Rcpp::List& facts);

// Throws the input error for a number outside an integer type.
[[noreturn]] void refuse_number(double value);

// Function calls that a job's threads post to R's own thread.
class Mailbox {
 public:
  void post(std::function<void()> letter);
  // Makes the posted calls in order.
  void deliver();

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> letters_;
};

// The expected identities of a job's inputs, by path: the attribute `inputs` of its `watch`. Empty
// if the attribute is absent.
ancify::InputIdentities inputs_of(const Rcpp::Function& watch);

// A listener: the function `name` in the list `tell`, an attribute of a job's `watch`. It is called
// for each finished part of the job, and is valid as long as `watch`. R's NULL if absent.
SEXP listener_of(const Rcpp::Function& watch, const char* name);

// Runs a job on a thread of its own, under guarded(). Meanwhile R's main thread, 20 times a second,
// delivers mail, checks for Ctrl-C, and calls watch(share, lines, place). `share` is the part done
// (0 to 1), `lines` are for the log, `place` is the chromosome at work.
void run_job(const Rcpp::Function& watch, const std::function<void(ancify::JobControl&)>& job,
             Mailbox* mail = nullptr);

// True if a number without its fraction fits an integer type. Casts of other numbers are undefined.
template <class Integer>
bool fits_integer(double value) {
  static_assert(std::is_integral<Integer>::value, "other numbers would lose their fractions");
  constexpr double least = static_cast<double>(std::numeric_limits<Integer>::min());
  constexpr double past = 2 * static_cast<double>(std::numeric_limits<Integer>::max() / 2 + 1);
  const double whole = std::trunc(value);
  return whole >= least && whole < past;
}

// Converts a number of R to an integer of the core and drops its fraction. Throws an input error
// for NaN and for numbers outside the type. Only for R's own thread.
template <class Integer>
Integer as_integer(double value) {
  if (!fits_integer<Integer>(value)) refuse_number(value);
  return static_cast<Integer>(value);
}

// Makes an element of a character vector. If R lacks memory, throws a C++ exception.
SEXP make_string(const char* text, int n);

// Texts in UTF-8.
Rcpp::CharacterVector as_texts(const std::vector<std::string>& texts);

// Makes a matrix of zeros. If R lacks memory, throws a C++ exception.
Rcpp::NumericMatrix make_matrix(int rows, int columns);

// Sources of the strings of a character vector, which must stay valid.
ancify::SequenceSources as_sources(const Rcpp::CharacterVector& sequences);

// Chromosomes from a vector of lengths, named by chromosome.
std::vector<ancify::Chromosome> as_chromosomes(const Rcpp::NumericVector& lengths);

// The work that new_work() makes in R, and its number of threads.
ancify::Work as_work(const Rcpp::List& work);
int threads_of(const Rcpp::List& work);

// Returns list(size =, checksum =, identity =) of vectors. Checksums have 8 hexadecimal digits. All
// are NA if the size is negative; an unknown identity is NA too.
Rcpp::List as_list(const std::vector<ancify::FileChecksum>& sums);

// Convert a data frame of chromosome and path.
std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files);
std::unordered_map<std::string, std::string> as_paths(const Rcpp::DataFrame& files);
