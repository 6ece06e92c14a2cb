// Finds the type of each site from its neighbouring bases.
#include "core/spectra/mutation_counts.h"

#include <optional>
#include <utility>

#include "core/exec/threads.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

class MutationCounter {
 public:
  MutationCounter(const MutationOptions& options, JobControl& control, const TaskContext& context)
      : options_(options),
        types_(options.k),
        site_(options, control, context),
        summer_(options.counted_as == CountedAs::kFrequencies
                    ? 0
                    : options.n_populations * types_.types()),
        counts_(options.n_populations) {
    counts_.errors.resize(types_.types());
  }

  MutationCounts run() {
    while (site_.next()) {
      if (const auto word = word_of_site()) take(*word);
    }
    counts_.sums = summer_.finish();
    static_cast<RecordTotals&>(counts_) = std::move(site_.totals());
    for (std::size_t i = 0; i < site_.lengths().size(); ++i) counts_.lengths.push_back(length(i));
    return std::move(counts_);
  }

 private:
  std::int64_t length(std::size_t chromosome) const {
    const ContextLengths& lengths = site_.lengths()[chromosome];
    return options_.reference_context ? lengths.reference : lengths.ancestral;
  }

  // The word of the ancestral base and its neighbours; empty if one is missing or not wanted.
  std::optional<std::uint32_t> word_of_site() {
    std::uint32_t word = 0;
    bool is_low = false;
    for (int offset = -types_.half(); offset <= types_.half(); ++offset) {
      const char letter = letter_at(offset);
      const std::uint8_t code = base_code(letter);
      if (code == kMissing) {
        ++counts_.no_context;
        return {};
      }
      is_low = is_low || letter >= 'a';
      word = word << 2 | code;
    }
    // Lower case in a reference marks repeats.
    if (is_low && !options_.low_confidence && !options_.reference_context) {
      ++counts_.low_context;
      return {};
    }
    return word;
  }

  // The letter at an offset from the site; at 0 the ancestral base. This too needs the sequence of
  // contexts, which defines the windows.
  char letter_at(int offset) const {
    const std::optional<char> letter =
        options_.reference_context ? site_.reference_at(offset) : site_.ancestral_at(offset);
    if (!letter) return 'N';
    return offset == 0 ? upper_base(site_.ancestral()) : *letter;
  }

  void take(std::uint32_t word) {
    if (!varies()) {
      ++counts_.invariant;
      return;
    }
    ++counts_.used;
    const std::size_t type = types_.type(word, site_.derived());
    const std::size_t reverse =
        types_.type(types_.with_middle(word, site_.derived()), site_.ancestral());
    const double p = site_.posterior();
    Misidentification::Sums& errors = counts_.errors[type];
    ++errors.sites;
    errors.errors += 1 - p;
    errors.variance += p * (1 - p);
    switch (options_.counted_as) {
      case CountedAs::kSites:
        return add_sites(type, reverse, p);
      case CountedAs::kHaplotypes:
        return add_haplotypes(type, reverse, p);
      case CountedAs::kFrequencies:
        return add_frequencies(type, reverse, p);
    }
  }

  bool varies() const {
    AlleleCount all = {0, 0};
    for (const AlleleCount& count : site_.counts()) {
      all.called += count.called;
      all.derived += count.derived;
    }
    return all.derived > 0 && all.derived < all.called;
  }

  // A chromosome's windows follow the windows of all earlier chromosomes.
  void go_to_window() {
    for (; passed_ + 1 < site_.lengths().size(); ++passed_) {
      first_window_ += windows_of(length(passed_), options_.window);
    }
    summer_.go_to(first_window_ + (options_.window == 0 ? 0 : site_.position() / options_.window));
  }

  void add_sites(std::size_t type, std::size_t reverse, double p) {
    go_to_window();
    std::size_t first = 0;
    for (const AlleleCount& count : site_.counts()) {
      if (count.derived > 0 && count.derived < count.called) {
        summer_.add(first + type, p);
        summer_.add(first + reverse, 1 - p);
      }
      first += types_.types();
    }
  }

  void add_haplotypes(std::size_t type, std::size_t reverse, double p) {
    go_to_window();
    std::size_t first = 0;
    for (const AlleleCount& count : site_.counts()) {
      summer_.add(first + type, p * count.derived);
      summer_.add(first + reverse, (1 - p) * (count.called - count.derived));
      first += types_.types();
    }
  }

  void add_frequencies(std::size_t type, std::size_t reverse, double p) {
    const AlleleCount* const counts = site_.counts().data();
    counts_.table.add(counts, static_cast<int>(type), {1, p, 0});
    if (p < 1) counts_.table.add(counts, static_cast<int>(reverse), {0, 0, 1 - p});
  }

  const MutationOptions& options_;
  MutationTypes types_;
  SiteReader site_;
  WindowSummer summer_;
  MutationCounts counts_;
  std::size_t passed_ = 0;  // chromosomes before the current one
  std::int64_t first_window_ = 0;
};

}  // namespace

MutationCounts count_mutations(const MutationOptions& options, JobControl& control) {
  MutationOptions resolved = options;
  if (in_forked_child()) resolved.threads = 1;
  std::optional<MutationCounts> counts;
  run_tasks(control, resolved.threads, 1, [&](std::int64_t, const TaskContext& context) {
    counts = MutationCounter(resolved, control, context).run();
  });
  return std::move(*counts);
}

}  // namespace ancify
