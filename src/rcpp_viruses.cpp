// Connects the detection of viruses with the core.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/viruses/chunks.h"
#include "core/viruses/dna_records.h"
#include "core/viruses/frames.h"
#include "rcpp_glue.h"

// Returns list(ids =, bases =) of the records of files.
// [[Rcpp::export]]
Rcpp::List read_dna_impl(const std::vector<std::string>& paths, const Rcpp::Function& watch) {
  std::vector<std::string> ids;
  std::vector<std::string> bases;
  run_job(watch, [&](ancify::JobControl& control) {
    for (ancify::DnaRecord& record : ancify::read_dna(paths, control)) {
      ids.push_back(std::move(record.id));
      bases.push_back(std::move(record.bases));
    }
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("ids") = as_texts(ids), Named("bases") = as_texts(bases));
}

// Returns list(sequence =, number =, start =, end =) of the chunks of sequences, counted from 1.
// [[Rcpp::export]]
Rcpp::List chunks_impl(const std::vector<double>& lengths, double size, bool even) {
  const auto rule = even ? ancify::ChunkRule::kEven : ancify::ChunkRule::kVirnucpro;
  std::vector<double> sequence;
  std::vector<double> number;
  std::vector<double> start;
  std::vector<double> end;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    double n = 0;
    for (const ancify::Chunk& chunk : ancify::chunks_of(static_cast<std::int64_t>(lengths[i]),
                                                        static_cast<std::int64_t>(size), rule)) {
      sequence.push_back(static_cast<double>(i + 1));
      number.push_back(++n);
      start.push_back(static_cast<double>(chunk.start + 1));
      end.push_back(static_cast<double>(chunk.end));
    }
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("sequence") = sequence, Named("number") = number,
                            Named("start") = start, Named("end") = end);
}

// Returns list(sequence =, frame =, bases =, protein =) of the frames without a stop; numbers are
// from 1. `residues`: of the 64 codons, in the core's order.
// [[Rcpp::export]]
Rcpp::List six_frames_impl(const Rcpp::CharacterVector& sequences, const std::string& residues,
                           bool strict, const Rcpp::Function& watch) {
  const auto rule = strict ? ancify::FrameRule::kStrict : ancify::FrameRule::kVirnucpro;
  const ancify::FrameReader reader(ancify::GeneticCode(residues), rule);
  std::vector<std::string_view> views;
  for (R_xlen_t i = 0; i < sequences.size(); ++i) {
    const SEXP sequence = STRING_ELT(sequences, i);
    views.emplace_back(CHAR(sequence), static_cast<std::size_t>(Rf_xlength(sequence)));
  }
  std::vector<double> sequence;
  std::vector<int> number;
  std::vector<std::string> bases;
  std::vector<std::string> protein;
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::TaskContext context(control);
    control.expect(static_cast<std::int64_t>(views.size()));
    for (std::size_t i = 0; i < views.size(); ++i) {
      context.throw_if_stopped();
      for (ancify::Frame& frame : reader.open_frames(views[i])) {
        sequence.push_back(static_cast<double>(i + 1));
        number.push_back(frame.number + 1);
        bases.push_back(std::move(frame.bases));
        protein.push_back(std::move(frame.protein));
      }
      control.advance(1);
    }
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("sequence") = sequence, Named("frame") = number,
                            Named("bases") = as_texts(bases), Named("protein") = as_texts(protein));
}
