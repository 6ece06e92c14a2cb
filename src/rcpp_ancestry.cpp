// Conversions shared by all glue code for ancestral alleles.
#include "rcpp_ancestry.h"

#include <memory>
#include <unordered_map>
#include <utility>

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
      Named("duplicates") = static_cast<double>(report.duplicates),
      Named("shared") = static_cast<double>(report.shared),
      Named("secondary") = static_cast<double>(report.secondary));
}

namespace {

// The aliases of these chromosomes, from a character vector of chromosomes named by aliases.
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

ancify::Overlaps as_overlaps(const std::string& name) {
  using ancify::Overlaps;
  return choice<Overlaps>(
      name,
      {{"score", Overlaps::kScore}, {"missing", Overlaps::kMissing}, {"last", Overlaps::kLast}});
}

// Paths of genomes by alignment file, from a character vector of paths named by alignment files.
std::unordered_map<std::string, std::string> as_genomes(const Rcpp::CharacterVector& paths) {
  std::unordered_map<std::string, std::string> genomes;
  if (paths.size() == 0) return genomes;
  const Rcpp::CharacterVector alignments = paths.names();
  for (R_xlen_t i = 0; i < paths.size(); ++i) {
    genomes.emplace(Rcpp::as<std::string>(alignments[i]), Rcpp::as<std::string>(paths[i]));
  }
  return genomes;
}

// The list that reading_of() makes in R. `aliases` are names of its chromosomes in other files.
struct ReadingFields {
  ancify::ProjectionOptions options;
  std::vector<ancify::Chromosome> lengths;
  ancify::Work work;
  Rcpp::CharacterVector aliases;
  std::string focal_folder;
  std::string focal_fasta;
};

struct AlignmentColumns {
  std::vector<std::string> species;
  std::vector<std::string> file;
  std::vector<std::string> name_in_file;
  std::vector<std::string> folder;
  Rcpp::LogicalVector inner;
};

}  // namespace

ancify::OnBadBlock as_on_bad_block(const std::string& name) {
  using ancify::OnBadBlock;
  return choice<OnBadBlock>(name, {{"error", OnBadBlock::kError}, {"skip", OnBadBlock::kSkip}});
}

template <>
struct Fields<ReadingFields> {
  using All = ReadingFields;
  using Options = ancify::ProjectionOptions;
  static constexpr auto table =
      fields("Reading", field("lengths", &All::lengths, as_chromosomes),
             field("work", &All::work, as_work), field("aliases", &All::aliases),
             field("focal_folder", &All::focal_folder), field("focal_fasta", &All::focal_fasta),
             field("focal_name", within(&All::options, &Options::focal_name)),
             field("focal_chromosomes", within(&All::options, &Options::focal_chromosomes)),
             field("genomes", within(&All::options, &Options::genomes), as_genomes),
             field("on_bad_block", within(&All::options, &Options::on_bad_block), as_on_bad_block),
             field("overlaps", within(&All::options, &Options::overlaps), as_overlaps),
             field("chunk_size", within(&All::options, &Options::chunk_size)));
};

Reading as_reading(const Rcpp::List& reading) {
  auto [options, lengths, work, aliases, focal_folder, focal_fasta] =
      from_list<ReadingFields>(reading);
  options.aliases = as_aliases(aliases, lengths);
  options.simd = work.backend.simd;
  return {std::move(lengths), std::move(options), focal_folder, focal_fasta, work.backend.threads};
}

template <>
struct Fields<AlignmentColumns> {
  using All = AlignmentColumns;
  static constexpr auto table =
      fields("Alignments", field("species", &All::species), field("file", &All::file),
             field("name_in_file", &All::name_in_file), field("folder", &All::folder),
             field("inner", &All::inner));
};

std::vector<AlignmentRow> as_alignments(const Rcpp::List& alignments) {
  const auto [species, file, name_in_file, folder, inner] = from_list<AlignmentColumns>(alignments);
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
