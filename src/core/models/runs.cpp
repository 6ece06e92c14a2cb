// Cuts long proteins into windows, packs windows, and takes from each what its protein needs.
#include "core/models/runs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/models/packing.h"

namespace ancify {

namespace {

// Takes the states of a window's own residues: `states` has a row of `width` each.
using UseWindow = std::function<void(std::size_t window, const float* states)>;

class Run {
 public:
  Run(const SequenceModel& model, const std::vector<Tokenised>& sequences,
      const RunSettings& settings)
      : model_(model),
        sequences_(sequences),
        settings_(settings),
        most_(model.dna ? std::numeric_limits<std::int64_t>::max() : settings.most_residues) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const std::int64_t length = residues(i);
      if (length == 0) continue;
      const std::vector<Window> more =
          windows_of(i, length, most_, std::max<std::int64_t>(most_ / 2, 1));
      windows_.insert(windows_.end(), more.begin(), more.end());
    }
  }

  // Residues that are read.
  std::int64_t residues(std::size_t protein) const {
    const auto all = static_cast<std::int64_t>(sequences_[protein].tokens.size());
    return settings_.longer == LongProteins::kTruncate ? std::min(all, most_) : all;
  }
  const std::vector<Window>& windows() const { return windows_; }

  void for_each_window(JobControl& control, const UseWindow& use) const {
    std::vector<std::int64_t> lengths;
    std::int64_t tokens = 0;
    for (const Window& window : windows_) {
      lengths.push_back(window.size + model_.marks());
      tokens += lengths.back();
    }
    control.expect(tokens);
    const auto packs = pack_by_length(lengths, settings_.pack_tokens);
    run_tasks(control, settings_.threads, static_cast<std::int64_t>(packs.size()),
              [&](std::int64_t i, const TaskContext& context) {
                context.throw_if_stopped();
                run_pack(packs[static_cast<std::size_t>(i)], control, context, use);
              });
  }

 private:
  void run_pack(const std::vector<std::size_t>& members, JobControl& control,
                const TaskContext& context, const UseWindow& use) const {
    Pack pack;
    pack.zero_token = model_.token_dropout ? model_.alphabet.mask() : -1;
    pack.offsets.push_back(0);
    for (const std::size_t i : members) add(windows_[i], pack);
    const std::vector<float> states = encode(model_.encoder, pack, settings_.simd, context);
    const std::int64_t width = model_.encoder.shape.width;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Window& window = windows_[members[i]];
      const std::int64_t row =
          pack.offsets[i] + model_.marks() / 2 + window.own_first - window.first;
      const float* const own = states.data() + row * width;
      check_finite(window, own, (window.own_end - window.own_first) * width);
      use(members[i], own);
    }
    control.advance(pack.size());
  }

  static void check_finite(const Window& window, const float* states, std::int64_t n) {
    if (std::all_of(states, states + n, [](float x) { return std::isfinite(x); })) return;
    throw InputError("sequence " + std::to_string(window.sequence + 1) +
                     ": the model gives numbers that are not finite. Its weights are damaged, or "
                     "not made for single precision");
  }

  void add(const Window& window, Pack& pack) const {
    const auto from = sequences_[window.sequence].tokens.begin() + window.first;
    std::vector<std::int32_t> tokens(from, from + window.size);
    if (model_.marks() > 0) {
      tokens.insert(tokens.begin(), model_.alphabet.cls());
      tokens.push_back(model_.alphabet.eos());
    }
    pack.scales.push_back(model_.token_dropout ? embedding_scale(tokens, model_.alphabet.mask())
                                               : 1.0F);
    pack.tokens.insert(pack.tokens.end(), tokens.begin(), tokens.end());
    pack.offsets.push_back(pack.size());
  }

  const SequenceModel& model_;
  const std::vector<Tokenised>& sequences_;
  const RunSettings& settings_;
  std::int64_t most_;  // tokens of a window
  std::vector<Window> windows_;
};

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

// A row of `width` for each residue of each protein, which make(window, states, out) writes.
template <class Make>
std::vector<std::vector<float>> rows_by_residue(const Run& run, std::size_t sequences,
                                                std::int64_t width, JobControl& control,
                                                Make make) {
  std::vector<std::vector<float>> rows(sequences);
  for (std::size_t i = 0; i < sequences; ++i) {
    rows[i].resize(static_cast<std::size_t>(run.residues(i) * width));
  }
  run.for_each_window(control, [&](std::size_t i, const float* states) {
    const Window& window = run.windows()[i];
    make(window, states, rows[window.sequence].data() + window.own_first * width);
  });
  return rows;
}

}  // namespace

std::vector<Tokenised> tokenise(const SequenceModel& model,
                                const std::vector<std::string_view>& sequences) {
  std::vector<Tokenised> tokenised;
  for (const std::string_view sequence : sequences) {
    Tokenised one;
    if (model.dna) {
      one.tokens = model.dna->encode(upper_case(sequence), one.unknown);
    } else {
      one.tokens = model.alphabet.encode(sequence, one.unknown);
      one.tokens.erase(one.tokens.begin());
      one.tokens.pop_back();
    }
    tokenised.push_back(std::move(one));
  }
  return tokenised;
}

std::vector<float> embed_means(const SequenceModel& model, const std::vector<Tokenised>& sequences,
                               const RunSettings& settings, JobControl& control) {
  const Run run(model, sequences, settings);
  const auto width = static_cast<std::size_t>(model.encoder.shape.width);
  // A sum a window, as windows of a protein may be in packs of several threads.
  std::vector<std::vector<double>> sums(run.windows().size());
  run.for_each_window(control, [&](std::size_t i, const float* states) {
    const Window& window = run.windows()[i];
    std::vector<double>& sum = sums[i];
    sum.resize(width);
    for (std::int64_t r = window.own_first; r < window.own_end; ++r, states += width) {
      for (std::size_t j = 0; j < width; ++j) sum[j] += static_cast<double>(states[j]);
    }
  });
  std::vector<float> means(sequences.size() * width, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < sums.size();) {
    const std::size_t protein = run.windows()[i].sequence;
    std::vector<double> total(width);
    for (; i < sums.size() && run.windows()[i].sequence == protein; ++i) {
      for (std::size_t j = 0; j < width; ++j) total[j] += sums[i][j];
    }
    const auto n = static_cast<double>(run.residues(protein));
    for (std::size_t j = 0; j < width; ++j) {
      means[protein * width + j] = static_cast<float>(total[j] / n);
    }
  }
  return means;
}

std::vector<std::vector<float>> embed_residues(const SequenceModel& model,
                                               const std::vector<Tokenised>& sequences,
                                               const RunSettings& settings, JobControl& control) {
  const Run run(model, sequences, settings);
  const std::int64_t width = model.encoder.shape.width;
  return rows_by_residue(run, sequences.size(), width, control,
                         [&](const Window& window, const float* states, float* out) {
                           std::copy_n(states, (window.own_end - window.own_first) * width, out);
                         });
}

std::vector<std::vector<float>> residue_log_probabilities(const SequenceModel& model,
                                                          const std::vector<Tokenised>& sequences,
                                                          const RunSettings& settings,
                                                          JobControl& control) {
  if (!model.encoder.has_head()) {
    throw InputError(
        "the weights have no language head (tensors 'lm_head.'), so there are no probabilities of "
        "residues: use a checkpoint for masked language modelling");
  }
  const Run run(model, sequences, settings);
  return rows_by_residue(run, sequences.size(), model.encoder.shape.vocabulary, control,
                         [&](const Window& window, const float* states, float* out) {
                           const std::vector<float> rows =
                               log_probabilities(model.encoder, states,
                                                 window.own_end - window.own_first, settings.simd);
                           std::copy(rows.begin(), rows.end(), out);
                         });
}

}  // namespace ancify
