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

// What a merge does with a k-mer's counts, 0 where it is missing; 0 to leave it out.
class Rule {
 public:
  Rule(KmerOperation operation, KmerCountRule rule) : operation_(operation), rule_(rule) {}
  std::uint32_t of_one(std::uint32_t count) const {
    return operation_ == KmerOperation::kIntersect ? 0 : count;
  }
  std::uint32_t of_other(std::uint32_t count) const {
    return operation_ == KmerOperation::kUnion ? count : 0;
  }
  std::uint32_t of_both(std::uint32_t one, std::uint32_t other) const {
    const bool removes =
        operation_ == KmerOperation::kSubtract && rule_ != KmerCountRule::kDifference;
    return removes ? 0 : count_of_both(rule_, one, other);
  }

 private:
  KmerOperation operation_;
  KmerCountRule rule_;
};

// Calls take(key, count of one, count of other) for each k-mer of either.
template <class Key, class Take>
void merge(KmerCursor<Key> one, KmerCursor<Key> other, Take&& take) {
  while (one.valid() || other.valid()) {
    const bool in_one = one.valid() && (!other.valid() || one.key() <= other.key());
    const bool in_other = other.valid() && (!one.valid() || other.key() <= one.key());
    take(in_one ? one.key() : other.key(), in_one ? one.count() : 0, in_other ? other.count() : 0);
    if (in_one) one.next();
    if (in_other) other.next();
  }
}

// The k-mers that begin with these bases, as a cursor. No database has a shorter prefix.
template <class Key>
KmerCursor<Key> cursor_of(const KmerDatabase& database, std::size_t part, int bases) {
  const int more = 2 * (database.header().prefix - bases);
  return {database, database.starts()[part << more], database.starts()[(part + 1) << more]};
}

// Writes what combined(one, other) gives for each k-mer of either.
template <class Combined>
KmerDatabase write_merged(const KmerDatabase& one, const KmerDatabase& other, Combined combined,
                          const KmerSettings& settings, const KmerWork& work, JobControl& control) {
  const int bases = std::min({one.header().prefix, other.header().prefix, 3});
  KmerParts parts(settings, bases, work.memory / 2, work.scratch);
  return with_key(settings.k, [&](auto any) {
    using Key = decltype(any);
    const auto n = std::int64_t{1} << (2 * bases);
    control.expect(n);
    run_tasks(control, work.threads, n, [&](std::int64_t part, const TaskContext& context) {
      const auto at = static_cast<std::size_t>(part);
      constexpr std::size_t at_once = 1 << 14;
      std::vector<Counted<Key>> entries;
      merge(cursor_of<Key>(one, at, bases), cursor_of<Key>(other, at, bases),
            [&](Key key, std::uint32_t first, std::uint32_t second) {
              const std::uint32_t count = combined(first, second);
              if (count > 0) entries.push_back({key, count});
              if (entries.size() < at_once) return;
              parts.add(std::exchange(entries, {}));
              context.throw_if_stopped();
            });
      parts.add(entries);
      control.advance(1);
    });
    one.check_unchanged();
    other.check_unchanged();
    return parts.write<Key>(work, true, control);
  });
}

}  // namespace

KmerDatabase combine(const KmerDatabase& one, const KmerDatabase& other, KmerOperation operation,
                     KmerCountRule rule, const KmerSettings& settings, const KmerWork& work,
                     JobControl& control) {
  const Rule counts(operation, rule);
  const auto combined = [counts](std::uint32_t first, std::uint32_t second) {
    if (second == 0) return counts.of_one(first);
    if (first == 0) return counts.of_other(second);
    return counts.of_both(first, second);
  };
  return write_merged(one, other, combined, settings, work, control);
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
