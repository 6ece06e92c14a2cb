// Connects calling, with or without projection, to the core.
#include <optional>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/calling/project_and_call.h"
#include "core/ancestry/projection/focal_genome.h"
#include "rcpp_ancestry.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_methods.h"

namespace {

// The caller made by make_caller_impl(). Throws an input error unless it is for this many species.
const ancify::Caller& as_caller(SEXP pointer, std::size_t species) {
  const Rcpp::XPtr<const ancify::Caller> caller(pointer);
  guarded([&] {
    if (static_cast<std::size_t>(caller->species()) != species) {
      throw ancify::InputError("the method is for " + std::to_string(caller->species()) +
                               " species, but there are " + std::to_string(species));
    }
  });
  return *caller;
}

// Makes a function that posts called(i, counts, calls, phred) to the listener for a called
// chromosome, with i from 1.
ancify::ChromosomeCalled tell_called(Mailbox& mail, const Rcpp::Function& watch) {
  const SEXP called = listener_of(watch, "called");
  if (Rf_isNull(called)) return {};
  return [&mail, called](std::size_t i, const ancify::CalledChromosome& chromosome) {
    mail.post([called, i, chromosome] {
      const Rcpp::Function tell(called);
      const auto& [high, low, unresolved, missing] = chromosome.counts;
      const auto counts = Rcpp::NumericVector::create(
          static_cast<double>(high), static_cast<double>(low), static_cast<double>(unresolved),
          static_cast<double>(missing));
      tell(static_cast<double>(i + 1), counts,
           as_list(std::vector<ancify::FileChecksum>{chromosome.calls}),
           as_list(std::vector<ancify::FileChecksum>{chromosome.phred}));
    });
  };
}

// The output folder of calls. `memory`: bytes for bases awaiting calls.
struct CallOutput {
  std::string folder;
  std::int64_t memory;
};

}  // namespace

template <>
struct Fields<CallOutput> {
  using All = CallOutput;
  static constexpr auto table =
      fields("CallOutput", field("folder", &All::folder), field("memory", &All::memory));
};

// Makes a caller of a method, a list for as_method_options(). If `with_phred` is TRUE, it also
// returns the calls' errors. Returns an external pointer, which lives as long as the session and
// cannot be saved.
// [[Rcpp::export]]
SEXP make_caller_impl(const Rcpp::List& method, bool with_phred, const Rcpp::List& work,
                      const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
  ancify::MethodOptions options;
  guarded([&] { options = as_method_options(method); });
  std::unique_ptr<ancify::Caller> caller;
  run_job(watch, [&](ancify::JobControl& control) {
    caller =
        std::make_unique<ancify::Caller>(ancify::make_caller(options, chosen, with_phred, control));
    if (!options.variants.paths.empty()) {
      caller->set_known_sites(ancify::make_known_sites(options, control));
    }
  });
  return Rcpp::XPtr<const ancify::Caller>(caller.release());
}

// Calls bases from sequences of equal length, inner outgroups first. Returns list(calls = a string,
// posterior = NULL or a matrix). The matrix has a row per position and the columns A, C, G, T, with
// NaN for absent posteriors.
// [[Rcpp::export]]
Rcpp::List call_in_memory_impl(const Rcpp::CharacterVector& sequences, SEXP caller, bool posterior,
                               const Rcpp::Function& watch) {
  const auto& by = as_caller(caller, static_cast<std::size_t>(sequences.size()));
  const int n = LENGTH(STRING_ELT(sequences, 0));
  auto posteriors = make_matrix(posterior ? n : 0, ancify::kBases);
  double* const values = posterior ? posteriors.begin() : nullptr;
  const auto species = as_sources(sequences);
  std::vector<char> calls;
  run_job(watch, [&](ancify::JobControl& control) {
    calls.resize(static_cast<std::size_t>(n));
    ancify::call_sequences(by, species, calls.size(), calls.data(), values, control);
  });
  Rcpp::CharacterVector text(1);
  SET_STRING_ELT(text, 0, make_string(calls.data(), n));
  Rcpp::colnames(posteriors) = Rcpp::CharacterVector::create("A", "C", "G", "T");
  return Rcpp::List::create(
      Rcpp::Named("calls") = text,
      Rcpp::Named("posterior") = posterior ? Rcpp::RObject(posteriors) : Rcpp::RObject(R_NilValue));
}

// Calls every chromosome from the files in the outgroups' folders, inner ones first, into `output`.
// If the caller returns errors, also writes <output>/posterior/<chromosome>.phred. Once a
// chromosome's files are in place, calls the listener called(i, counts, calls, phred), in the order
// of completion. `counts` has high, low, unresolved, missing. `calls` and `phred` are checksums.
// [[Rcpp::export]]
void call_files_impl(const std::vector<std::string>& folders, SEXP caller,
                     const Rcpp::NumericVector& lengths, const std::string& output,
                     const Rcpp::Function& watch) {
  const auto& by = as_caller(caller, folders.size());
  const auto chromosomes = chromosomes_in(folders, lengths, watch);
  Mailbox mail;
  const auto job = [&](ancify::JobControl& control) {
    ancify::call_chromosomes(by, chromosomes, output, control, tell_called(mail, watch));
  };
  run_job(watch, job, &mail);
}

// Projects alignments, inner outgroups first, and calls bases from them into `output`. Keeps
// projected sequences of alignments with a folder. Compares blocks with the focal genome named in
// `reading`. `output` is for CallOutput. Listeners are as in
// project_files_impl() and call_files_impl(). Returns the projection reports.
// [[Rcpp::export]]
Rcpp::List project_and_call_impl(const Rcpp::List& alignments, const Rcpp::List& reading,
                                 SEXP caller, const Rcpp::List& output,
                                 const Rcpp::Function& watch) {
  const auto to = from_list<CallOutput>(output);
  const auto rows = as_alignments(alignments);
  const auto& by = as_caller(caller, rows.size());
  auto [chromosomes, options, focal_folder, focal_fasta, threads] = as_reading(reading);
  std::vector<ancify::OutgroupAlignment> outgroups;
  for (const auto& row : rows) {
    outgroups.push_back({row.species, row.file, row.name_in_file, row.folder});
  }
  ancify::WindowLimits limits;
  limits.memory = to.memory;
  limits.window = ancify::usual_window(outgroups.size());
  Mailbox mail;
  ancify::ProjectedAndCalled result;
  const auto job = [&](ancify::JobControl& control) {
    std::optional<ancify::PackedStore> focal;
    if (!focal_folder.empty()) {
      options.open_focal = ancify::focal_in(focal_folder, chromosomes, control.inputs());
    } else if (!focal_fasta.empty()) {
      focal.emplace(chromosomes, options.simd);
      ancify::focal_from_fasta(focal_fasta, chromosomes, options.aliases, *focal, threads, control);
      options.open_focal = ancify::focal_in(*focal);
    }
    result =
        ancify::project_and_call(outgroups, chromosomes, options, by, to.folder, control,
                                 {tell_projected(mail, watch), tell_called(mail, watch)}, limits);
  };
  run_job(watch, job, &mail);
  return Rcpp::List(result.reports.begin(), result.reports.end(),
                    [](const ancify::ProjectionReport& report) { return as_list(report); });
}
