// Cuts long proteins into windows, packs windows, and takes from each what its protein needs.
#include "core/models/runs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/models/packing.h"

namespace ancify {

namespace {

// Takes the states of a window's own residues: `states` has a row of `width` each.
using UseWindow = std::function<void(std::size_t window, const float* states)>;

// Tokens of a window. DNA is read whole.
std::int64_t window_size(const SequenceModel& model, const RunSettings& settings) {
  return model.dna ? std::numeric_limits<std::int64_t>::max() : settings.most_residues;
}

std::int64_t tokens_read(const SequenceModel& model, const Tokenised& sequence,
                         const RunSettings& settings) {
  const auto all = static_cast<std::int64_t>(sequence.tokens.size());
  const bool cut = settings.longer == LongProteins::kTruncate;
  return cut ? std::min(all, window_size(model, settings)) : all;
}

// None if the sequence has no tokens.
std::vector<Window> windows_of_sequence(const SequenceModel& model,
                                        const std::vector<Tokenised>& sequences, std::size_t number,
                                        const RunSettings& settings) {
  const std::int64_t length = tokens_read(model, sequences[number], settings);
  if (length == 0) return {};
  const std::int64_t size = window_size(model, settings);
  return windows_of(number, length, size, std::max<std::int64_t>(size / 2, 1));
}

std::vector<Window> windows_of_all(const SequenceModel& model,
                                   const std::vector<Tokenised>& sequences,
                                   const RunSettings& settings) {
  std::vector<Window> windows;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::vector<Window> more = windows_of_sequence(model, sequences, i, settings);
    windows.insert(windows.end(), more.begin(), more.end());
  }
  return windows;
}

class Run {
 public:
  // `masked`: a residue of each window that is masked, or empty.
  Run(const SequenceModel& model, const std::vector<Tokenised>& sequences,
      const RunSettings& settings, std::vector<Window> windows,
      std::vector<std::int64_t> masked = {})
      : model_(model),
        sequences_(sequences),
        settings_(settings),
        windows_(std::move(windows)),
        masked_(std::move(masked)) {}

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
    for (const std::size_t i : members) add(i, pack);
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

  void add(std::size_t number, Pack& pack) const {
    const Window& window = windows_[number];
    const auto from = sequences_[window.sequence].tokens.begin() + window.first;
    std::vector<std::int32_t> tokens(from, from + window.size);
    if (!masked_.empty()) {
      tokens[static_cast<std::size_t>(masked_[number] - window.first)] = model_.alphabet.mask();
    }
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
  std::vector<Window> windows_;
  std::vector<std::int64_t> masked_;
};

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

// A row of `width` for each residue of each protein, which make(window, states, out) writes.
template <class Make>
std::vector<std::vector<float>> rows_by_residue(const SequenceModel& model,
                                                const std::vector<Tokenised>& sequences,
                                                const RunSettings& settings, std::int64_t width,
                                                JobControl& control, Make make) {
  const Run run(model, sequences, settings, windows_of_all(model, sequences, settings));
  std::vector<std::vector<float>> rows(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    rows[i].resize(static_cast<std::size_t>(tokens_read(model, sequences[i], settings) * width));
  }
  run.for_each_window(control, [&](std::size_t i, const float* states) {
    const Window& window = run.windows()[i];
    make(window, states, rows[window.sequence].data() + window.own_first * width);
  });
  return rows;
}

void require_head(const SequenceModel& model) {
  if (model.encoder.has_head()) return;
  throw InputError(
      "the weights have no language head (tensors 'lm_head.'), so there are no probabilities of "
      "residues: use a checkpoint for masked language modelling");
}

// Windows to read, what is masked in them, and the sites that each is read for.
struct SiteWindows {
  std::vector<Window> windows;
  std::vector<std::int64_t> masked;
  std::vector<std::vector<std::size_t>> sites;
};

SiteWindows windows_of_sites(const SequenceModel& model, const std::vector<Tokenised>& proteins,
                             const std::vector<ResidueSite>& sites, Marginal marginal,
                             const RunSettings& settings) {
  SiteWindows result;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> numbers;  // by protein and start
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto [protein, residue] = sites[i];
    const std::vector<Window> all = windows_of_sequence(model, proteins, protein, settings);
    Window window = *std::find_if(all.begin(), all.end(), [at = residue](const Window& candidate) {
      return at < candidate.own_end;
    });
    if (marginal == Marginal::kMasked) {
      window.own_first = residue;
      window.own_end = residue + 1;
      result.windows.push_back(window);
      result.masked.push_back(residue);
      result.sites.push_back({i});
      continue;
    }
    const auto [at, is_new] = numbers.try_emplace({protein, window.first}, result.windows.size());
    if (is_new) {
      result.windows.push_back(window);
      result.sites.emplace_back();
    }
    result.sites[at->second].push_back(i);
  }
  return result;
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
  const Run run(model, sequences, settings, windows_of_all(model, sequences, settings));
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
    const auto n = static_cast<double>(tokens_read(model, sequences[protein], settings));
    for (std::size_t j = 0; j < width; ++j) {
      means[protein * width + j] = static_cast<float>(total[j] / n);
    }
  }
  return means;
}

std::vector<std::vector<float>> embed_residues(const SequenceModel& model,
                                               const std::vector<Tokenised>& sequences,
                                               const RunSettings& settings, JobControl& control) {
  const std::int64_t width = model.encoder.shape.width;
  return rows_by_residue(model, sequences, settings, width, control,
                         [&](const Window& window, const float* states, float* out) {
                           std::copy_n(states, (window.own_end - window.own_first) * width, out);
                         });
}

std::vector<std::vector<float>> residue_log_probabilities(const SequenceModel& model,
                                                          const std::vector<Tokenised>& sequences,
                                                          const RunSettings& settings,
                                                          JobControl& control) {
  require_head(model);
  return rows_by_residue(model, sequences, settings, model.encoder.shape.vocabulary, control,
                         [&](const Window& window, const float* states, float* out) {
                           const std::vector<float> rows =
                               log_probabilities(model.encoder, states,
                                                 window.own_end - window.own_first, settings.simd);
                           std::copy(rows.begin(), rows.end(), out);
                         });
}

std::vector<float> site_log_probabilities(const SequenceModel& model,
                                          const std::vector<Tokenised>& proteins,
                                          const std::vector<ResidueSite>& sites, Marginal marginal,
                                          const RunSettings& settings, JobControl& control) {
  require_head(model);
  SiteWindows read = windows_of_sites(model, proteins, sites, marginal, settings);
  const Run run(model, proteins, settings, std::move(read.windows), std::move(read.masked));
  const auto vocabulary = static_cast<std::size_t>(model.encoder.shape.vocabulary);
  std::vector<float> rows(sites.size() * vocabulary);
  run.for_each_window(control, [&](std::size_t i, const float* states) {
    for (const std::size_t site : read.sites[i]) {
      const std::int64_t from = sites[site].residue - run.windows()[i].own_first;
      const std::vector<float> row = log_probabilities(
          model.encoder, states + from * model.encoder.shape.width, 1, settings.simd);
      std::copy(row.begin(), row.end(),
                rows.begin() + static_cast<std::ptrdiff_t>(site * vocabulary));
    }
  });
  return rows;
}

}  // namespace ancify
