// Reads data for Bioconductor's ranges: regions of called chromosomes, and pairs of aligned ranges.
// Writes calls for other programs.
#include "core/ancestry/calling/call_export.h"
#include "core/ancestry/calling/call_regions.h"
#include "core/ancestry/projection/alignment_formats.h"
#include "core/exec/errors.h"
#include "core/formats/alignment/axt_pairs.h"
#include "core/genome/sequence_file.h"
#include "rcpp_ancestry.h"
#include "rcpp_glue.h"

namespace {

std::vector<ancify::CallFile> as_call_files(const std::vector<std::string>& paths,
                                            const std::vector<std::string>& chromosomes) {
  std::vector<ancify::CallFile> files;
  for (std::size_t i = 0; i < paths.size(); ++i) files.push_back({paths[i], chromosomes[i]});
  return files;
}

// `file` and `start` count from 1.
struct RegionColumns {
  Rcpp::IntegerVector file;
  Rcpp::NumericVector start;
  Rcpp::NumericVector width;
};

struct ExportFields {
  std::vector<std::string> paths;
  std::vector<std::string> chromosomes;
  std::string folder;
  bool low_confidence;
  std::vector<ancify::SequenceFile> reference;
  std::string unknown;
};

struct GenomeFields {
  std::vector<std::string> paths;
  std::vector<std::string> chromosomes;
  std::string file;
  std::int64_t width;
  bool low_confidence;
};

}  // namespace

template <>
struct Fields<RegionColumns> {
  using All = RegionColumns;
  static constexpr auto table = fields("Regions", field("file", &All::file),
                                       field("start", &All::start), field("width", &All::width));
};

template <>
struct Fields<ExportFields> {
  using All = ExportFields;
  static constexpr auto table = fields(
      "CallExport", field("paths", &All::paths), field("chromosomes", &All::chromosomes),
      field("folder", &All::folder), field("low_confidence", &All::low_confidence),
      field("reference", &All::reference, as_sequence_files), field("unknown", &All::unknown));
};

template <>
struct Fields<GenomeFields> {
  using All = GenomeFields;
  static constexpr auto table =
      fields("GenomeExport", field("paths", &All::paths), field("chromosomes", &All::chromosomes),
             field("file", &All::file), field("width", &All::width),
             field("low_confidence", &All::low_confidence));
};

namespace {

std::vector<ancify::CallRegion> as_regions(const Rcpp::List& table) {
  const auto [file, start, width] = from_list<RegionColumns>(table);
  std::vector<ancify::CallRegion> regions;
  for (R_xlen_t i = 0; i < file.size(); ++i) {
    regions.push_back({static_cast<std::size_t>(file[i] - 1),
                       as_integer<std::int64_t>(start[i]) - 1, as_integer<std::int64_t>(width[i])});
  }
  return regions;
}

template <class Value>
Rcpp::NumericVector column(const std::vector<ancify::AxtPair>& pairs, Value value) {
  Rcpp::NumericVector numbers(static_cast<R_xlen_t>(pairs.size()));
  std::transform(pairs.begin(), pairs.end(), numbers.begin(),
                 [&](const auto& pair) { return static_cast<double>(value(pair)); });
  return numbers;
}

// Returns list(chromosome =, start =, end =, bases =), and frees the pairs' bases.
Rcpp::List rows(std::vector<ancify::AxtPair>& pairs, ancify::AxtRow ancify::AxtPair::*row) {
  const auto n = static_cast<R_xlen_t>(pairs.size());
  Rcpp::CharacterVector chromosome(n);
  Rcpp::CharacterVector bases(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    auto& [name, start, end, text] = pairs[static_cast<std::size_t>(i)].*row;
    SET_STRING_ELT(chromosome, i, make_string(name.data(), static_cast<int>(name.size())));
    SET_STRING_ELT(bases, i, make_string(text.data(), static_cast<int>(text.size())));
    std::string().swap(text);
  }
  return Rcpp::List::create(
      Rcpp::Named("chromosome") = chromosome,
      Rcpp::Named("start") = column(pairs, [&](const auto& pair) { return (pair.*row).start; }),
      Rcpp::Named("end") = column(pairs, [&](const auto& pair) { return (pair.*row).end; }),
      Rcpp::Named("bases") = bases);
}

// Takes a vector of lengths, named by chromosome.
std::unordered_map<std::string, std::int64_t> as_lengths(const Rcpp::NumericVector& lengths) {
  std::unordered_map<std::string, std::int64_t> result;
  for (const auto& [name, length] : as_chromosomes(lengths)) result[name] = length;
  return result;
}

std::unordered_set<std::string> as_name_set(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

template <>
struct Fields<ancify::AxtPairsOptions> {
  using All = ancify::AxtPairsOptions;
  static constexpr auto table =
      fields("AxtPairsOptions", field("chromosomes", &All::chromosomes, as_name_set),
             field("outgroup_lengths", &All::query_lengths, as_lengths),
             field("on_bad_block", &All::on_bad_block, as_on_bad_block),
             field("chunk_size", &All::chunk_size));
};

// The lengths of one-line FASTA files.
// [[Rcpp::export]]
Rcpp::NumericVector sequence_lengths_impl(const std::vector<std::string>& paths,
                                          const std::vector<std::string>& chromosomes) {
  Rcpp::NumericVector lengths(static_cast<R_xlen_t>(paths.size()));
  guarded([&] {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const ancify::SequenceReader reader(paths[i], chromosomes[i]);
      lengths[static_cast<R_xlen_t>(i)] = static_cast<double>(reader.length());
    }
  });
  return lengths;
}

// Throws an error for the first file that is not a one-line FASTA of its chromosome's length.
// [[Rcpp::export]]
void check_sequences_impl(const std::vector<std::string>& paths,
                          const std::vector<std::string>& chromosomes,
                          const Rcpp::NumericVector& lengths) {
  guarded([&] {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const double length = lengths[static_cast<R_xlen_t>(i)];
      ancify::SequenceReader(paths[i], chromosomes[i], as_integer<std::int64_t>(length));
    }
  });
}

// Returns the calls of regions, which must lie in their chromosomes. `regions` is for as_regions(),
// where `file` is an index in `paths`.
// [[Rcpp::export]]
Rcpp::CharacterVector read_regions_impl(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& chromosomes,
                                        const Rcpp::List& regions, const Rcpp::Function& watch) {
  const auto files = as_call_files(paths, chromosomes);
  const auto wanted = as_regions(regions);
  std::vector<std::string> calls;
  run_job(watch, [&](ancify::JobControl& control) {
    calls = ancify::read_regions(files, wanted, control);
  });
  Rcpp::CharacterVector result(static_cast<R_xlen_t>(calls.size()));
  for (R_xlen_t i = 0; i < result.size(); ++i) {
    auto& text = calls[static_cast<std::size_t>(i)];
    SET_STRING_ELT(result, i, make_string(text.data(), static_cast<int>(text.size())));
    std::string().swap(text);
  }
  return result;
}

// Returns the runs of equal confidence in regions, which are as for read_regions_impl():
// list(region =, start =, width =, confidence =). Regions, positions and confidences count from 1.
// [[Rcpp::export]]
Rcpp::List confidence_runs_impl(const std::vector<std::string>& paths,
                                const std::vector<std::string>& chromosomes,
                                const Rcpp::List& regions, const Rcpp::Function& watch) {
  const auto files = as_call_files(paths, chromosomes);
  const auto wanted = as_regions(regions);
  ancify::ConfidenceRuns runs;
  run_job(watch, [&](ancify::JobControl& control) {
    runs = ancify::confidence_runs(files, wanted, control);
  });
  const auto from_1 = [](const auto& values) {
    Rcpp::IntegerVector result(static_cast<R_xlen_t>(values.size()));
    std::transform(values.begin(), values.end(), result.begin(),
                   [](auto value) { return static_cast<int>(value) + 1; });
    return result;
  };
  return Rcpp::List::create(
      Rcpp::Named("region") = from_1(runs.region), Rcpp::Named("start") = from_1(runs.start),
      Rcpp::Named("width") = Rcpp::IntegerVector(runs.n.begin(), runs.n.end()),
      Rcpp::Named("confidence") = from_1(runs.confidence));
}

// Counts the calls of regions, which are as for read_regions_impl(): a row for each region, columns
// high, low, unresolved and missing.
// [[Rcpp::export]]
Rcpp::NumericMatrix count_regions_impl(const std::vector<std::string>& paths,
                                       const std::vector<std::string>& chromosomes,
                                       const Rcpp::List& regions, const Rcpp::Function& watch) {
  const auto files = as_call_files(paths, chromosomes);
  const auto wanted = as_regions(regions);
  std::vector<ancify::CallCounts> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::count_regions(files, wanted, control);
  });
  Rcpp::NumericMatrix result(static_cast<int>(counts.size()), 4);
  for (int i = 0; i < result.nrow(); ++i) {
    const auto& [high, low, unresolved, missing] = counts[static_cast<std::size_t>(i)];
    result(i, 0) = static_cast<double>(high);
    result(i, 1) = static_cast<double>(low);
    result(i, 2) = static_cast<double>(unresolved);
    result(i, 3) = static_cast<double>(missing);
  }
  Rcpp::colnames(result) = Rcpp::CharacterVector::create("high", "low", "unresolved", "missing");
  return result;
}

// Writes the calls of chromosomes as FASTA. `settings` is for ExportFields. Returns counts of
// positions: a row for each chromosome, columns called, filled and unknown.
// [[Rcpp::export]]
Rcpp::NumericMatrix export_calls_impl(const Rcpp::List& settings, const Rcpp::Function& watch) {
  const auto [paths, chromosomes, folder, low_confidence, reference, unknown] =
      from_list<ExportFields>(settings);
  const ancify::CallExport wanted = {as_call_files(paths, chromosomes), folder, low_confidence,
                                     reference, unknown.at(0)};
  std::vector<ancify::ExportedPositions> counts;
  run_job(watch,
          [&](ancify::JobControl& control) { counts = ancify::export_calls(wanted, control); });
  Rcpp::NumericMatrix result(static_cast<int>(counts.size()), 3);
  for (int i = 0; i < result.nrow(); ++i) {
    const auto& [called, filled, unknown_too] = counts[static_cast<std::size_t>(i)];
    result(i, 0) = static_cast<double>(called);
    result(i, 1) = static_cast<double>(filled);
    result(i, 2) = static_cast<double>(unknown_too);
  }
  Rcpp::colnames(result) = Rcpp::CharacterVector::create("called", "filled", "unknown");
  return result;
}

// Writes the calls of all chromosomes as one FASTA file, with its indexes. `settings` is for
// GenomeFields. Returns the counts of positions with and without a call.
// [[Rcpp::export]]
Rcpp::NumericVector export_genome_impl(const Rcpp::List& settings, const Rcpp::List& work,
                                       const Rcpp::Function& watch) {
  const auto [paths, chromosomes, file, width, low_confidence] = from_list<GenomeFields>(settings);
  const ancify::GenomeExport wanted = {as_call_files(paths, chromosomes), file, width,
                                       low_confidence, threads_of(work)};
  ancify::ExportedPositions counts;
  run_job(watch,
          [&](ancify::JobControl& control) { counts = ancify::export_genome(wanted, control); });
  return Rcpp::NumericVector::create(Rcpp::Named("called") = static_cast<double>(counts.called),
                                     Rcpp::Named("unknown") = static_cast<double>(counts.unknown));
}

// The number of occurrences of each byte from 0 to 255 in files.
// [[Rcpp::export]]
Rcpp::NumericVector count_bytes_impl(const std::vector<std::string>& paths,
                                     const Rcpp::Function& watch) {
  std::array<std::int64_t, 256> counts = {};
  run_job(watch,
          [&](ancify::JobControl& control) { counts = ancify::count_bytes(paths, control); });
  return Rcpp::NumericVector(counts.begin(), counts.end());
}

// Reads the blocks of an AXT file. `options` is for AxtPairsOptions.
// [[Rcpp::export]]
Rcpp::List read_axt_impl(const std::string& axt, const Rcpp::List& options, const Rcpp::List& work,
                         const Rcpp::Function& watch) {
  const ancify::Backend chosen = as_work(work).backend;
  auto wanted = from_list<ancify::AxtPairsOptions>(options);
  wanted.simd = chosen.simd;
  wanted.threads = chosen.threads;
  ancify::AxtPairs read;
  run_job(watch, [&](ancify::JobControl& control) {
    const std::string& format = ancify::format_of_file(axt).name;
    if (format != "AXT") {
      throw ancify::FormatError(
          axt, 0, "this is a " + format + " file, but only AXT is read here: use project_axt()");
    }
    read = ancify::read_axt_pairs(axt, wanted, control);
  });
  const auto n = static_cast<R_xlen_t>(read.pairs.size());
  Rcpp::LogicalVector minus(n);
  for (R_xlen_t i = 0; i < n; ++i) minus[i] = read.pairs[static_cast<std::size_t>(i)].minus;
  const auto score = column(read.pairs, [](const auto& pair) { return pair.score; });
  return Rcpp::List::create(
      Rcpp::Named("focal") = rows(read.pairs, &ancify::AxtPair::target),
      Rcpp::Named("outgroup") = rows(read.pairs, &ancify::AxtPair::query),
      Rcpp::Named("minus") = minus, Rcpp::Named("score") = score,
      Rcpp::Named("bad") = static_cast<double>(read.bad),
      Rcpp::Named("bad_line") =
          read.bad > 0 ? static_cast<double>(read.bad_examples.front().line) : 0,
      Rcpp::Named("bad_problem") = read.bad > 0 ? read.bad_examples.front().problem : "");
}
