// Conversions that all glue of ancestral alleles shares.
#include "rcpp_ancestry.h"

#include <memory>
#include <unordered_map>

std::vector<ancify::ChromosomeSequences> chromosomes_in(const std::vector<std::string>& folders,
                                                        const Rcpp::NumericVector& lengths,
                                                        const Rcpp::Function& watch) {
  const auto inputs = std::make_shared<const ancify::InputIdentities>(inputs_of(watch));
  std::vector<ancify::ChromosomeSequences> chromosomes;
  for (const auto& chromosome : as_chromosomes(lengths)) {
    const auto& [name, length] = chromosome;
    chromosomes.push_back(
        {name, length, [chromosome, &folders, inputs] {
           ancify::SequenceSources sources;
           for (const auto& folder : folders) {
             sources.push_back(ancify::file_source(ancify::sequence_path(folder, chromosome.name),
                                                   chromosome.name, chromosome.length, *inputs));
           }
           return sources;
         }});
  }
  return chromosomes;
}

ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& watch) {
  const SEXP projected = listener_of(watch, "projected");
  if (Rf_isNull(projected)) return {};
  return [&mail, projected](std::size_t i, const ancify::ProjectionReport& report,
                            const std::vector<ancify::FileChecksum>& checksums) {
    mail.post([projected, i, report, checksums] {
      const Rcpp::Function tell(projected);
      tell(static_cast<double>(i + 1), as_list(report), as_list(checksums));
    });
  };
}

Rcpp::List as_list(const ancify::ProjectionReport& report) {
  using Rcpp::Named;
  Rcpp::NumericVector lines;
  Rcpp::CharacterVector problems;
  for (const auto& example : report.bad_examples) {
    lines.push_back(static_cast<double>(example.line));
    problems.push_back(example.problem);
  }
  return Rcpp::List::create(
      Named("blocks") = Rcpp::NumericVector(report.blocks.begin(), report.blocks.end()),
      Named("passed_over") = static_cast<double>(report.passed_over),
      Named("bad") = static_cast<double>(report.bad), Named("bad_lines") = lines,
      Named("bad_problems") = problems,
      Named("duplicates") = static_cast<double>(report.duplicates));
}

namespace {

// Aliases of these chromosomes, from a character vector of chromosomes named by aliases.
std::vector<ancify::ChromosomeAlias> as_aliases(
    const Rcpp::CharacterVector& table, const std::vector<ancify::Chromosome>& chromosomes) {
  std::vector<ancify::ChromosomeAlias> aliases;
  if (table.size() == 0) return aliases;
  const ancify::ChromosomeNames numbers(chromosomes);
  const Rcpp::CharacterVector names = table.names();
  for (R_xlen_t i = 0; i < table.size(); ++i) {
    const auto number = numbers.find(Rcpp::as<std::string>(table[i]));
    if (number) aliases.push_back({Rcpp::as<std::string>(names[i]), *number});
  }
  return aliases;
}

// From a character vector of paths named by alignment files.
std::unordered_map<std::string, std::string> as_genomes(const Rcpp::CharacterVector& paths) {
  std::unordered_map<std::string, std::string> genomes;
  if (paths.size() == 0) return genomes;
  const Rcpp::CharacterVector alignments = paths.names();
  for (R_xlen_t i = 0; i < paths.size(); ++i) {
    genomes.emplace(Rcpp::as<std::string>(alignments[i]), Rcpp::as<std::string>(paths[i]));
  }
  return genomes;
}

}  // namespace

Reading as_reading(const Rcpp::List& reading) {
  const ancify::Backend& backend = as_backend(reading["backend"]);
  Reading result;
  result.chromosomes = as_chromosomes(reading["lengths"]);
  result.options.focal_name = Rcpp::as<std::string>(reading["focal_name"]);
  result.options.focal_chromosomes =
      Rcpp::as<std::vector<std::string>>(reading["focal_chromosomes"]);
  result.options.aliases = as_aliases(reading["aliases"], result.chromosomes);
  result.options.genomes = as_genomes(reading["genomes"]);
  result.options.simd = backend.simd;
  if (Rcpp::as<std::string>(reading["on_bad_block"]) == "skip") {
    result.options.on_bad_block = ancify::OnBadBlock::kSkip;
  }
  result.options.chunk_size = static_cast<std::size_t>(Rcpp::as<double>(reading["chunk_size"]));
  result.focal_folder = Rcpp::as<std::string>(reading["focal_folder"]);
  result.focal_fasta = Rcpp::as<std::string>(reading["focal_fasta"]);
  result.threads = backend.threads;
  return result;
}

std::vector<AlignmentRow> as_alignments(const Rcpp::List& alignments) {
  const auto species = Rcpp::as<std::vector<std::string>>(alignments["species"]);
  const auto file = Rcpp::as<std::vector<std::string>>(alignments["file"]);
  const auto name_in_file = Rcpp::as<std::vector<std::string>>(alignments["name_in_file"]);
  const auto folder = Rcpp::as<std::vector<std::string>>(alignments["folder"]);
  const Rcpp::LogicalVector inner = alignments["inner"];
  std::vector<AlignmentRow> rows;
  for (std::size_t i = 0; i < species.size(); ++i) {
    rows.push_back(
        {species[i], file[i], name_in_file[i], folder[i], inner[static_cast<R_xlen_t>(i)] == TRUE});
  }
  return rows;
}

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes) {
  using Rcpp::Named;
  const auto n = static_cast<R_xlen_t>(chromosomes.size());
  Rcpp::CharacterVector names(n);
  Rcpp::CharacterVector sequences(n);
  Rcpp::NumericVector records(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& chromosome = chromosomes[static_cast<std::size_t>(i)];
    names[i] = chromosome.name;
    if (chromosome.sequence.empty()) {
      sequences[i] = NA_STRING;
    } else {
      sequences[i] = chromosome.sequence;
    }
    records[i] = static_cast<double>(chromosome.records);
  }
  return Rcpp::DataFrame::create(Named("chromosome") = names, Named("sequence") = sequences,
                                 Named("records") = records, Named("stringsAsFactors") = false);
}

Rcpp::DataFrame as_data_frame(const ancify::AncestralLetterCounts& letters) {
  using Rcpp::Named;
  return Rcpp::DataFrame::create(
      Named("letter") = Rcpp::CharacterVector(ancify::kAncestralLetterNames.begin(),
                                              ancify::kAncestralLetterNames.end()),
      Named("records") = Rcpp::NumericVector(letters.begin(), letters.end()),
      Named("stringsAsFactors") = false);
}

Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes) {
  Rcpp::NumericMatrix reasons(static_cast<int>(chromosomes.size()),
                              static_cast<int>(ancify::kReasons));
  for (int i = 0; i < reasons.nrow(); ++i) {
    const auto& counts = chromosomes[static_cast<std::size_t>(i)].reasons;
    for (int k = 0; k < reasons.ncol(); ++k) {
      reasons(i, k) = static_cast<double>(counts[static_cast<std::size_t>(k)]);
    }
  }
  Rcpp::colnames(reasons) =
      Rcpp::CharacterVector(ancify::kReasonNames.begin(), ancify::kReasonNames.end());
  return reasons;
}
