// The genotypes of an analysis, kept in memory or read from their file in each pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/genotypes/device_products.h"
#include "core/genotypes/quads.h"
#include "core/genotypes/stored_block.h"
#include "core/genotypes/variant_moments.h"
#include "core/io/memory.h"

namespace ancify {

// Some blocks of packed genotypes.
struct GenotypeTile {
  std::int64_t first_block;
  std::int64_t blocks;
  const std::uint8_t* bytes;
  std::int64_t block_bytes;  // from one block to the next

  // The quads of the i-th block, quad_stride() bytes each.
  const std::uint8_t* rows(std::int64_t i) const { return bytes + i * block_bytes; }
};

// Settings for processing the genotypes.
struct GenotypeWork {
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
  std::int64_t memory = 0;  // bytes for genotypes; 0 for as many as needed
  bool lists = true;        // stores rare variants as lists of genotypes, if genotypes are kept
  std::shared_ptr<ProductDevices> devices = nullptr;  // devices for products; null for the CPU
};

class GenotypeMatrix {
 public:
  // Reads the selected genotypes once and counts them: dosages, if the file gives them, else calls.
  // A block whose dosages are all whole numbers of copies has calls. Keeps them if they fit in
  // `work.memory`. FormatError and FileError as from GenotypeFile::read(); InputError for an
  // invalid selection, or if the memory does not suffice for a block.
  GenotypeMatrix(std::unique_ptr<GenotypeFile> file, GenotypeSelection selection,
                 const GenotypeWork& work, JobControl& control);

  std::int64_t samples() const { return n_; }
  std::int64_t variants() const { return static_cast<std::int64_t>(variants_.size()); }
  std::int64_t blocks() const { return (variants() + kBlockVariants - 1) / kBlockVariants; }
  int variants_in(std::int64_t block) const;
  // Of variants in blocks of calls.
  const std::vector<VariantCounts>& counts() const { return counts_; }
  const std::vector<VariantMoments>& moments() const { return moments_; }
  bool has_dosages(std::int64_t block) const { return layout(block).dosed > 0; }
  bool any_dosages() const { return dosed_blocks_ > 0; }
  bool any_calls() const { return dosed_blocks_ < blocks(); }
  // The unit of a variant in a block of dosages.
  int unit(std::int64_t variant) const { return units_[static_cast<std::size_t>(variant)]; }
  // Whether the genotypes are kept in memory.
  bool resident() const { return kept_ != nullptr; }
  // The storage layout of a block's variants.
  const BlockLayout& layout(std::int64_t block) const {
    return layouts_[static_cast<std::size_t>(block)];
  }
  const GenotypeWork& work() const { return work_; }
  // The genotypes on devices; null if the CPU computes products. Only one pass
  // at a time may use them.
  DeviceGenotypes* on_devices() const { return on_devices_.get(); }

  // Calls use(tile) for all wanted blocks, in order. A tile is valid until use() returns. Tiles of
  // genotypes in memory may have up to `most_blocks` blocks, even if these exceed the caches.
  // Interrupted between tiles if the job is stopped.
  void for_each_stored_tile(JobControl& control,
                            const std::function<bool(std::int64_t block)>& wanted,
                            const std::function<void(const StoredTile&)>& use,
                            std::int64_t most_blocks = 0) const;

  // As above, with all variants packed. No wanted block may have dosages.
  void for_each_tile(JobControl& control, const std::function<bool(std::int64_t block)>& wanted,
                     const std::function<void(const GenotypeTile&)>& use) const;

 private:
  // The most bytes of a block that was just read.
  std::int64_t block_bytes() const;
  // The bytes that a thread takes to read a block of dosages, beyond the block.
  std::int64_t reading_bytes() const;
  std::uint8_t* in_tile(std::int64_t i) const {
    return reinterpret_cast<std::uint8_t*>(tile_->data() + i * block_bytes());
  }
  std::unique_ptr<Memory> new_tile() const {
    return std::make_unique<Memory>(static_cast<std::size_t>(tile_blocks_ * block_bytes()));
  }
  void read_all(std::int64_t most, JobControl& control);
  void keep_tile(std::int64_t first_block, std::int64_t blocks, std::int64_t most,
                 JobControl& control);
  // Reads a block of known layout: its packed rows or stored dosages.
  void read_block(std::int64_t block, std::uint8_t* out) const;
  // The same for a block of unknown layout. Counts it, and finds the layout if it has dosages.
  void read_first(std::int64_t block, std::uint8_t* out);
  void read_calls(std::int64_t block, std::uint8_t* rows) const;
  DosageRows read_dosages(std::int64_t block) const;
  void pack_dosages(const DosageRows& dosages, std::uint8_t* rows) const;
  void count_calls(std::int64_t block, const std::uint8_t* rows);
  void measure_dosages(std::int64_t block, const DosageRows& dosages);

  std::unique_ptr<GenotypeFile> file_;
  std::vector<std::int64_t> samples_;  // empty for all samples of the file
  std::int64_t n_ = 0;
  std::vector<std::int64_t> variants_;
  GenotypeWork work_;
  std::int64_t tile_blocks_ = 0;  // blocks of a tile
  std::vector<VariantCounts> counts_;
  std::vector<VariantMoments> moments_;
  std::vector<int> units_;  // empty if the file gives no dosages
  std::int64_t dosed_blocks_ = 0;
  std::vector<BlockLayout> layouts_;
  std::unique_ptr<Memory> kept_;          // null if blocks are read in each pass
  std::vector<std::int64_t> offsets_;     // of the kept blocks so far, and their end
  mutable std::unique_ptr<Memory> tile_;  // packed blocks that are read or unpacked; else null
  std::unique_ptr<DeviceGenotypes> on_devices_;
};

}  // namespace ancify
