// Projected sequences in the memory of the devices that will call them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// Each chromosome belongs to one device, in turn; those that do not fit the memory that its caller
// leaves there stay with the host.
class DeviceSequences {
 public:
  // The callers have to stay.
  DeviceSequences(const DeviceCallers& callers, const std::vector<Chromosome>& chromosomes,
                  int species);

  // Null for a chromosome that stays with the host.
  const DeviceRows* rows(std::size_t chromosome) const {
    return rows_[chromosome] ? &*rows_[chromosome] : nullptr;
  }
  // How many are on devices.
  std::size_t size() const;

  // Where to build the sequences of a species; this has to stay. What stays with the host goes to
  // `host`, or all if it keeps the others too. DeviceError where a device fails.
  std::unique_ptr<SequenceStore> store(int species, std::unique_ptr<SequenceStore> host,
                                       bool host_keeps_all) const;

 private:
  void place(std::size_t device, const std::vector<Chromosome>& chromosomes, std::size_t species);

  const DeviceCallers& callers_;
  std::vector<DeviceArray<char>> memory_;        // of each device
  std::vector<std::optional<DeviceRows>> rows_;  // of each chromosome
};

}  // namespace ancify
