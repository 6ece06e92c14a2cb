// A method's calls where there are too many patterns for a table: each is evaluated when it first
// occurs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ancestry/patterns/method.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/simd.h"
#include "core/io/memory.h"

namespace ancify {

// Remembers a limited number of patterns, and evaluates the others anew. What it gives does not
// depend on what it remembers, so it is the same at any number of threads.
class PatternMemo {
 public:
  // `method` has to stay. Remembers at most 2^bits patterns.
  explicit PatternMemo(const Method& method, int bits = 22);
  // `phred` may be null. Safe from several threads.
  void apply(const Sites& sites, char* calls, std::uint8_t* phred, SimdLevel level) const;

 private:
  std::uint64_t look_up(const std::uint64_t* key, std::size_t place, int* states) const;
  std::uint64_t evaluate(const std::uint64_t* key, int* states) const;

  const Method& method_;
  PatternKeys keys_;
  int bits_;
  std::size_t slot_words_;
  Memory memory_;
  std::uint64_t* slots_;  // each a key and its value
};

}  // namespace ancify
