// Stretches of whole sequences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/genome/stretch.h"

namespace ancify::test {

// A stretch of all n positions of sequences.
inline Stretch whole_stretch(const char* const* species, SequenceForm form, std::size_t n) {
  const auto end = static_cast<std::int64_t>(n);
  return {end, 0, end, 0, species, form};
}

}  // namespace ancify::test
