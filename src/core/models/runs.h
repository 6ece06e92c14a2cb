// Runs an encoder over sequences: embeddings and log-probabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/models/bpe.h"
#include "core/models/device_encoder.h"
#include "core/models/encoder.h"
#include "core/models/esm2.h"

namespace ancify {

// ESM-2 was trained on at most 1022 residues.
constexpr std::int64_t kMostResidues = 1022;

// Tokens per pack, whatever the number of threads, so that bytes do not depend on it. A pack takes
// memory for about 5 values per token and unit of width.
constexpr std::int64_t kPackTokens = 4096;
// Tokens per pack on devices, whose products gain from more rows.
constexpr std::int64_t kDevicePackTokens = 8192;

enum class LongProteins { kWindows, kTruncate };

struct RunSettings {
  LongProteins longer = LongProteins::kWindows;
  std::int64_t most_residues = kMostResidues;
  std::int64_t pack_tokens = kPackTokens;
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
  DeviceEncoders* devices = nullptr;  // null: the CPU computes
};

struct SequenceModel {
  ProteinAlphabet alphabet;
  Encoder encoder;
  bool token_dropout = true;
  std::optional<BpeTokeniser> dna;  // the tokeniser of a DNA model, instead of the alphabet

  // The number of special tokens around a sequence that are not part of it. For DNA they are part
  // of it, and count in its mean.
  std::int64_t marks() const { return dna ? 0 : 2; }
};

// Tokens of a sequence without its special tokens, and the number of unknown letters.
struct Tokenised {
  std::vector<std::int32_t> tokens;
  std::int64_t unknown = 0;
};

// DNA is upper-cased first, and read whole, whatever its length.
std::vector<Tokenised> tokenise(const SequenceModel& model,
                                const std::vector<std::string_view>& sequences);

// The mean of the states of a sequence's tokens: one row of `width` per sequence. A sequence
// without tokens has a row of NaN.
std::vector<float> embed_means(const SequenceModel& model, const std::vector<Tokenised>& sequences,
                               const RunSettings& settings, JobControl& control);

// The states of each token: for each sequence, one row of `width` per token.
std::vector<std::vector<float>> embed_residues(const SequenceModel& model,
                                               const std::vector<Tokenised>& sequences,
                                               const RunSettings& settings, JobControl& control);

// Log-probabilities of all tokens at each residue: for each protein, one row of `vocabulary` per
// residue. InputError if the model has no language head.
std::vector<std::vector<float>> residue_log_probabilities(const SequenceModel& model,
                                                          const std::vector<Tokenised>& sequences,
                                                          const RunSettings& settings,
                                                          JobControl& control);

// A residue of a protein, both from 0.
struct ResidueSite {
  std::size_t protein;
  std::int64_t residue;
};

// The model's input at a site: a mask, in its own pass, or the residue, in one pass for all sites
// of a window.
enum class Marginal { kMasked, kWildType };

// Log-probabilities of all tokens at sites: one row of `vocabulary` per site. A site is read in the
// window that it is taken from. Other sites affect only rounding. InputError as above.
std::vector<float> site_log_probabilities(const SequenceModel& model,
                                          const std::vector<Tokenised>& proteins,
                                          const std::vector<ResidueSite>& sites, Marginal marginal,
                                          const RunSettings& settings, JobControl& control);

}  // namespace ancify
