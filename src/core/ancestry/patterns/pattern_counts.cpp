// Counts the site patterns of chromosomes on all threads, in a table or a hash map.
#include "core/ancestry/patterns/pattern_counts.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/ancestry/patterns/neighbours.h"
#include "core/ancestry/patterns/pattern_map.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/exec/threads.h"
#include "core/genome/stretch.h"

namespace ancify {

namespace {

// Has a count for every possible pattern.
template <class Number>
class TableCounter : public PatternCounter {
 public:
  explicit TableCounter(int leaves)
      : leaves_(leaves),
        patterns_(number_of_patterns(leaves)),
        counts_(kTables * patterns_),
        numbers_(kNumberedAtOnce) {}

  void count(const Sites& sites, SimdLevel level) override {
    std::int64_t* const even = counts_.data();
    std::int64_t* const odd = even + (kTables - 1) * patterns_;
    for (std::size_t start = 0; start < sites.n; start += kNumberedAtOnce) {
      const std::size_t n = std::min(kNumberedAtOnce, sites.n - start);
      number_patterns(leaves_, sites, start, n, level, numbers_.data());
      for (std::size_t i = 1; i < n; i += 2) {
        ++even[numbers_[i - 1]];
        ++odd[numbers_[i]];
      }
      if (n % 2 == 1) ++even[numbers_[n - 1]];
    }
  }

  void for_each(const Take& take) const override {
    std::vector<int> states(static_cast<std::size_t>(leaves_));
    for (std::size_t number = 0; number < patterns_; ++number) {
      std::int64_t count = 0;
      for (std::size_t table = 0; table < kTables; ++table) {
        count += counts_[table * patterns_ + number];
      }
      if (count == 0) continue;
      states_of_pattern(number, leaves_, states.data());
      take(states.data(), count);
    }
  }

 private:
  // Neighbouring sites often have the same pattern, whose count must then wait for itself. Small
  // tables are two, for even and odd sites.
  static constexpr std::size_t kTables = sizeof(Number) == sizeof(std::uint16_t) ? 2 : 1;

  int leaves_;
  std::size_t patterns_;
  std::vector<std::int64_t> counts_;
  std::vector<Number> numbers_;
};

// Has a count for every pattern that occurs.
class MapCounter : public PatternCounter {
 public:
  explicit MapCounter(int leaves) : leaves_(leaves), counts_(leaves) {}

  void count(const Sites& sites, SimdLevel level) override {
    counts_.for_each_site(sites, level,
                          [](std::size_t, const std::uint64_t*, std::uint64_t& count) { ++count; });
  }

  void for_each(const Take& take) const override {
    std::vector<int> states(static_cast<std::size_t>(leaves_));
    counts_.for_each([&](const std::uint64_t* key, std::uint64_t count) {
      counts_.keys().states(key, states.data());
      take(states.data(), static_cast<std::int64_t>(count));
    });
  }

 private:
  int leaves_;
  PatternMap counts_;
};

// Sorts patterns, and adds up equal ones.
PatternCounts sorted(const PatternCounts& unsorted) {
  const auto leaves = static_cast<std::size_t>(unsorted.leaves);
  std::vector<std::size_t> order(unsorted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto pattern = [&](std::size_t i) { return unsorted.pattern(i); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(pattern(a), pattern(a) + leaves, pattern(b),
                                        pattern(b) + leaves);
  });
  PatternCounts sum;
  sum.leaves = unsorted.leaves;
  for (const std::size_t i : order) {
    if (sum.size() > 0 &&
        std::equal(pattern(i), pattern(i) + leaves, sum.pattern(sum.size() - 1))) {
      sum.counts.back() += unsorted.counts[i];
    } else {
      sum.states.insert(sum.states.end(), pattern(i), pattern(i) + leaves);
      sum.counts.push_back(unsorted.counts[i]);
    }
  }
  return sum;
}

struct Piece {
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t end;
};

constexpr std::int64_t kCountedAtOnce = 1 << 15;
constexpr std::int64_t kPiece = 16 * kCountedAtOnce;

// A chromosome while threads count its pieces.
class ChromosomeCount {
 public:
  // `classes` may be null, and must outlive this.
  ChromosomeCount(const ChromosomeSequences& chromosome, int pieces,
                  const NeighbourClasses* classes)
      : chromosome_(chromosome), classes_(classes), left_(pieces) {}

  void count(const Piece& piece, SimdLevel level, const TaskContext& context, JobControl& control) {
    std::call_once(opened_, [&] { species_ = chromosome_.open(); });
    auto counter = take();
    StretchReader reader(species_, chromosome_.length, classes_ == nullptr ? 0 : kNeighbourReach);
    for (std::int64_t start = piece.start; start < piece.end; start += kCountedAtOnce) {
      context.throw_if_stopped();
      const Stretch stretch = reader.read(start, std::min(start + kCountedAtOnce, piece.end));
      if (classes_ == nullptr) {
        counter->count({stretch.species, stretch.form, stretch.size()}, level);
      } else {
        const auto n_species = static_cast<int>(species_.size());
        const SitesInClasses in_classes(*classes_, stretch, n_species, level);
        counter->count(in_classes.sites(), level);
      }
      control.advance(stretch.end - stretch.start);
    }
    give_back(std::move(counter));
  }

  PatternCounts result;

 private:
  int leaves() const { return static_cast<int>(species_.size()) + (classes_ == nullptr ? 0 : 1); }

  std::unique_ptr<PatternCounter> take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return make_pattern_counter(leaves());
    auto counter = std::move(idle_.back());
    idle_.pop_back();
    return counter;
  }

  // The last piece closes the chromosome and adds up its counters.
  void give_back(std::unique_ptr<PatternCounter> counter) {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(counter));
    if (--left_ > 0) return;
    result = sum_of(idle_, leaves());
    idle_.clear();
    species_.clear();
  }

  const ChromosomeSequences& chromosome_;
  const NeighbourClasses* classes_;
  std::once_flag opened_;
  SequenceSources species_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PatternCounter>> idle_;
  int left_;
};

}  // namespace

std::unique_ptr<PatternCounter> make_pattern_counter(int leaves) {
  if (leaves <= kMostIn16Bits) return std::make_unique<TableCounter<std::uint16_t>>(leaves);
  if (leaves <= kMostTabulated) return std::make_unique<TableCounter<std::uint32_t>>(leaves);
  return std::make_unique<MapCounter>(leaves);
}

PatternCounts sum_of(const std::vector<PatternCounts>& parts, int leaves) {
  PatternCounts all;
  all.leaves = leaves;
  for (const auto& part : parts) {
    all.states.insert(all.states.end(), part.states.begin(), part.states.end());
    all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
  }
  return sorted(all);
}

PatternCounts sum_of(const std::vector<std::unique_ptr<PatternCounter>>& counters, int leaves) {
  PatternCounts all;
  all.leaves = leaves;
  for (const auto& counter : counters) {
    counter->for_each([&](const int* pattern, std::int64_t count) {
      for (int i = 0; i < leaves; ++i) all.states.push_back(static_cast<std::uint8_t>(pattern[i]));
      all.counts.push_back(count);
    });
  }
  return sorted(all);
}

std::vector<PatternCounts> count_patterns(const std::vector<ChromosomeSequences>& chromosomes,
                                          const Backend& backend, JobControl& control,
                                          int classed_by) {
  std::optional<NeighbourClasses> classes;
  if (classed_by > 0) classes.emplace(classed_by);
  const NeighbourClasses* const by = classes ? &*classes : nullptr;
  std::vector<Piece> pieces;
  std::deque<ChromosomeCount> counts;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const std::int64_t length = chromosomes[i].length;
    const std::size_t before = pieces.size();
    for (std::int64_t start = 0; start < length; start += kPiece) {
      pieces.push_back({i, start, std::min(start + kPiece, length)});
    }
    counts.emplace_back(chromosomes[i], static_cast<int>(pieces.size() - before), by);
    counts.back().result.leaves =
        static_cast<int>(chromosomes[i].open().size()) + (by == nullptr ? 0 : 1);
    control.expect(length);
  }
  run_tasks(control, backend.threads, static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              const Piece& piece = pieces[static_cast<std::size_t>(i)];
              counts[piece.chromosome].count(piece, backend.simd, context, control);
            });
  std::vector<PatternCounts> result;
  result.reserve(counts.size());
  for (auto& count : counts) result.push_back(std::move(count.result));
  return result;
}

}  // namespace ancify
