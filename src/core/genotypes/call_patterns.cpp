// Four variants are a byte of each sample, so at most 256 patterns. A group takes the next four
// variants as long as the pairs of patterns that samples have remain few.
#include "core/genotypes/call_patterns.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ancify {

namespace {

// Patterns of a group of more than four variants. More of them make longer groups, but a group
// costs the square of its patterns too. Measured with mice, 48 to 96 are as fast.
constexpr std::size_t kMostPatterns = 64;
constexpr std::size_t kBytes = 256;

// Samples with the patterns that they have, in the order in which these are met.
struct NumberedSamples {
  std::vector<std::uint8_t> of_sample;
  std::vector<std::int64_t> first;  // the first sample of each pattern
};

// Numbers what key_of(sample) gives, which is below `keys`. False if there are more than `most`.
template <class KeyOf>
bool number_samples(std::int64_t n, std::size_t keys, std::size_t most, KeyOf&& key_of,
                    NumberedSamples& out) {
  std::vector<std::int16_t> number_of(keys, -1);
  out.of_sample.assign(static_cast<std::size_t>(quad_stride(n)), 0);
  out.first.clear();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int16_t& number = number_of[key_of(static_cast<std::size_t>(i))];
    if (number < 0) {
      if (out.first.size() == most) return false;
      number = static_cast<std::int16_t>(out.first.size());
      out.first.push_back(i);
    }
    out.of_sample[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number);
  }
  return true;
}

// The samples by the patterns of both. False if these are many.
bool join(const NumberedSamples& a, const NumberedSamples& b, std::int64_t n,
          NumberedSamples& both) {
  const std::size_t width = b.first.size();
  if (std::max(a.first.size(), width) > kMostPatterns) return false;
  const auto pair_of = [&](std::size_t i) { return a.of_sample[i] * width + b.of_sample[i]; };
  return number_samples(n, a.first.size() * width, kMostPatterns, pair_of, both);
}

// A byte for each sample, of up to four variants: their row, or a copy in `made`.
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
      group.calls.push_back(
          static_cast<std::uint8_t>(call_in_quad(row[sample], variant % kQuad)));
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
  NumberedSamples group;
  std::vector<std::uint8_t> members;
  NumberedSamples four;
  NumberedSamples both;
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
    number_samples(n, kBytes, kBytes, [&](std::size_t i) { return bytes[i]; }, four);
    if (!members.empty() && join(group, four, n, both)) {
      std::swap(group, both);
    } else {
      end_group();
      std::swap(group, four);
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
