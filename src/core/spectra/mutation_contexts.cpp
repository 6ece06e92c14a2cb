// Reads each sequence once and tracks the word of the last k bases.
#include "core/spectra/mutation_contexts.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/ancestry/variants/record_mask.h"
#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fasta.h"
#include "core/formats/sequence/twobit.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

using CodeTable = std::array<std::uint8_t, 256>;

CodeTable codes_of(bool low_confidence) {
  CodeTable codes = {};
  for (int c = 0; c < 256; ++c) {
    const char letter = static_cast<char>(c);
    const bool is_low = letter >= 'a';
    codes[static_cast<std::size_t>(c)] =
        is_low && !low_confidence ? static_cast<std::uint8_t>(kMissing) : base_code(letter);
  }
  return codes;
}

// The contexts of one sequence, which arrives in pieces.
class SequenceContexts {
 public:
  SequenceContexts(const MutationTypes& types, const CodeTable& codes, std::int64_t window,
                   const std::vector<Region>* masked)
      : types_(types),
        codes_(codes),
        window_(window),
        masked_(masked),
        counts_(types.words()),
        summer_(types.contexts()) {
    go_on();
  }

  void take(std::string_view bases) {
    while (!bases.empty()) {
      if (next_ == stop_) go_on();
      const auto n = static_cast<std::size_t>(
          std::min<std::int64_t>(stop_ - next_, static_cast<std::int64_t>(bases.size())));
      if (is_masked_) {
        read<false>(bases.substr(0, n));
      } else {
        read<true>(bases.substr(0, n));
      }
      next_ += static_cast<std::int64_t>(n);
      bases.remove_prefix(n);
    }
  }

  std::int64_t length() const { return next_; }
  WindowSums finish() {
    end_window();
    return summer_.finish();
  }

 private:
  template <bool count>
  void read(std::string_view bases) {
    const auto last = static_cast<std::uint32_t>(types_.words() - 1);
    const int k = types_.k();
    std::int64_t* const counts = counts_.data();
    std::uint32_t word = word_;
    std::int64_t run = run_;
    for (const char letter : bases) {
      const std::uint8_t code = codes_[static_cast<std::uint8_t>(letter)];
      word = (word << 2 | (code & 3U)) & last;
      run = code == kMissing ? 0 : run + 1;
      if (count && run >= k) ++counts[word];
    }
    word_ = word;
    run_ = run;
  }

  // The middle position of the word that ends at next_.
  std::int64_t middle() const { return next_ - types_.half(); }

  // Finds how far the window and the state of the mask extend from here.
  void go_on() {
    const std::int64_t at = std::max<std::int64_t>(middle(), 0);
    std::int64_t end = std::numeric_limits<std::int64_t>::max() - types_.half();
    if (window_ > 0) {
      if (at / window_ != number_) end_window();
      number_ = at / window_;
      end = (number_ + 1) * window_;
    }
    is_masked_ = false;
    if (masked_ != nullptr) {
      while (region_ < masked_->size() && (*masked_)[region_].end <= at) ++region_;
      if (region_ < masked_->size()) {
        is_masked_ = (*masked_)[region_].start <= at;
        end = std::min(end, is_masked_ ? (*masked_)[region_].end : (*masked_)[region_].start);
      }
    }
    stop_ = end + types_.half();
  }

  void end_window() {
    summer_.go_to(number_);
    for (std::size_t word = 0; word < counts_.size(); ++word) {
      if (counts_[word] == 0) continue;
      summer_.add(types_.context(static_cast<std::uint32_t>(word)),
                  static_cast<double>(counts_[word]));
      counts_[word] = 0;
    }
  }

  const MutationTypes& types_;
  const CodeTable& codes_;
  std::int64_t window_;
  const std::vector<Region>* masked_;
  std::vector<std::int64_t> counts_;  // of words in the current window
  WindowSummer summer_;
  std::int64_t next_ = 0;    // the next position
  std::int64_t stop_ = 0;    // where the window or the mask changes
  std::int64_t number_ = 0;  // of the window
  std::size_t region_ = 0;
  bool is_masked_ = false;
  std::uint32_t word_ = 0;
  std::int64_t run_ = 0;  // consecutive bases before next_
};

void append(const WindowSums& more, std::int64_t first_window, WindowSums& all) {
  for (const std::int32_t window : more.windows) {
    all.windows.push_back(static_cast<std::int32_t>(first_window + window));
  }
  all.cells.insert(all.cells.end(), more.cells.begin(), more.cells.end());
  all.sums.insert(all.sums.end(), more.sums.begin(), more.sums.end());
}

struct SequenceCounts {
  Chromosome chromosome;
  WindowSums sums;
};

class FileCounter {
 public:
  FileCounter(const ContextOptions& options, const MutationTypes& types, const CodeTable& codes,
              const RecordMask& mask)
      : options_(options), types_(types), codes_(codes), mask_(mask) {}

  std::vector<SequenceCounts> run(const SequenceFile& file, const TaskContext& context) {
    const auto take = [&](std::string_view bases) { contexts_->take(bases); };
    if (!file.chromosome.empty()) {
      begin(file.chromosome);
      read_one_sequence(file.path, take, context);
    } else {
      JobControl control;
      const auto begin_named = [&](std::string_view header, std::int64_t) {
        end();
        const auto slice = ensembl_slice(header);
        begin(std::string(slice ? slice->chromosome : header));
      };
      read_genome(file.path, {begin_named, take}, control, context);
    }
    end();
    return std::move(counts_);
  }

 private:
  void begin(std::string name) {
    contexts_ =
        std::make_unique<SequenceContexts>(types_, codes_, options_.window, mask_.regions(name));
    counts_.push_back({{std::move(name), 0}, {}});
  }
  void end() {
    if (!contexts_) return;
    counts_.back().chromosome.length = contexts_->length();
    counts_.back().sums = contexts_->finish();
  }

  const ContextOptions& options_;
  const MutationTypes& types_;
  const CodeTable& codes_;
  const RecordMask& mask_;
  std::unique_ptr<SequenceContexts> contexts_;
  std::vector<SequenceCounts> counts_;
};

}  // namespace

ContextCounts count_contexts(const ContextOptions& options, JobControl& control) {
  const MutationTypes types(options.k);
  const CodeTable codes = codes_of(options.low_confidence);
  const RecordMask mask(options.mask, TaskContext(control));
  ContextCounts result;
  std::unordered_set<std::string> names;
  std::int64_t windows = 0;
  const auto join = [&](std::int64_t i, const std::vector<SequenceCounts>& sequences) {
    for (const auto& [chromosome, sums] : sequences) {
      if (!names.insert(chromosome.name).second) {
        throw FormatError(options.sequences[static_cast<std::size_t>(i)].path, 0,
                          "a second sequence for chromosome '" + chromosome.name + "'");
      }
      result.chromosomes.push_back(chromosome);
      append(sums, windows, result.sums);
      windows += windows_of(chromosome.length, options.window);
    }
  };
  control.expect(static_cast<std::int64_t>(options.sequences.size()));
  join_in_order(
      control, in_forked_child() ? 1 : options.threads,
      static_cast<std::int64_t>(options.sequences.size()), options.threads,
      [&](std::int64_t i, const TaskContext& context) {
        auto counts = FileCounter(options, types, codes, mask)
                          .run(options.sequences[static_cast<std::size_t>(i)], context);
        control.advance(1);
        return counts;
      },
      join);
  mask.require_any(names_of(result.chromosomes), options.sequences.front().path);
  return result;
}

}  // namespace ancify
