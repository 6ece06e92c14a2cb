// Keeps projected sequences in the memory of the devices that will call them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/genome/lengths.h"
#include "core/genome/sequence_store.h"

namespace ancify {

// Assigns chromosomes to devices in turn. A chromosome stays on the host if it does not fit the
// memory that its device's caller leaves.
class DeviceSequences {
 public:
  // `callers` must outlive this. `species`: the number of sequences of a chromosome.
  DeviceSequences(const DeviceCallers& callers, const std::vector<Chromosome>& chromosomes,
                  int species);

  // The place of a chromosome; null if it stays on the host.
  const DeviceRows* rows(std::size_t chromosome) const {
    return rows_[chromosome] ? &*rows_[chromosome] : nullptr;
  }
  // The number of chromosomes on devices.
  std::size_t size() const;

  // The store for the sequences of a species; this must outlive it. Chromosomes on the host go to
  // `host`, and with `host_keeps_all` the others do too. DeviceError if a device fails.
  std::unique_ptr<SequenceStore> store(int species, std::unique_ptr<SequenceStore> host,
                                       bool host_keeps_all) const;

 private:
  void place(std::size_t device, const std::vector<Chromosome>& chromosomes, std::size_t species);

  const DeviceCallers& callers_;
  std::vector<DeviceArray<char>> memory_;        // by device
  std::vector<std::optional<DeviceRows>> rows_;  // by chromosome
};

}  // namespace ancify
