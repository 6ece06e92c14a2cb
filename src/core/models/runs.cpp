// Cuts long proteins into windows, packs the windows, and extracts the residues that each
// contributes.
#include "core/models/runs.h"

#include <algorithm>
#include <array>
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

// Takes the rows of a window's own residues, or their mean.
using UseWindow = std::function<void(std::size_t window, const float* rows)>;

// The number of tokens in a window. DNA is read whole.
std::int64_t window_size(const SequenceModel& model, const RunSettings& settings) {
  return model.dna ? std::numeric_limits<std::int64_t>::max() : settings.most_residues;
}

std::int64_t tokens_read(const SequenceModel& model, const Tokenised& sequence,
                         const RunSettings& settings) {
  const auto all = static_cast<std::int64_t>(sequence.tokens.size());
  const bool cut = settings.longer == LongProteins::kTruncate;
  return cut ? std::min(all, window_size(model, settings)) : all;
}

// Returns no window if the sequence has no tokens.
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

// A pack, and its windows.
struct WindowPack {
  std::vector<std::size_t> members;
  Pack pack;
};

std::vector<float> mean_of(const float* rows, std::int64_t n, std::int64_t width) {
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::int64_t row = 0; row < n; ++row, rows += width) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(rows[j]);
  }
  std::vector<float> means(sums.size());
  for (std::size_t j = 0; j < sums.size(); ++j) {
    means[j] = static_cast<float>(sums[j] / static_cast<double>(n));
  }
  return means;
}

bool all_finite(const float* numbers, std::int64_t n) {
  return std::all_of(numbers, numbers + n, [](float x) { return std::isfinite(x); });
}

class Run {
 public:
  // Logits become log-probabilities. `masked`: a residue of each window that is masked, or empty.
  Run(const SequenceModel& model, const std::vector<Tokenised>& sequences,
      const RunSettings& settings, EncoderResult wanted, std::vector<Window> windows,
      std::vector<std::int64_t> masked = {})
      : model_(model),
        sequences_(sequences),
        settings_(settings),
        wanted_(wanted),
        windows_(std::move(windows)),
        masked_(std::move(masked)) {
    if (wanted != EncoderResult::kLogits || model.encoder.has_head()) return;
    throw InputError(
        "the weights have no language head (tensors 'lm_head.'), so there are no probabilities of "
        "residues: use a checkpoint for masked language modelling");
  }

  const std::vector<Window>& windows() const { return windows_; }
  // Values per row.
  std::int64_t columns() const {
    const EncoderShape& shape = model_.encoder.shape;
    return wanted_ == EncoderResult::kLogits ? shape.vocabulary : shape.width;
  }

  void for_each_window(JobControl& control, const UseWindow& use) const {
    std::vector<std::int64_t> lengths;
    std::int64_t tokens = 0;
    for (const Window& window : windows_) {
      lengths.push_back(window.size + model_.marks());
      tokens += lengths.back();
    }
    control.expect(tokens);
    const auto packs = pack_by_length(lengths, settings_.pack_tokens);
    if (settings_.devices != nullptr && !packs.empty()) {
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      run_on_devices(packs, std::max(settings_.pack_tokens, longest), control, use);
      return;
    }
    run_tasks(control, settings_.threads, static_cast<std::int64_t>(packs.size()),
              [&](std::int64_t i, const TaskContext& context) {
                context.throw_if_stopped();
                const WindowPack pack = packed(packs[static_cast<std::size_t>(i)]);
                use_states(pack, encode(model_.encoder, pack.pack, settings_.simd, context), use);
                control.advance(pack.pack.size());
              });
  }

 private:
  // The packs of a device; one is computed while the previous one is used.
  struct Lane {
    DeviceEncoder* encoder;
    std::array<WindowPack, Device::kStreams> packs;
    int now = 0;
  };

  void run_on_devices(const std::vector<std::vector<std::size_t>>& packs, std::int64_t most_tokens,
                      JobControl& control, const UseWindow& use) const {
    std::vector<Lane> lanes;
    for (const auto& encoder : settings_.devices->encoders) {
      encoder->expect(most_tokens);
      lanes.push_back({encoder.get(), {}, 0});
    }
    // The last task of each lane completes its work.
    run_in_lanes(control, settings_.threads, static_cast<int>(lanes.size()),
                 static_cast<std::int64_t>(packs.size() + lanes.size()),
                 [&](std::int64_t task, const TaskContext& context) {
                   context.throw_if_stopped();
                   const auto i = static_cast<std::size_t>(task);
                   Lane& lane = lanes[i % lanes.size()];
                   begin(lane, i < packs.size() ? packed(packs[i]) : WindowPack());
                   finish(lane, control, context, use);
                 });
  }

  void begin(Lane& lane, WindowPack pack) const {
    WindowPack& own = lane.packs.at(static_cast<std::size_t>(lane.now));
    own = std::move(pack);
    if (own.members.empty()) return;
    lane.encoder->begin(own.pack, wanted_, lane.now);
  }

  // Completes the previous pack.
  void finish(Lane& lane, JobControl& control, const TaskContext& context,
              const UseWindow& use) const {
    lane.now = 1 - lane.now;
    const WindowPack& pack = lane.packs.at(static_cast<std::size_t>(lane.now));
    if (pack.members.empty()) return;
    use_rows_of_device(pack, lane.encoder->finish(lane.now), context, use);
    control.advance(pack.pack.size());
  }

  void use_rows_of_device(const WindowPack& pack, const float* rows, const TaskContext& context,
                          const UseWindow& use) const {
    const bool means = wanted_ == EncoderResult::kMeans;
    // Half precision ends at 65504.
    const auto n = means ? static_cast<std::int64_t>(pack.members.size()) : pack.pack.size();
    if (settings_.devices->precision == Precision::kHalf && !all_finite(rows, n * columns())) {
      ++settings_.devices->repeated;
      use_states(pack, encode(model_.encoder, pack.pack, settings_.simd, context), use);
      return;
    }
    for (std::size_t i = 0; i < pack.members.size(); ++i) {
      const PackRows& at = pack.pack.own[i];
      const std::int64_t first = means ? static_cast<std::int64_t>(i) : at.first;
      const std::int64_t own_n = means ? 1 : at.end - at.first;
      const float* const own = rows + first * columns();
      check_finite(windows_[pack.members[i]], own, own_n * columns());
      if (wanted_ != EncoderResult::kLogits) {
        use(pack.members[i], own);
      } else {
        std::vector<float> logits(own, own + own_n * columns());
        finish_logits(model_.encoder, logits.data(), own_n);
        use(pack.members[i], logits.data());
      }
    }
  }

  void use_states(const WindowPack& pack, const std::vector<float>& states,
                  const UseWindow& use) const {
    const std::int64_t width = model_.encoder.shape.width;
    for (std::size_t i = 0; i < pack.members.size(); ++i) {
      const PackRows& at = pack.pack.own[i];
      const std::int64_t n = at.end - at.first;
      const float* const own = states.data() + at.first * width;
      check_finite(windows_[pack.members[i]], own, n * width);
      switch (wanted_) {
        case EncoderResult::kStates:
          use(pack.members[i], own);
          break;
        case EncoderResult::kLogits:
          use(pack.members[i], log_probabilities(model_.encoder, own, n, settings_.simd).data());
          break;
        case EncoderResult::kMeans:
          use(pack.members[i], mean_of(own, n, width).data());
          break;
      }
    }
  }

  static void check_finite(const Window& window, const float* states, std::int64_t n) {
    if (all_finite(states, n)) return;
    throw InputError("sequence " + std::to_string(window.sequence + 1) +
                     ": the model gives numbers that are not finite. Its weights are damaged, or "
                     "not made for single precision");
  }

  WindowPack packed(const std::vector<std::size_t>& members) const {
    WindowPack result = {members, {}};
    result.pack.zero_token = model_.token_dropout ? model_.alphabet.mask() : -1;
    result.pack.offsets.push_back(0);
    for (const std::size_t i : members) add(i, result.pack);
    return result;
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
    const std::int64_t own = pack.size() + model_.marks() / 2 + window.own_first - window.first;
    pack.own.push_back({own, own + window.own_end - window.own_first});
    pack.tokens.insert(pack.tokens.end(), tokens.begin(), tokens.end());
    pack.offsets.push_back(pack.size());
  }

  const SequenceModel& model_;
  const std::vector<Tokenised>& sequences_;
  const RunSettings& settings_;
  EncoderResult wanted_;
  std::vector<Window> windows_;
  std::vector<std::int64_t> masked_;
};

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

// One row for each residue of each protein.
std::vector<std::vector<float>> rows_by_residue(const SequenceModel& model,
                                                const std::vector<Tokenised>& sequences,
                                                const RunSettings& settings, EncoderResult kind,
                                                JobControl& control) {
  const Run run(model, sequences, settings, kind, windows_of_all(model, sequences, settings));
  const std::int64_t columns = run.columns();
  std::vector<std::vector<float>> rows(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    rows[i].resize(static_cast<std::size_t>(tokens_read(model, sequences[i], settings) * columns));
  }
  run.for_each_window(control, [&](std::size_t i, const float* own) {
    const Window& window = run.windows()[i];
    std::copy_n(own, (window.own_end - window.own_first) * columns,
                rows[window.sequence].data() + window.own_first * columns);
  });
  return rows;
}

// Windows to read, their masked residues, and the sites that each is read for.
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
  const Run run(model, sequences, settings, EncoderResult::kMeans,
                windows_of_all(model, sequences, settings));
  const auto width = static_cast<std::size_t>(model.encoder.shape.width);
  std::vector<std::vector<float>> of_windows(run.windows().size());
  run.for_each_window(
      control, [&](std::size_t i, const float* mean) { of_windows[i].assign(mean, mean + width); });
  std::vector<float> means(sequences.size() * width, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < of_windows.size();) {
    const std::size_t protein = run.windows()[i].sequence;
    std::vector<double> total(width);
    for (; i < of_windows.size() && run.windows()[i].sequence == protein; ++i) {
      const Window& window = run.windows()[i];
      const auto n = static_cast<double>(window.own_end - window.own_first);
      for (std::size_t j = 0; j < width; ++j) total[j] += n * static_cast<double>(of_windows[i][j]);
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
  return rows_by_residue(model, sequences, settings, EncoderResult::kStates, control);
}

std::vector<std::vector<float>> residue_log_probabilities(const SequenceModel& model,
                                                          const std::vector<Tokenised>& sequences,
                                                          const RunSettings& settings,
                                                          JobControl& control) {
  return rows_by_residue(model, sequences, settings, EncoderResult::kLogits, control);
}

std::vector<float> site_log_probabilities(const SequenceModel& model,
                                          const std::vector<Tokenised>& proteins,
                                          const std::vector<ResidueSite>& sites, Marginal marginal,
                                          const RunSettings& settings, JobControl& control) {
  SiteWindows read = windows_of_sites(model, proteins, sites, marginal, settings);
  const Run run(model, proteins, settings, EncoderResult::kLogits, std::move(read.windows),
                std::move(read.masked));
  const auto columns = static_cast<std::size_t>(run.columns());
  std::vector<float> rows(sites.size() * columns);
  run.for_each_window(control, [&](std::size_t i, const float* own) {
    for (const std::size_t site : read.sites[i]) {
      const auto at = static_cast<std::size_t>(sites[site].residue - run.windows()[i].own_first);
      std::copy_n(own + at * columns, columns, rows.data() + site * columns);
    }
  });
  return rows;
}

}  // namespace ancify
