// Four variants occupy one byte per sample, so they have at most 256 patterns. A group takes in the
// next four variants while the combined patterns of its samples remain few.
#include "core/genotypes/call_patterns.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ancify {

namespace {

// The most patterns of a group of more than four variants. A higher limit makes longer groups, but
// the cost of a group grows with the square of its patterns. In mice, 48 to 96 were equally fast.
constexpr std::size_t kMostPatterns = 64;
constexpr std::size_t kBytes = 256;

// The pattern of each sample, numbered in order of first occurrence.
struct NumberedSamples {
  std::vector<std::uint8_t> of_sample;
  std::vector<std::int64_t> first;  // the first sample of each pattern
};

class Numbering {
 public:
  explicit Numbering(std::int64_t n) : n_(n), number_of_(kMostPatterns * kBytes, kNone) {}

  // Numbers the keys key_of(sample). Returns false for more than `most` distinct keys.
  template <class KeyOf>
  bool number(std::size_t most, KeyOf&& key_of, NumberedSamples& out) {
    out.of_sample.resize(static_cast<std::size_t>(quad_stride(n_)));
    out.first.clear();
    bool are_few = true;
    for (std::int64_t i = 0; i < n_ && are_few; ++i) {
      std::int16_t& number = number_of_[key_of(static_cast<std::size_t>(i))];
      if (number == kNone) {
        number = static_cast<std::int16_t>(out.first.size());
        out.first.push_back(i);
        are_few = out.first.size() <= most;
      }
      out.of_sample[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number);
    }
    for (const std::int64_t i : out.first) number_of_[key_of(static_cast<std::size_t>(i))] = kNone;
    return are_few;
  }

 private:
  static constexpr std::int16_t kNone = -1;

  std::int64_t n_;
  std::vector<std::int16_t> number_of_;  // of each key
};

// One byte per sample, for up to four variants: their row, or a copy in `made`.
const std::uint8_t* bytes_of(const std::uint8_t* rows, std::int64_t n, const std::uint8_t* variants,
                             std::size_t count, std::vector<std::uint8_t>& made) {
  const auto row_of = [&](std::uint8_t variant) { return rows + variant / kQuad * quad_stride(n); };
  if (count == kQuad && variants[0] % kQuad == 0 && variants[3] == variants[0] + 3) {
    return row_of(variants[0]);
  }
  made.assign(static_cast<std::size_t>(n), 0);
  for (std::size_t v = 0; v < count; ++v) {
    const std::uint8_t* const row = row_of(variants[v]);
    const int place = variants[v] % kQuad;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<std::uint8_t>(made[i] | call_in_quad(row[i], place) << (2 * v));
    }
  }
  return made.data();
}

CallPatterns with_calls(const std::uint8_t* rows, std::int64_t n, NumberedSamples samples,
                        std::vector<std::uint8_t> variants) {
  CallPatterns group;
  group.count = static_cast<int>(samples.first.size());
  for (const std::uint8_t variant : variants) {
    const std::uint8_t* const row = rows + variant / kQuad * quad_stride(n);
    for (const std::int64_t sample : samples.first) {
      group.calls.push_back(static_cast<std::uint8_t>(call_in_quad(row[sample], variant % kQuad)));
    }
  }
  group.numbers = std::move(samples.of_sample);
  group.variants = std::move(variants);
  return group;
}

}  // namespace

std::vector<CallPatterns> find_patterns(const std::uint8_t* rows, std::int64_t n,
                                        const std::vector<std::uint8_t>& variants) {
  std::vector<CallPatterns> groups;
  Numbering numbering(n);
  NumberedSamples group;
  NumberedSamples longer;
  std::vector<std::uint8_t> members;
  std::vector<std::uint8_t> made;
  const auto end_group = [&] {
    if (!members.empty()) {
      groups.push_back(with_calls(rows, n, std::move(group), std::move(members)));
    }
    members.clear();
  };
  for (std::size_t at = 0; at < variants.size(); at += kQuad) {
    const std::size_t count = std::min<std::size_t>(kQuad, variants.size() - at);
    const std::uint8_t* const bytes = bytes_of(rows, n, &variants[at], count, made);
    const auto pair_at = [&](std::size_t i) { return group.of_sample[i] * kBytes + bytes[i]; };
    const bool may_join = !members.empty() && group.first.size() <= kMostPatterns;
    if (may_join && numbering.number(kMostPatterns, pair_at, longer)) {
      std::swap(group, longer);
    } else {
      end_group();
      numbering.number(
          kBytes, [&](std::size_t i) { return bytes[i]; }, group);
    }
    members.insert(members.end(), &variants[at], &variants[at] + count);
  }
  end_group();
  return groups;
}

void values_of_patterns(const CallPatterns& patterns, int variant,
                        const std::array<double, 4>& of_call, double* values) {
  const std::uint8_t* const calls =
      patterns.calls.data() + static_cast<std::ptrdiff_t>(variant) * patterns.count;
  for (int q = 0; q < patterns.count; ++q) values[q] = of_call[calls[q]];
}

}  // namespace ancify
