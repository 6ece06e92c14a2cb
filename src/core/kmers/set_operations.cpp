// Merges databases, in parts of their first bases.
#include "core/kmers/set_operations.h"

#include <algorithm>
#include <array>
#include <map>

namespace ancify {

namespace {

std::uint32_t count_of_both(KmerCountRule rule, std::uint32_t one, std::uint32_t other) {
  switch (rule) {
    case KmerCountRule::kSum:
      return saturated(std::uint64_t{one} + other);
    case KmerCountRule::kLeast:
      return std::min(one, other);
    case KmerCountRule::kMost:
      return std::max(one, other);
    case KmerCountRule::kFirst:
      return one;
    case KmerCountRule::kSecond:
      return other;
    case KmerCountRule::kDifference:
      return one - std::min(one, other);
  }
  return 0;
}

// What a merge makes of a k-mer's counts, 0 where it is missing; 0 to leave it out. It is chance
// which of both databases has the next k-mer, so there are no branches for a processor to guess.
class Rule {
 public:
  Rule(KmerOperation operation, KmerCountRule rule)
      : of_one_(operation == KmerOperation::kIntersect ? 0 : kMostCount),
        of_other_(operation == KmerOperation::kUnion ? kMostCount : 0),
        of_both_(operation == KmerOperation::kSubtract && rule != KmerCountRule::kDifference
                     ? 0
                     : kMostCount),
        rule_(rule) {}
  std::uint32_t combined(std::uint32_t one, std::uint32_t other) const {
    const std::uint32_t both = count_of_both(rule_, one, other) & of_both_;
    const std::uint32_t either = (one & of_one_) | (other & of_other_);  // the other one is 0
    return one == 0 || other == 0 ? either : both;
  }

 private:
  std::uint32_t of_one_;  // masks: 0 leaves a k-mer out
  std::uint32_t of_other_;
  std::uint32_t of_both_;
  KmerCountRule rule_;
};

// Calls take(key, count of one, count of other) for each k-mer of either.
template <class Key, class Take>
void merge(KmerCursor<Key> one, KmerCursor<Key> other, Take&& take) {
  while (one.valid() && other.valid()) {
    const Key a = one.key();
    const Key b = other.key();
    const std::uint32_t in_one = a <= b;
    const std::uint32_t in_other = b <= a;
    take(std::min(a, b), one.count() & (0 - in_one), other.count() & (0 - in_other));
    one.next(static_cast<int>(in_one));
    other.next(static_cast<int>(in_other));
  }
  for (; one.valid(); one.next()) take(one.key(), one.count(), 0);
  for (; other.valid(); other.next()) take(other.key(), 0, other.count());
}

// The k-mers that begin with these bases, as a cursor. No database has a shorter prefix.
template <class Key>
KmerCursor<Key> cursor_of(const KmerDatabase& database, std::size_t part, int bases) {
  const int more = 2 * (database.header().prefix - bases);
  return {database, database.starts()[part << more], database.starts()[(part + 1) << more]};
}

}  // namespace

KmerDatabase combine(const KmerDatabase& one, const KmerDatabase& other, KmerOperation operation,
                     KmerCountRule rule, const KmerSettings& settings, const KmerWork& work,
                     JobControl& control) {
  const Rule counts(operation, rule);
  const int bases = std::min({one.header().prefix, other.header().prefix, 3});
  KmerParts parts(settings, bases, work.memory / 2, work.scratch);
  return with_key(settings.k, [&](auto any) {
    using Key = decltype(any);
    const auto n = std::int64_t{1} << (2 * bases);
    control.expect(n);
    run_tasks(control, work.threads, n, [&](std::int64_t part, const TaskContext& context) {
      const auto at = static_cast<std::size_t>(part);
      std::vector<Counted<Key>> entries(1 << 14);
      std::size_t used = 0;
      const auto flush = [&] {
        context.throw_if_stopped();
        parts.add(entries.data(), used);
        used = 0;
      };
      merge(cursor_of<Key>(one, at, bases), cursor_of<Key>(other, at, bases),
            [&](Key key, std::uint32_t first, std::uint32_t second) {
              const std::uint32_t count = counts.combined(first, second);
              entries[used] = {key, count};
              used += count > 0;
              if (used == entries.size()) flush();
            });
      flush();
      control.advance(1);
    });
    one.check_unchanged();
    other.check_unchanged();
    return parts.write<Key>(work, true, control);
  });
}

KmerDatabase filter(const KmerDatabase& database, const KmerSettings& settings,
                    const KmerWork& work, JobControl& control) {
  KmerHeader header = database.header();
  header.size = 0;
  const KmerDatabase none(header, std::vector<std::uint64_t>(database.starts().size()),
                          std::vector<char>(KmerDatabase::kSlack));
  return combine(database, none, KmerOperation::kUnion, KmerCountRule::kSum, settings, work,
                 control);
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> histogram(const KmerDatabase& database,
                                                               const TaskContext& context) {
  std::vector<std::uint64_t> small(1 << 16);  // most counts, without a search
  std::map<std::uint32_t, std::uint64_t> numbers;
  with_key(database.header().k, [&](auto key) {
    std::uint64_t n = 0;
    for (KmerCursor<decltype(key)> at(database); at.valid(); at.next()) {
      ++(at.count() < small.size() ? small[at.count()] : numbers[at.count()]);
      if (++n % (1 << 20) == 0) context.throw_if_stopped();
    }
  });
  database.check_unchanged();
  for (std::size_t count = 0; count < small.size(); ++count) {
    if (small[count] > 0) numbers[static_cast<std::uint32_t>(count)] = small[count];
  }
  return {numbers.begin(), numbers.end()};
}

KmerComparison compare(const KmerDatabase& one, const KmerDatabase& other,
                       const TaskContext& context) {
  KmerComparison sums;
  with_key(one.header().k, [&](auto any) {
    using Key = decltype(any);
    std::uint64_t n = 0;
    merge(KmerCursor<Key>(one), KmerCursor<Key>(other),
          [&](Key, std::uint32_t first, std::uint32_t second) {
            const double a = first;
            const double b = second;
            sums.one += first > 0;
            sums.other += second > 0;
            sums.shared += first > 0 && second > 0;
            sums.least += std::min(a, b);
            sums.total += a + b;
            sums.product += a * b;
            sums.square_one += a * a;
            sums.square_other += b * b;
            if (++n % (1 << 20) == 0) context.throw_if_stopped();
          });
  });
  one.check_unchanged();
  other.check_unchanged();
  return sums;
}

}  // namespace ancify
