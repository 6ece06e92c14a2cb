// A chromosome and the sequences of several species on it, which are opened when needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/genome/sequence_source.h"

namespace ancify {

// open() returns the sequences of all species, all in one form.
struct ChromosomeSequences {
  std::string name;
  std::int64_t length;
  std::function<SequenceSources()> open;
};

}  // namespace ancify
