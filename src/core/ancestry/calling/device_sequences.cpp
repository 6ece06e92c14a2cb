// Places projected sequences in the memory of devices, and makes the stores that fill it.
#include "core/ancestry/calling/device_sequences.h"

#include <algorithm>
#include <utility>

#include "core/device/uploader.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

std::size_t row_bytes(const Chromosome& chromosome) {
  const auto n = static_cast<std::size_t>(chromosome.length);
  return (n + kPackedGroup - 1) / kPackedGroup * kPackedGroup;
}

// The chromosomes in a device's memory, in order.
struct Placement {
  std::vector<std::size_t> chromosomes;
  std::size_t bytes = 0;
};

class DeviceStore : public SequenceStore {
 public:
  DeviceStore(const DeviceSequences& sequences, std::vector<std::unique_ptr<Uploader>> uploaders,
              std::size_t species, std::unique_ptr<SequenceStore> host, bool host_keeps_all)
      : sequences_(sequences),
        uploaders_(std::move(uploaders)),
        species_(species),
        host_(std::move(host)),
        host_keeps_all_(host_keeps_all) {}

  void write(std::size_t chromosome, std::int64_t position, const char* bases,
             std::size_t n) override {
    const DeviceRows* const rows = sequences_.rows(chromosome);
    if (rows != nullptr) {
      char* const row = rows->bases + species_ * rows->pitch;
      uploaders_[device_of(chromosome, uploaders_.size())]->write(row + position, bases, n);
    }
    if (rows == nullptr || host_keeps_all_) host_->write(chromosome, position, bases, n);
  }

  void commit(const TaskContext& context) override {
    for (const auto& uploader : uploaders_) {
      if (uploader != nullptr) uploader->finish();
    }
    host_->commit(context);
  }
  std::vector<FileChecksum> checksums() const override { return host_->checksums(); }

 private:
  const DeviceSequences& sequences_;
  std::vector<std::unique_ptr<Uploader>> uploaders_;  // by device; null if nothing goes there
  std::size_t species_;
  std::unique_ptr<SequenceStore> host_;
  bool host_keeps_all_;
};

}  // namespace

DeviceSequences::DeviceSequences(const DeviceCallers& callers,
                                 const std::vector<Chromosome>& chromosomes, int species)
    : callers_(callers), memory_(callers.size()), rows_(chromosomes.size()) {
  for (std::size_t device = 0; device < callers.size(); ++device) {
    place(device, chromosomes, static_cast<std::size_t>(species));
  }
}

std::size_t DeviceSequences::size() const {
  return static_cast<std::size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const auto& rows) { return rows.has_value(); }));
}

// Takes one piece of memory for all chromosomes. If it is refused, tries again with half as much.
void DeviceSequences::place(std::size_t device, const std::vector<Chromosome>& chromosomes,
                            std::size_t species) {
  std::size_t budget = callers_[device]->memory_left();
  Placement placed;
  for (;; budget = placed.bytes / 2) {
    placed = {};
    for (std::size_t c = 0; c < chromosomes.size(); ++c) {
      const std::size_t row = row_bytes(chromosomes[c]);
      if (device_of(c, callers_.size()) != device) continue;
      if (row > (budget - placed.bytes) / species) continue;
      placed.chromosomes.push_back(c);
      placed.bytes += species * row;
    }
    if (placed.chromosomes.empty()) {
      memory_[device] = {};  // forgets the refusal
      return;
    }
    memory_[device] = {callers_[device]->pool(), placed.bytes};
    if (!memory_[device].refused()) break;
  }
  // Positions that are never written, or are read beyond a row's end, hold no base.
  Device& on = callers_[device]->pool().device();
  drained_on_failure(on, [&] {
    on.fill(memory_[device].data(), 'N', placed.bytes, 0);
    on.wait(0);
  });
  char* next = memory_[device].data();
  for (const std::size_t c : placed.chromosomes) {
    const std::size_t row = row_bytes(chromosomes[c]);
    rows_[c] = DeviceRows{next, row};
    next += species * row;
  }
}

std::unique_ptr<SequenceStore> DeviceSequences::store(int species,
                                                      std::unique_ptr<SequenceStore> host,
                                                      bool host_keeps_all) const {
  std::vector<std::unique_ptr<Uploader>> uploaders(callers_.size());
  for (std::size_t device = 0; device < callers_.size(); ++device) {
    if (memory_[device].size() == 0) continue;
    uploaders[device] = std::make_unique<Uploader>(callers_[device]->kernels().another_device());
  }
  return std::make_unique<DeviceStore>(*this, std::move(uploaders),
                                       static_cast<std::size_t>(species), std::move(host),
                                       host_keeps_all);
}

}  // namespace ancify
