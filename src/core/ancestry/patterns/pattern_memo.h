// Calls by a method if a table of all patterns would be too large: a cache of evaluated patterns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/simd.h"
#include "core/io/memory.h"

namespace ancify {

// Caches a limited number of patterns and evaluates the others each time they occur. The calls do
// not depend on the cache, so they are the same at any number of threads.
class PatternMemo {
 public:
  // `method` must outlive this. Caches at most 2^bits patterns.
  explicit PatternMemo(const Method& method, int bits = 22);
  // Writes a call and, unless `phred` is null, an error_phred() for each site. Thread-safe.
  void apply(const Sites& sites, char* calls, std::uint8_t* phred, SimdLevel level) const;

 private:
  std::uint64_t look_up(const std::uint64_t* key, std::size_t place, int* states) const;
  std::uint64_t evaluate(const std::uint64_t* key, int* states) const;

  const Method& method_;
  PatternKeys keys_;
  int bits_;
  std::size_t slot_words_;
  Memory memory_;
  std::uint64_t* slots_;  // a slot: a key, then its value
};

}  // namespace ancify
