// Connects sequence models with the core.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/checksum.h"
#include "core/models/model_files.h"
#include "core/models/part_file.h"
#include "core/models/runs.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_sequences.h"

namespace {

using ancify::SequenceModel;
using ancify::Tokenised;
using Rcpp::Named;

const SequenceModel& as_model(SEXP pointer) {
  return *Rcpp::XPtr<const SequenceModel>(pointer).checked_get();
}

struct RunFields {
  bool truncate;
  ancify::Work work;
  std::optional<ancify::DeviceEncoders*> devices;
};

// Indices count from 1.
struct SiteFields {
  Rcpp::IntegerVector protein;
  Rcpp::IntegerVector residue;
  bool masked;
};

struct PartFields {
  std::vector<std::string> ids;
  Rcpp::CharacterVector sequences;
  bool by_residue;
  std::string path;
};

}  // namespace

template <>
struct Fields<RunFields> {
  using All = RunFields;
  static constexpr auto table =
      fields("ModelRun", field("truncate", &All::truncate), field("work", &All::work, as_work),
             field("devices", &All::devices));
};

template <>
struct Fields<SiteFields> {
  using All = SiteFields;
  static constexpr auto table =
      fields("ResidueSites", field("protein", &All::protein), field("residue", &All::residue),
             field("masked", &All::masked));
};

template <>
struct Fields<PartFields> {
  using All = PartFields;
  static constexpr auto table =
      fields("EmbeddingPart", field("ids", &All::ids), field("sequences", &All::sequences),
             field("by_residue", &All::by_residue), field("path", &All::path));
};

namespace {

ancify::RunSettings as_run_settings(const Rcpp::List& list) {
  const auto given = from_list<RunFields>(list);
  ancify::RunSettings settings;
  settings.longer =
      given.truncate ? ancify::LongProteins::kTruncate : ancify::LongProteins::kWindows;
  settings.threads = given.work.backend.threads;
  settings.simd = given.work.backend.simd;
  if (given.devices) {
    settings.devices = *given.devices;
    settings.pack_tokens = ancify::kDevicePackTokens;
  }
  return settings;
}

std::vector<Tokenised> as_tokens(const SequenceModel& model, const Rcpp::CharacterVector& x) {
  return ancify::tokenise(model, as_views(x));
}

Rcpp::NumericVector unknown_letters(const std::vector<Tokenised>& sequences) {
  Rcpp::NumericVector unknown;
  for (const Tokenised& one : sequences) unknown.push_back(static_cast<double>(one.unknown));
  return unknown;
}

// Converts rows of `width` to a matrix, which R stores by columns.
Rcpp::NumericMatrix as_row_matrix(const float* values, std::size_t n, std::size_t width) {
  const auto rows = static_cast<int>(n / width);
  Rcpp::NumericMatrix matrix = make_matrix(rows, static_cast<int>(width));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < matrix.ncol(); ++j) matrix(i, j) = static_cast<double>(*values++);
  }
  return matrix;
}

Rcpp::List as_matrices(const std::vector<std::vector<float>>& rows, std::size_t width) {
  Rcpp::List matrices(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    matrices[static_cast<R_xlen_t>(i)] = as_row_matrix(rows[i].data(), rows[i].size(), width);
  }
  return matrices;
}

std::size_t width_of(const SequenceModel& model) {
  return static_cast<std::size_t>(model.encoder.shape.width);
}

// The rows of a part, one for each protein or residue.
ancify::EmbeddingPart make_part(const SequenceModel& model, const std::vector<Tokenised>& sequences,
                                const ancify::RunSettings& settings, bool by_residue,
                                ancify::JobControl& control) {
  ancify::EmbeddingPart part;
  part.width = model.encoder.shape.width;
  part.by_residue = by_residue;
  if (!by_residue) {
    part.values = ancify::embed_means(model, sequences, settings, control);
    part.rows.assign(sequences.size(), 1);
    return part;
  }
  for (const auto& rows : ancify::embed_residues(model, sequences, settings, control)) {
    part.rows.push_back(static_cast<std::int64_t>(rows.size()) / part.width);
    part.values.insert(part.values.end(), rows.begin(), rows.end());
  }
  return part;
}

}  // namespace

// Reads all of a model's files except the values of its weights.
// [[Rcpp::export]]
Rcpp::List describe_model_impl(const std::string& folder) {
  std::unique_ptr<ancify::ModelFiles> files;
  guarded(
      [&] { files = std::make_unique<ancify::ModelFiles>(ancify::ModelFiles::open(folder, {})); });
  const ancify::ModelDescription& about = files->description();
  const Rcpp::XPtr<ancify::ModelFiles> pointer(files.release());
  const double most = pointer->reads_dna() ? R_PosInf : static_cast<double>(ancify::kMostResidues);
  return Rcpp::List::create(Named("files") = pointer, Named("reads_dna") = pointer->reads_dna(),
                            Named("layers") = static_cast<double>(about.shape.layers),
                            Named("width") = static_cast<double>(about.shape.width),
                            Named("heads") = static_cast<double>(about.shape.heads),
                            Named("hidden") = static_cast<double>(about.shape.hidden),
                            Named("vocabulary") = static_cast<double>(about.shape.vocabulary),
                            Named("parameters") = static_cast<double>(about.parameters),
                            Named("has_head") = about.has_head,
                            Named("frequencies_from_file") = about.frequencies_from_file,
                            Named("rotation_base") = about.rotation_base,
                            Named("tokens") = pointer->tokens(),
                            Named("weights") = about.weight_files,
                            Named("other") = about.other_files, Named("most_residues") = most,
                            Named("pack_tokens") = static_cast<double>(ancify::kPackTokens));
}

// Reads the weights.
// [[Rcpp::export]]
SEXP load_model_impl(SEXP files, const Rcpp::Function& watch) {
  const auto& from = *Rcpp::XPtr<ancify::ModelFiles>(files).checked_get();
  auto model = std::make_unique<SequenceModel>();
  run_job(watch,
          [&](ancify::JobControl& control) { *model = from.read(ancify::TaskContext(control)); });
  return Rcpp::XPtr<const SequenceModel>(model.release());
}

// Copies the weights to the GPUs of the work; NULL on the CPU.
// [[Rcpp::export]]
SEXP model_on_devices_impl(SEXP model, const Rcpp::List& work, const Rcpp::Function& watch) {
  const SequenceModel& by = as_model(model);
  const ancify::Work on = as_work(work);
  const auto precision = on.half ? ancify::Precision::kHalf : ancify::Precision::kSingle;
  std::unique_ptr<ancify::DeviceEncoders> devices;
  run_job(watch, [&](ancify::JobControl& control) {
    devices = ancify::open_device_encoders(on.backend, by.encoder, precision,
                                           ancify::TaskContext(control));
  });
  if (devices == nullptr) return R_NilValue;
  // The model lives as long as its encoders.
  return Rcpp::XPtr<ancify::DeviceEncoders>(devices.release(), true, R_NilValue, model);
}

// The number of packs recomputed on the CPU since the last call because half precision did not
// suffice.
// [[Rcpp::export]]
double repeated_packs_impl(SEXP devices) {
  auto& repeated = Rcpp::XPtr<ancify::DeviceEncoders>(devices).checked_get()->repeated;
  return static_cast<double>(repeated.exchange(0));
}

// Returns list(values = a matrix or, by residue, a list of matrices, unknown =).
// [[Rcpp::export]]
Rcpp::List embed_impl(SEXP model, const Rcpp::CharacterVector& sequences,
                      const Rcpp::List& settings, bool by_residue, const Rcpp::Function& watch) {
  const SequenceModel& by = as_model(model);
  const ancify::RunSettings how = as_run_settings(settings);
  const std::vector<Tokenised> tokens = as_tokens(by, sequences);
  std::vector<float> means;
  std::vector<std::vector<float>> residues;
  run_job(watch, [&](ancify::JobControl& control) {
    if (by_residue) {
      residues = ancify::embed_residues(by, tokens, how, control);
    } else {
      means = ancify::embed_means(by, tokens, how, control);
    }
  });
  Rcpp::RObject values;
  if (by_residue) {
    values = as_matrices(residues, width_of(by));
  } else {
    values = as_row_matrix(means.data(), means.size(), width_of(by));
  }
  return Rcpp::List::create(Named("values") = values, Named("unknown") = unknown_letters(tokens));
}

// Returns list(values = a list of matrices, unknown =).
// [[Rcpp::export]]
Rcpp::List log_probs_impl(SEXP model, const Rcpp::CharacterVector& sequences,
                          const Rcpp::List& settings, const Rcpp::Function& watch) {
  const SequenceModel& by = as_model(model);
  const ancify::RunSettings how = as_run_settings(settings);
  const std::vector<Tokenised> tokens = as_tokens(by, sequences);
  std::vector<std::vector<float>> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::residue_log_probabilities(by, tokens, how, control);
  });
  const auto vocabulary = static_cast<std::size_t>(by.encoder.shape.vocabulary);
  return Rcpp::List::create(Named("values") = as_matrices(rows, vocabulary),
                            Named("unknown") = unknown_letters(tokens));
}

// Log-probabilities at the residues of `sites`, a list for SiteFields.
// Returns list(values = a matrix with a row for each site, unknown =).
// [[Rcpp::export]]
Rcpp::List site_log_probs_impl(SEXP model, const Rcpp::CharacterVector& sequences,
                               const Rcpp::List& sites, const Rcpp::List& settings,
                               const Rcpp::Function& watch) {
  const auto [protein, residue, masked] = from_list<SiteFields>(sites);
  const SequenceModel& by = as_model(model);
  const ancify::RunSettings how = as_run_settings(settings);
  const std::vector<Tokenised> tokens = as_tokens(by, sequences);
  std::vector<ancify::ResidueSite> at;
  for (R_xlen_t i = 0; i < protein.size(); ++i) {
    at.push_back({static_cast<std::size_t>(protein[i] - 1), std::int64_t{residue[i]} - 1});
  }
  const auto marginal = masked ? ancify::Marginal::kMasked : ancify::Marginal::kWildType;
  std::vector<float> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::site_log_probabilities(by, tokens, at, marginal, how, control);
  });
  const auto vocabulary = static_cast<std::size_t>(by.encoder.shape.vocabulary);
  return Rcpp::List::create(Named("values") = as_row_matrix(rows.data(), rows.size(), vocabulary),
                            Named("unknown") = unknown_letters(tokens));
}

// Embeds the sequences of a part, a list for PartFields, and writes its file. Returns the unknown
// letters of each sequence.
// [[Rcpp::export]]
Rcpp::NumericVector embed_part_impl(SEXP model, const Rcpp::List& part, const Rcpp::List& settings,
                                    const Rcpp::Function& watch) {
  const auto wanted = from_list<PartFields>(part);
  const SequenceModel& by = as_model(model);
  const ancify::RunSettings how = as_run_settings(settings);
  const std::vector<Tokenised> tokens = as_tokens(by, wanted.sequences);
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::EmbeddingPart made = make_part(by, tokens, how, wanted.by_residue, control);
    made.ids = wanted.ids;
    ancify::write_part(made, wanted.path, ancify::TaskContext(control));
  });
  return unknown_letters(tokens);
}

// Returns a matrix or, by residue, a list of matrices, named by ids.
// [[Rcpp::export]]
Rcpp::RObject read_part_impl(const std::string& path) {
  ancify::EmbeddingPart part;
  guarded([&] { part = ancify::read_part(path); });
  const auto width = static_cast<std::size_t>(part.width);
  const Rcpp::CharacterVector ids = as_texts(part.ids);
  if (part.by_residue) {
    Rcpp::List matrices(ids.size());
    const float* from = part.values.data();
    for (R_xlen_t i = 0; i < ids.size(); ++i) {
      const std::size_t n =
          static_cast<std::size_t>(part.rows[static_cast<std::size_t>(i)]) * width;
      matrices[i] = as_row_matrix(from, n, width);
      from += n;
    }
    matrices.names() = ids;
    return matrices;
  }
  Rcpp::NumericMatrix matrix = as_row_matrix(part.values.data(), part.values.size(), width);
  Rcpp::rownames(matrix) = ids;
  return matrix;
}

// The checksum of texts, each followed by a NUL.
// [[Rcpp::export]]
std::string texts_checksum_impl(const Rcpp::RObject& texts) {
  std::uint32_t sum = 0;
  const Sequences read(texts);
  std::string room;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::string_view text = read.letters(i, room);
    sum = ancify::extend_checksum(sum, text.data(), text.size());
    sum = ancify::extend_checksum(sum, "", 1);
  }
  return tfm::format("%08x", sum);
}
