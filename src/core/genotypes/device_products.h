// Genotypes on devices, and passes of products over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "core/device/backend.h"
#include "core/device/kernels.h"
#include "core/device/memory_pool.h"
#include "core/exec/job_control.h"
#include "core/genotypes/device_ops.h"
#include "core/genotypes/stored_block.h"

namespace ancify {

using ProductOperation = std::variant<VariantSumsOp, SampleSumsOp>;
using ProductKernels = Kernels<ProductOperation>;

class DeviceGenotypes;

struct ProductDevices {
  std::vector<std::unique_ptr<ProductKernels>> kernels;  // empty: the CPU computes products
  std::size_t memory_limit = 0;                          // of each device; see memory_budget()
  std::vector<DeviceGenotypes*> genotypes;               // all that share the devices' memory
};

// The backend's devices; none on the CPU. DeviceError if a device fails.
std::shared_ptr<ProductDevices> open_product_devices(const Backend& backend);

// The samples of a matrix that one device holds. Their genotypes stay in its memory if they fit.
struct DeviceSamples {
  DeviceSamples(ProductKernels& on, std::int64_t first, std::int64_t n)
      : kernels(on), device(on.device()), pool(on.device()), first(first), n(n) {}
  std::size_t stride() const { return static_cast<std::size_t>(quad_stride(n)); }
  bool keeps() const { return kept.data() != nullptr; }
  bool has_all() const {
    return keeps() &&
           std::all_of(is_there.begin(), is_there.end(), [](char is) { return is != 0; });
  }

  ProductKernels& kernels;
  Device& device;
  MemoryPool pool;
  std::int64_t first;
  std::int64_t n;
  DeviceArray<std::uint8_t> kept;  // all blocks, if they fit
  std::vector<char> is_there;      // which of them have been uploaded
  bool may_keep = true;            // false once the memory has been needed elsewhere
};

// The genotypes of a matrix, divided by samples among devices. No other genotypes on these devices
// may be in a pass at the same time.
class DeviceGenotypes {
 public:
  // `layouts`: of all blocks. They must not change afterwards.
  DeviceGenotypes(std::shared_ptr<ProductDevices> devices, std::int64_t samples,
                  const std::vector<BlockLayout>& layouts);
  ~DeviceGenotypes();
  DeviceGenotypes(const DeviceGenotypes&) = delete;
  DeviceGenotypes& operator=(const DeviceGenotypes&) = delete;

 private:
  friend class DevicePass;

  std::int64_t blocks() const { return static_cast<std::int64_t>(first_rows_.size()) - 1; }

  std::shared_ptr<ProductDevices> devices_;
  std::vector<std::size_t> first_rows_;  // of the blocks on a device, and their end
  std::size_t most_rows_ = 0;            // of a block
  std::deque<DeviceSamples> of_devices_;
};

// The operands of a pass.
struct DeviceColumns {
  std::size_t columns = 0;  // integer columns of V; 0 for a pass without V
  // Writes the digits of a column for samples [first, first + n), up to a multiple of 64.
  std::function<void(std::size_t column, std::int64_t first, std::int64_t n, std::int8_t* digits)>
      write_digits;
  std::size_t out_columns = 0;  // 0 for a pass without out
  std::size_t parts = 1;        // integer columns of each
  double* out = nullptr;        // samples x out_columns, to which Z U is added
  std::size_t whole_out() const { return out_columns * parts; }
};

// The destination of a block's coefficients for the second half, laid out for SampleSumsOp.
struct BlockNumbers {
  struct Columns {
    std::int8_t* digits;
    CoefficientScale* scales;
  };
  Columns of_genotypes;
  Columns of_missing;  // if any genotype is missing
  std::uint8_t* any_missing;
};

// One pass. Devices process blocks in tiles; the host computes the coefficients of one tile while
// the devices sum the next. All devices wait for a tile's sums, as each holds a part of them.
class DevicePass {
 public:
  // Allocates memory. DeviceError if a device has too little for a block. `genotypes`, `columns`
  // and `control` must outlive this.
  DevicePass(DeviceGenotypes& genotypes, const DeviceColumns& columns, std::int64_t samples,
             int threads, JobControl& control);
  ~DevicePass();
  DevicePass(const DevicePass&) = delete;
  DevicePass& operator=(const DevicePass&) = delete;

  // Sends V and out to the devices.
  void start();
  // Computes the coefficients of a block (its index in the tile) from its sums over samples:
  // variants x columns, over genotypes and over missing ones. The latter are null if no genotype is
  // missing. Called concurrently for several blocks.
  using Between = std::function<void(std::int64_t block, const std::int64_t* of_genotypes,
                                     const std::int64_t* of_missing, const BlockNumbers& numbers)>;
  void run(const StoredTile& tile, const Between& between);
  // Copies out back.
  void finish();

 private:
  // Memory for the blocks that a device processes together.
  struct Slot {
    DeviceArray<std::uint8_t> rows_here;   // empty if the device has all rows
    DeviceArray<std::uint8_t> rows_there;  // empty if it keeps them
    Mirrored<std::int64_t> sums;           // over genotypes, then over missing ones
    Mirrored<std::int8_t> digits;
    Mirrored<CoefficientScale> scales;
    Mirrored<std::uint8_t> any_missing;
    bool refused_here() const;
    bool refused_there() const;
  };
  // A device in use.
  struct Lane {
    explicit Lane(DeviceSamples& of) : samples(of) {}
    DeviceSamples& samples;
    Mirrored<std::int8_t> digits;
    Mirrored<double> out;
    std::array<Slot, Device::kStreams> slots;
    std::unique_ptr<Event> last;  // end of the latest second half
  };
  // Some blocks of a stored tile, all of calls or all of dosages.
  struct Part {
    const StoredTile* tile;
    std::int64_t first;  // in the tile
    std::int64_t n;
    int stream;
    bool any_missing;
    std::int64_t block() const { return tile->first_block + first; }
    const StoredBlock& stored(std::int64_t i) const {
      return tile->blocks[static_cast<std::size_t>(first + i)];
    }
    bool dosed() const { return stored(0).layout->dosed > 0; }
  };

  std::size_t bytes_of_columns(const DeviceSamples& samples) const;
  std::size_t most_bytes_of_rows(const DeviceSamples& samples) const;
  std::size_t bytes_of_block(const DeviceSamples& samples) const;
  std::size_t bytes_needed(const DeviceSamples& samples, std::int64_t blocks) const;
  std::size_t budget_of(DeviceSamples& samples) const;
  std::int64_t sums_of_block() const;
  void keep_if_room(DeviceSamples& samples);
  bool keep_none();
  void take_memory();
  std::int64_t blocks_that_fit();
  bool take(Lane& lane, std::int64_t blocks);
  [[noreturn]] void throw_too_little();

  void for_each_out_column(const std::function<void(std::size_t column)>& use);
  Part part_of(const StoredTile& tile, std::int64_t first) const;
  static bool is_sent(const Lane& lane, const Part& part, std::int64_t i);
  void fill(const Part& part);
  void send_rows(Lane& lane, const Part& part);
  std::uint8_t* rows_of(const Lane& lane, const Part& part) const;
  DeviceRows genotypes_of(const Lane& lane, const Part& part) const;
  void begin_first_half(const Part& part);
  void begin_second_half(const Part& part, const Between& between);
  void add_sums(const Part& part, std::int64_t i);
  BlockNumbers numbers_of(const Lane& lane, const Part& part, std::int64_t i) const;
  void make_numbers(const Part& part, const Between& between);

  DeviceGenotypes& genotypes_;
  const DeviceColumns& columns_;
  std::int64_t n_;
  int threads_;
  JobControl& control_;
  std::deque<Lane> lanes_;
  std::int64_t blocks_ = 0;  // of a slot
  int stream_ = 0;           // of the next part
  DeviceSamples* short_of_memory_ = nullptr;
  bool host_refused_ = false;
};

}  // namespace ancify
