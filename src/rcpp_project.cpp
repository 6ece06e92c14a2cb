#include "core/ancestry/projection/focal_genome.h"
#include "core/ancestry/projection/projection.h"
#include "core/formats/alignment/maf.h"
#include "core/genome/sequence_store.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

// Whether a file is a MAF, by its content.
// [[Rcpp::export]]
bool is_maf_impl(const std::string& file) {
  bool answer = false;
  guarded([&] { answer = ancify::is_maf_file(file); });
  return answer;
}

// Projects alignment i of `species` into folders[i]; gives one report an alignment. `maf` is what
// maf_names() gives. Blocks are compared with the focal genome in `focal`, a folder, unless it is
// "". projected(i, report, checksums) is told of each alignment that is in its place.
// [[Rcpp::export]]
Rcpp::List project_files_impl(const std::vector<std::string>& species,
                              const std::vector<std::string>& files, const Rcpp::List& maf,
                              const std::vector<std::string>& folders, const std::string& focal,
                              const Rcpp::NumericVector& lengths, const std::string& on_bad_block,
                              double chunk_size, const Rcpp::List& backend,
                              const Rcpp::Function& watch, const Rcpp::Function& projected) {
  const auto chromosomes = as_chromosomes(lengths);
  const auto chosen = as_backend(backend);
  auto options = as_options(maf, on_bad_block, chunk_size, chosen);
  if (!focal.empty()) options.open_focal = ancify::focal_in(focal, chromosomes);
  const auto names = maf_outgroups(maf);
  std::vector<ancify::ProjectionReport> reports;
  Mailbox mail;
  const auto job = [&](ancify::JobControl& control) {
    std::vector<ancify::Alignment> alignments;
    for (std::size_t i = 0; i < files.size(); ++i) {
      alignments.push_back({species[i], files[i],
                            std::make_unique<ancify::FileStore>(folders[i], chromosomes),
                            names[i]});
    }
    reports = ancify::project_alignments(alignments, chromosomes, options, chosen.threads, control,
                                         tell_projected(mail, projected));
  };
  run_job(watch, job, &mail);
  return Rcpp::List(reports.begin(), reports.end(),
                    [](const ancify::ProjectionReport& report) { return as_list(report); });
}

// Projects one alignment into memory; gives the report and the sequences.
// [[Rcpp::export]]
Rcpp::List project_memory_impl(const std::string& file, const Rcpp::List& maf,
                               const Rcpp::NumericVector& lengths, const std::string& on_bad_block,
                               double chunk_size, const Rcpp::List& backend,
                               const Rcpp::Function& watch) {
  const auto chromosomes = as_chromosomes(lengths);
  const auto chosen = as_backend(backend);
  const auto options = as_options(maf, on_bad_block, chunk_size, chosen);
  const auto names = maf_outgroups(maf);
  std::vector<ancify::Alignment> alignments;
  const ancify::MemoryStore* memory = nullptr;
  std::vector<ancify::ProjectionReport> reports;
  run_job(watch, [&](ancify::JobControl& control) {
    auto store = std::make_unique<ancify::MemoryStore>(chromosomes);
    memory = store.get();
    alignments.push_back({"the alignment", file, std::move(store), names.front()});
    reports = ancify::project_alignments(alignments, chromosomes, options, chosen.threads, control);
  });
  Rcpp::CharacterVector sequences(lengths.size());
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const auto n = static_cast<int>(chromosomes[i].length);
    SET_STRING_ELT(sequences, i, make_string(memory->bases(i), n));
  }
  sequences.names() = lengths.names();
  return Rcpp::List::create(Rcpp::Named("report") = as_list(reports.front()),
                            Rcpp::Named("sequences") = sequences);
}

// Writes the focal genome's own bases to <folder>/<chromosome>.fa: of the FASTA file `fasta`, or if
// that is "" of the focal rows of all alignments in `files`. Gives the files' checksums.
// [[Rcpp::export]]
Rcpp::List focal_sequences_impl(const std::string& fasta, const std::vector<std::string>& files,
                                const Rcpp::List& maf, const std::string& folder,
                                const Rcpp::NumericVector& lengths, const std::string& on_bad_block,
                                double chunk_size, const Rcpp::List& backend,
                                const Rcpp::Function& watch) {
  const auto chromosomes = as_chromosomes(lengths);
  const auto chosen = as_backend(backend);
  const auto options = as_options(maf, on_bad_block, chunk_size, chosen);
  ancify::FileStore store(folder, chromosomes);
  run_job(watch, [&](ancify::JobControl& control) {
    if (fasta.empty()) {
      ancify::focal_from_alignments(files, chromosomes, options, store, chosen.threads, control);
    } else {
      ancify::focal_from_fasta(fasta, chromosomes, store, chosen.threads, control);
    }
  });
  return as_list(store.checksums());
}
