// Merges databases, in parts by first bases.
#include "core/kmers/set_operations.h"

#include <algorithm>
#include <array>
#include <map>

namespace ancify {

namespace {

// Calls use(f), where f(one, other) is the count of a k-mer that both have.
template <class Use>
auto with_rule(KmerCountRule rule, Use&& use) {
  using Count = std::uint32_t;
  switch (rule) {
    case KmerCountRule::kSum:
      return use([](Count one, Count other) { return saturated(std::uint64_t{one} + other); });
    case KmerCountRule::kLeast:
      return use([](Count one, Count other) { return std::min(one, other); });
    case KmerCountRule::kMost:
      return use([](Count one, Count other) { return std::max(one, other); });
    case KmerCountRule::kFirst:
      return use([](Count one, Count) { return one; });
    case KmerCountRule::kSecond:
      return use([](Count, Count other) { return other; });
    case KmerCountRule::kDifference:
      break;
  }
  return use([](Count one, Count other) { return one - std::min(one, other); });
}

// The merged count of a k-mer's two counts, of which a missing one is 0; 0 leaves the k-mer out.
// Branches would be mispredicted, as either database may have the next k-mer.
template <class OfBoth>
class Rule {
 public:
  Rule(KmerOperation operation, KmerCountRule rule, OfBoth of_both)
      : of_one_(operation == KmerOperation::kIntersect ? 0 : kMostCount),
        of_other_(operation == KmerOperation::kUnion ? kMostCount : 0),
        in_both_(operation == KmerOperation::kSubtract && rule != KmerCountRule::kDifference
                     ? 0
                     : kMostCount),
        of_both_(of_both) {}
  std::uint32_t combined(std::uint32_t one, std::uint32_t other) const {
    const std::uint32_t is_in_both = 0 - (std::uint32_t{one > 0} & std::uint32_t{other > 0});
    const std::uint32_t either = (one & of_one_) | (other & of_other_);  // the other count is 0
    return (is_in_both & in_both_ & of_both_(one, other)) | (~is_in_both & either);
  }

 private:
  std::uint32_t of_one_;  // masks: 0 leaves a k-mer out
  std::uint32_t of_other_;
  std::uint32_t in_both_;
  OfBoth of_both_;
};

// Calls take(key, count of one, count of other) for each k-mer of either database, and then() after
// at most 2 kAhead of them. Both positions stay in registers and move without branches, which would
// be mispredicted.
template <class Key, class Take, class Then>
void merge(KmerCursor<Key> one, KmerCursor<Key> other, Take&& take, Then&& then) {
  while (one.valid() && other.valid()) {
    const auto* a = one.begin();
    const auto* b = other.begin();
    const auto* const a_end = one.end();
    const auto* const b_end = other.end();
    while (a != a_end && b != b_end) {
      const std::uint32_t in_one = a->key <= b->key;
      const std::uint32_t in_other = b->key <= a->key;
      take(std::min(a->key, b->key), a->count & (0 - in_one), b->count & (0 - in_other));
      a += in_one;
      b += in_other;
    }
    one.go_to(a);
    other.go_to(b);
    then();
  }
  for (; one.valid(); one.go_to(one.end()), then()) {
    for (const auto& entry : one) take(entry.key, entry.count, 0);
  }
  for (; other.valid(); other.go_to(other.end()), then()) {
    for (const auto& entry : other) take(entry.key, 0, entry.count);
  }
}

// A cursor over the k-mers that begin with these bases. No database has a shorter prefix.
template <class Key>
KmerCursor<Key> cursor_of(const KmerDatabase& database, std::size_t part, int bases) {
  const int more = 2 * (database.header().prefix - bases);
  return {database, database.starts()[part << more], database.starts()[(part + 1) << more]};
}

}  // namespace

KmerDatabase combine(const KmerDatabase& one, const KmerDatabase& other, KmerOperation operation,
                     KmerCountRule rule, const KmerSettings& settings, const KmerWork& work,
                     JobControl& control) {
  const int bases = std::min({one.header().prefix, other.header().prefix, 3});
  KmerParts parts(settings, bases, work.memory / 2, work.scratch);
  return with_key(settings.k, [&](auto any) {
    using Key = decltype(any);
    const auto n = std::int64_t{1} << (2 * bases);
    control.expect(n);
    with_rule(rule, [&](auto of_both) {
      const Rule counts(operation, rule, of_both);
      run_tasks(control, work.threads, n, [&](std::int64_t part, const TaskContext& context) {
        const auto at = static_cast<std::size_t>(part);
        std::vector<Counted<Key>> entries(2 * KmerCursor<Key>::kAhead + 1);
        Counted<Key>* to = entries.data();
        const auto put = [&](Key key, std::uint32_t first, std::uint32_t second) {
          *to = {key, counts.combined(first, second)};
          to += to->count > 0;
        };
        const auto pass_on = [&] {
          context.throw_if_stopped();
          parts.add(entries.data(), static_cast<std::size_t>(to - entries.data()));
          to = entries.data();
        };
        merge(cursor_of<Key>(one, at, bases), cursor_of<Key>(other, at, bases), put, pass_on);
        control.advance(1);
      });
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
  std::vector<std::uint64_t> small(1 << 16);  // most counts are small; these need no search
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
    merge(
        KmerCursor<Key>(one), KmerCursor<Key>(other),
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
        },
        [&] { context.throw_if_stopped(); });
  });
  one.check_unchanged();
  other.check_unchanged();
  return sums;
}

}  // namespace ancify
