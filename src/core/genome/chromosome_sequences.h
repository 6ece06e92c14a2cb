// A chromosome and the sequences of several species on it, which are opened when needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/genome/sequence_source.h"

namespace ancify {

struct DeviceRows;  // sequences in a device's memory

// open() gives the sequences of all species, all in one form; no sequences if they are `on_device`.
struct ChromosomeSequences {
  std::string name;
  std::int64_t length;
  std::function<SequenceSources()> open;
  const DeviceRows* on_device = nullptr;
};

}  // namespace ancify
