// Connects the detection of viruses with the core.
#include <optional>
#include <string>
#include <vector>

#include "core/viruses/chunks.h"
#include "core/viruses/dna_records.h"
#include "core/viruses/frames.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_sequences.h"

// Returns list(ids =, bases = from as_joined(), empty = files without any) of the records of files.
// `how` is as for joined_as().
// [[Rcpp::export]]
Rcpp::List read_dna_impl(const std::vector<std::string>& paths, const Rcpp::List& how,
                         const Rcpp::Function& watch) {
  std::optional<ancify::DnaRecords> records;
  const std::size_t size = part_size(how);
  run_job(watch,
          [&](ancify::JobControl& control) { records = ancify::read_dna(paths, size, control); });
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("ids") = as_texts(records->ids), Named("bases") = as_joined(records->bases, how),
      Named("empty") = as_texts(records->empty), Named("share_ids") = records->share_ids);
}

// Returns list(name =, sequence =, start =, end =) of the chunks of sequences, counted from 1.
// [[Rcpp::export]]
Rcpp::List chunks_impl(const std::vector<std::string>& ids, const std::vector<double>& lengths,
                       double size, bool even) {
  const auto rule = even ? ancify::ChunkRule::kEven : ancify::ChunkRule::kVirnucpro;
  std::vector<std::string> name;
  std::vector<double> sequence;
  std::vector<double> start;
  std::vector<double> end;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    std::int64_t n = 0;
    for (const ancify::Chunk& chunk : ancify::chunks_of(as_integer<std::int64_t>(lengths[i]),
                                                        as_integer<std::int64_t>(size), rule)) {
      name.push_back(ids[i] + "_chunk_" + std::to_string(++n));
      sequence.push_back(static_cast<double>(i + 1));
      start.push_back(static_cast<double>(chunk.start + 1));
      end.push_back(static_cast<double>(chunk.end));
    }
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("name") = as_texts(name), Named("sequence") = sequence,
                            Named("start") = start, Named("end") = end);
}

// The reading frames to report, and the form of their sets.
struct FrameFields {
  std::string residues;  // of the 64 codons, in the core's order
  bool strict;
  Rcpp::List dna;  // as for joined_as()
  Rcpp::List aa;
};

template <>
struct Fields<FrameFields> {
  using All = FrameFields;
  static constexpr auto table =
      fields("ReadingFrames", field("residues", &All::residues), field("strict", &All::strict),
             field("dna", &All::dna), field("aa", &All::aa));
};

// Returns list(sequence =, frame =, bases = from as_joined(), protein = from as_joined()) of the
// frames without a stop; indices are from 1. `frames` is for FrameFields.
// [[Rcpp::export]]
Rcpp::List six_frames_impl(const Rcpp::RObject& sequences, const Rcpp::List& frames,
                           const Rcpp::Function& watch) {
  const auto [residues, strict, dna, aa] = from_list<FrameFields>(frames);
  const auto rule = strict ? ancify::FrameRule::kStrict : ancify::FrameRule::kVirnucpro;
  const ancify::FrameReader reader(ancify::GeneticCode(residues), rule);
  const Sequences read(sequences);
  std::vector<double> sequence;
  std::vector<int> number;
  ancify::JoinedTexts bases(part_size(dna));
  ancify::JoinedTexts protein(part_size(aa));
  run_job(watch, [&](ancify::JobControl& control) {
    const ancify::TaskContext context(control);
    control.expect(static_cast<std::int64_t>(read.size()));
    std::string room;
    for (std::size_t i = 0; i < read.size(); ++i) {
      context.throw_if_stopped();
      for (const ancify::Frame& frame : reader.open_frames(read.letters(i, room))) {
        sequence.push_back(static_cast<double>(i + 1));
        number.push_back(frame.number + 1);
        bases.append(frame.bases);
        protein.append(frame.protein);
      }
      control.advance(1);
    }
  });
  using Rcpp::Named;
  return Rcpp::List::create(Named("sequence") = sequence, Named("frame") = number,
                            Named("bases") = as_joined(bases, dna),
                            Named("protein") = as_joined(protein, aa));
}
