// Splits packed calls of two bits into planes of bits, word by word.
#include "core/ld/packed_calls.h"

#include <algorithm>
#include <cstring>

namespace ancify {

namespace {

constexpr std::size_t kCallsOfWord = kWordBits / 2;

// The even bits of a word in its lower half.
std::uint64_t even_bits(std::uint64_t word) {
  word &= 0x5555555555555555U;
  word = (word | word >> 1) & 0x3333333333333333U;
  word = (word | word >> 2) & 0x0f0f0f0f0f0f0f0fU;
  word = (word | word >> 4) & 0x00ff00ff00ff00ffU;
  word = (word | word >> 8) & 0x0000ffff0000ffffU;
  return (word | word >> 16) & 0x00000000ffffffffU;
}

// The calls of samples [first, first + 32), from `bytes` of them.
std::uint64_t word_of_calls(const std::uint8_t* calls, std::size_t first, std::size_t bytes) {
  std::uint64_t word = 0;
  const std::size_t at = first / 4;
  if (at < bytes) std::memcpy(&word, calls + at, std::min(sizeof(word), bytes - at));
  return word;
}

bool are_first_numbers(const std::vector<std::int64_t>& numbers, std::int64_t n) {
  if (static_cast<std::int64_t>(numbers.size()) != n) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (numbers[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

}  // namespace

PackedCalls::PackedCalls(const GenotypeFile& file, const GenotypeSelection& selection)
    : file_(file),
      selection_(selection),
      all_samples_(are_first_numbers(selection.samples, file.samples())),
      words_((selection.samples.size() + 8 * kWordBits - 1) / (8 * kWordBits) * 8) {}

std::int64_t PackedCalls::bytes_of_variant() const {
  return static_cast<std::int64_t>(stride() * sizeof(std::uint64_t) + sizeof(UnitSums));
}

void PackedCalls::keep(std::int64_t begin, std::int64_t end, int threads, JobControl& control) {
  const std::int64_t known = std::clamp(this->end(), begin, end);
  const auto drop = static_cast<std::ptrdiff_t>(std::min(begin, this->end()) - begin_);
  planes_.erase(planes_.begin(), planes_.begin() + drop * static_cast<std::ptrdiff_t>(stride()));
  sums_.erase(sums_.begin(), sums_.begin() + drop);
  begin_ = begin;
  const auto n = static_cast<std::size_t>(end - begin);
  planes_.resize(n * stride());
  sums_.resize(n);
  for_each_range(end - known, std::max<std::int64_t>(1, file_.stride()), threads, control,
                 [&](std::int64_t first, std::int64_t here) {
                   const std::int64_t stride = file_.stride();
                   std::vector<std::uint8_t> calls(static_cast<std::size_t>(here * stride));
                   read_chosen(file_, selection_.variants.data() + known + first, here,
                               calls.data());
                   for (std::int64_t k = 0; k < here; ++k) {
                     pack(known + first + k, calls.data() + k * stride);
                   }
                 });
}

void PackedCalls::pack(std::int64_t variant, const std::uint8_t* calls) {
  const std::size_t n = selection_.samples.size();
  const std::size_t bytes = (n + 3) / 4;
  std::vector<std::uint8_t> picked;
  if (!all_samples_) {
    picked.resize(bytes);
    pick_samples(calls, selection_.samples, picked.data());
    calls = picked.data();
  }
  const auto at = static_cast<std::size_t>(variant - begin_);
  std::uint64_t* const planes = planes_.data() + at * stride();
  UnitSums sums;
  for (std::size_t w = 0; w < words_; ++w) {
    const std::size_t first = w * kWordBits;
    if (first >= n) {
      for (std::size_t plane = 0; plane < kPlanes; ++plane) planes[plane * words_ + w] = 0;
      continue;
    }
    const std::uint64_t left = word_of_calls(calls, first, bytes);
    const std::uint64_t right = word_of_calls(calls, first + kCallsOfWord, bytes);
    const std::uint64_t low = even_bits(left) | even_bits(right) << kCallsOfWord;
    const std::uint64_t high = even_bits(left >> 1) | even_bits(right >> 1) << kCallsOfWord;
    const std::uint64_t filled =
        n - first >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - first)) - 1;
    const std::uint64_t homozygous = filled & ~low;
    const std::uint64_t two = homozygous & high;
    const std::uint64_t called = filled & ~(low & high);
    planes[w] = homozygous;
    planes[words_ + w] = two;
    planes[2 * words_ + w] = called;
    sums.called += __builtin_popcountll(called);
    sums.squares += __builtin_popcountll(homozygous);
    sums.x -= 2 * __builtin_popcountll(two);
  }
  sums.x += sums.squares;
  sums_[at] = sums;
}

}  // namespace ancify
