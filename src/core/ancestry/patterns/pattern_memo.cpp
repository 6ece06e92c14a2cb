// The cache of pattern calls, a hash table without locks: two threads may evaluate the same new
// pattern.
#include "core/ancestry/patterns/pattern_memo.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ancify {

namespace {

// States of a slot: empty, being written by a thread, or done (with a call and its error).
constexpr std::uint64_t kEmpty = 0;
constexpr std::uint64_t kBusy = 1;
constexpr std::uint64_t kDone = 2;

constexpr std::uint64_t make_value(char call, std::uint8_t phred) {
  return kDone | std::uint64_t{static_cast<std::uint8_t>(call)} << 8 | std::uint64_t{phred} << 16;
}
constexpr char call_of(std::uint64_t value) { return static_cast<char>(value >> 8 & 0xff); }
constexpr std::uint8_t phred_of(std::uint64_t value) {
  return static_cast<std::uint8_t>(value >> 16 & 0xff);
}

// A pattern that is not within so many slots is not cached.
constexpr std::size_t kProbes = 8;

// Prefetch distance, in positions.
constexpr std::size_t kAhead = 16;

}  // namespace

PatternMemo::PatternMemo(const Method& method, int bits)
    : method_(method),
      keys_(method.species()),
      bits_(bits),
      slot_words_(keys_.words() + 1),
      memory_((std::size_t{1} << bits) * slot_words_ * sizeof(std::uint64_t)),
      slots_(reinterpret_cast<std::uint64_t*>(memory_.data())) {}

// `states` is scratch space, one state a species.
std::uint64_t PatternMemo::evaluate(const std::uint64_t* key, int* states) const {
  keys_.states(key, states);
  const SiteCall site = method_.call(states);
  return make_value(site.call, error_phred(site));
}

// A thread claims a slot by setting its value to busy, writes the key, then sets the final value. A
// reader looks at the key only after it has seen a final value. The atomic builtins of GCC and
// Clang are needed: std::atomic in C++17 cannot use memory that the system has zeroed.
std::uint64_t PatternMemo::look_up(const std::uint64_t* key, std::size_t place, int* states) const {
  const std::size_t words = keys_.words();
  const std::size_t mask = (std::size_t{1} << bits_) - 1;
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    std::uint64_t* const slot = slots_ + ((place + probe) & mask) * slot_words_;
    std::uint64_t* const value = slot + words;
    std::uint64_t seen = __atomic_load_n(value, __ATOMIC_ACQUIRE);
    if (seen == kEmpty) {
      const std::uint64_t result = evaluate(key, states);
      if (__atomic_compare_exchange_n(value, &seen, kBusy, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_ACQUIRE)) {
        std::copy_n(key, words, slot);
        __atomic_store_n(value, result, __ATOMIC_RELEASE);
      }
      return result;
    }
    if (seen != kBusy && std::equal(key, key + words, slot)) return seen;
  }
  return evaluate(key, states);
}

void PatternMemo::apply(const Sites& sites, char* calls, std::uint8_t* phred,
                        SimdLevel level) const {
  const std::size_t words = keys_.words();
  std::vector<int> states(static_cast<std::size_t>(method_.species()));
  std::array<std::size_t, PatternKeys::kStretch> places;
  keys_.for_each_stretch(
      sites, level, [&](std::size_t start, std::size_t n, const std::uint64_t* keys) {
        for (std::size_t i = 0; i < n; ++i) places[i] = hash_of_key(keys + i * words, words, bits_);
        for (std::size_t i = 0; i < n; ++i) {
          if (i + kAhead < n) __builtin_prefetch(slots_ + places[i + kAhead] * slot_words_);
          const std::uint64_t value = look_up(keys + i * words, places[i], states.data());
          calls[start + i] = call_of(value);
          if (phred != nullptr) phred[start + i] = phred_of(value);
        }
      });
}

}  // namespace ancify
