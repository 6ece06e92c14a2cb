// A trained model laid out for devices, which walk its trees.
#pragma once

#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/calling/tile_trees.h"

namespace ancify {

// The model in one block of memory, for WalkedTrees.
class DeviceTrees {
 public:
  // Throws DeviceError if the model has more than kMostColumns columns.
  explicit DeviceTrees(const MlCaller& ml);
  // The bytes to copy to a device.
  const std::vector<char>& bytes() const { return bytes_; }
  // The trees of a copy of these bytes at `memory`.
  WalkedTrees at(const char* memory) const;

 private:
  WalkedTrees trees_;
  std::vector<char> bytes_;
};

// Calls by boosted trees. Throws like the constructor of DeviceTrees.
DeviceMethod by_trees(const DeviceTrees& trees, int species, bool with_phred);

}  // namespace ancify
