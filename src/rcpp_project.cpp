// Connects projection with the core.
#include "core/ancestry/projection/alignment_formats.h"
#include "core/ancestry/projection/focal_genome.h"
#include "core/ancestry/projection/projection.h"
#include "core/genome/sequence_store.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

// Properties of an alignment file's format: list(many_species =, needs_genome =, takes_genome =).
// [[Rcpp::export]]
Rcpp::List alignment_format_impl(const std::string& file) {
  const ancify::AlignmentFormat* format = nullptr;
  guarded([&] { format = &ancify::format_of_file(file); });
  return Rcpp::List::create(
      Rcpp::Named("many_species") = format->many_species,
      Rcpp::Named("needs_genome") = format->needs_genome,
      Rcpp::Named("takes_genome") = format->needs_genome || format->takes_genome);
}

// Projects alignments into their folders. Returns a report per alignment. Calls the listener
// projected(i, report, checksums) for each alignment whose files are in place.
// [[Rcpp::export]]
Rcpp::List project_files_impl(const Rcpp::List& alignments, const Rcpp::List& reading,
                              const Rcpp::Function& watch) {
  const auto rows = as_alignments(alignments);
  auto [chromosomes, options, focal_folder, focal_fasta, threads] = as_reading(reading);
  std::vector<ancify::ProjectionReport> reports;
  Mailbox mail;
  const auto job = [&](ancify::JobControl& control) {
    std::vector<ancify::Alignment> all;
    for (const auto& row : rows) {
      all.push_back({row.species, row.file,
                     std::make_unique<ancify::FileStore>(row.folder, chromosomes),
                     row.name_in_file});
    }
    if (!focal_folder.empty()) {
      options.open_focal = ancify::focal_in(focal_folder, chromosomes, control.inputs());
    }
    reports = ancify::project_alignments(all, chromosomes, options, threads, control,
                                         tell_projected(mail, watch));
  };
  run_job(watch, job, &mail);
  return Rcpp::List(reports.begin(), reports.end(),
                    [](const ancify::ProjectionReport& report) { return as_list(report); });
}

// Projects one alignment into memory. Returns the report and the sequences.
// [[Rcpp::export]]
Rcpp::List project_memory_impl(const Rcpp::List& alignment, const Rcpp::List& reading,
                               const Rcpp::Function& watch) {
  const auto row = as_alignments(alignment).front();
  const auto how = as_reading(reading);
  const auto& chromosomes = how.chromosomes;
  std::vector<ancify::Alignment> alignments;
  const ancify::MemoryStore* memory = nullptr;
  std::vector<ancify::ProjectionReport> reports;
  run_job(watch, [&](ancify::JobControl& control) {
    auto store = std::make_unique<ancify::MemoryStore>(chromosomes);
    memory = store.get();
    alignments.push_back({"the alignment", row.file, std::move(store), row.name_in_file});
    reports =
        ancify::project_alignments(alignments, chromosomes, how.options, how.threads, control);
  });
  Rcpp::CharacterVector sequences(static_cast<R_xlen_t>(chromosomes.size()));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    names.push_back(chromosomes[i].name);
    const auto n = static_cast<int>(chromosomes[i].length);
    SET_STRING_ELT(sequences, i, make_string(memory->bases(i), n));
  }
  sequences.names() = as_texts(names);
  return Rcpp::List::create(Rcpp::Named("report") = as_list(reports.front()),
                            Rcpp::Named("sequences") = sequences);
}

// Writes the focal genome's bases to <folder>/<chromosome>.fa. They come from its FASTA file or,
// without one, from the focal rows of all alignments in `files`. Returns the files' checksums.
// [[Rcpp::export]]
Rcpp::List focal_sequences_impl(const std::vector<std::string>& files, const std::string& folder,
                                const Rcpp::List& reading, const Rcpp::Function& watch) {
  const auto how = as_reading(reading);
  ancify::FileStore store(folder, how.chromosomes);
  run_job(watch, [&](ancify::JobControl& control) {
    if (how.focal_fasta.empty()) {
      ancify::focal_from_alignments(files, how.chromosomes, how.options, store, how.threads,
                                    control);
    } else {
      ancify::focal_from_fasta(how.focal_fasta, how.chromosomes, how.options.aliases, store,
                               how.threads, control);
    }
  });
  return as_list(store.checksums());
}
