// Runs an encoder over proteins: embeddings and log-probabilities.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/job_control.h"
#include "core/models/encoder.h"
#include "core/models/esm2.h"

namespace ancify {

// ESM-2 was trained on at most 1022 residues.
constexpr std::int64_t kMostResidues = 1022;

// Tokens of a pack. A property of the run, not of threads, so that the bytes are the same at any
// number of them. A pack's memory is about 5 numbers a token and unit of width.
constexpr std::int64_t kPackTokens = 4096;

enum class LongProteins { kWindows, kTruncate };

struct RunSettings {
  LongProteins longer = LongProteins::kWindows;
  std::int64_t most_residues = kMostResidues;
  std::int64_t pack_tokens = kPackTokens;
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
};

struct ProteinModel {
  ProteinAlphabet alphabet;
  Encoder encoder;
  bool token_dropout = true;
};

// Tokens of residues, without <cls> and <eos>, and how many letters were none.
struct Protein {
  std::vector<std::int32_t> tokens;
  std::int64_t unknown = 0;
};

std::vector<Protein> tokenise(const ProteinModel& model,
                              const std::vector<std::string_view>& sequences);

// The mean of the states of a protein's residues: a row of `width` a protein. A protein without
// residues has a row of not-a-number.
std::vector<float> embed_means(const ProteinModel& model, const std::vector<Protein>& proteins,
                               const RunSettings& settings, JobControl& control);

// The states of each residue: for each protein, a row of `width` a residue.
std::vector<std::vector<float>> embed_residues(const ProteinModel& model,
                                               const std::vector<Protein>& proteins,
                                               const RunSettings& settings, JobControl& control);

// Log-probabilities of all tokens at each residue: for each protein, a row of `vocabulary` a
// residue. InputError if the model has no language head.
std::vector<std::vector<float>> residue_log_probabilities(const ProteinModel& model,
                                                          const std::vector<Protein>& proteins,
                                                          const RunSettings& settings,
                                                          JobControl& control);

// A residue of a protein, both from 0.
struct ResidueSite {
  std::size_t protein;
  std::int64_t residue;
};

// What the model sees at a site: a mask, in a pass of its own, or the residue, in one pass for all
// sites of a window.
enum class Marginal { kMasked, kWildType };

// Log-probabilities of all tokens at sites: a row of `vocabulary` a site. A site is read in the
// window that it is taken from. Other sites change nothing but the rounding. InputError as above.
std::vector<float> site_log_probabilities(const ProteinModel& model,
                                          const std::vector<Protein>& proteins,
                                          const std::vector<ResidueSite>& sites, Marginal marginal,
                                          const RunSettings& settings, JobControl& control);

}  // namespace ancify
