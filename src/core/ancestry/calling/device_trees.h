// A trained model as devices walk it.
#pragma once

#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/calling/tile_trees.h"

namespace ancify {

class DeviceTrees {
 public:
  // DeviceError if a model's splits see features in more ways than there is room for.
  explicit DeviceTrees(const MlCaller& ml);
  const std::vector<char>& bytes() const { return bytes_; }
  // Of the bytes, wherever a copy of them is.
  WalkedTrees at(const char* memory) const;

 private:
  WalkedTrees trees_;
  std::vector<char> bytes_;
};

// By boosted trees; DeviceTrees says what cannot be.
DeviceMethod by_trees(const DeviceTrees& trees, int species, bool with_phred);

}  // namespace ancify
