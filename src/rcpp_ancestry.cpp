#include "rcpp_ancestry.h"

#include <memory>

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

ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& projected) {
  return [&](std::size_t i, const ancify::ProjectionReport& report,
             const std::vector<ancify::FileChecksum>& checksums) {
    mail.post([&projected, i, report, checksums] {
      projected(static_cast<double>(i + 1), as_list(report), as_list(checksums));
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
      Named("other_prefix") = report.other_prefix, Named("bad") = static_cast<double>(report.bad),
      Named("bad_lines") = lines, Named("bad_problems") = problems,
      Named("duplicates") = static_cast<double>(report.duplicates));
}

ancify::ProjectionOptions as_options(const Rcpp::List& maf, const std::string& on_bad_block,
                                     double chunk_size, const ancify::Backend& backend) {
  ancify::ProjectionOptions options;
  options.maf_focal = Rcpp::as<std::string>(maf["focal"]);
  options.maf_chromosomes = Rcpp::as<std::vector<std::string>>(maf["chromosomes"]);
  options.simd = backend.simd;
  if (on_bad_block == "skip") options.on_bad_block = ancify::OnBadBlock::kSkip;
  options.chunk_size = static_cast<std::size_t>(chunk_size);
  return options;
}

std::vector<std::string> maf_outgroups(const Rcpp::List& maf) {
  return Rcpp::as<std::vector<std::string>>(maf["outgroups"]);
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
