// The genotypes of an analysis, kept in memory or read from their file in each pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
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
  // Reads nothing yet: the first pass of for_each_stored_tile() reads all genotypes and counts
  // them, as read() does. InputError for an invalid selection, or if the memory does not suffice
  // for a block.
  GenotypeMatrix(std::unique_ptr<GenotypeFile> file, GenotypeSelection selection,
                 const GenotypeWork& work);
  // Reads the selected genotypes.
  GenotypeMatrix(std::unique_ptr<GenotypeFile> file, GenotypeSelection selection,
                 const GenotypeWork& work, JobControl& control)
      : GenotypeMatrix(std::move(file), std::move(selection), work) {
    read(control);
  }

  // Reads the selected genotypes and counts them, unless they have been read: dosages, if the file
  // gives them, else calls. A block whose dosages are all whole numbers of copies has calls. Keeps
  // them if they fit in `work.memory`. FormatError and FileError as from GenotypeFile::read().
  void read(JobControl& control) const;
  bool is_read() const { return contents_.is_complete; }

  std::int64_t samples() const { return n_; }
  std::int64_t variants() const { return static_cast<std::int64_t>(variants_.size()); }
  std::int64_t blocks() const { return (variants() + kBlockVariants - 1) / kBlockVariants; }
  int variants_in(std::int64_t block) const;
  const GenotypeWork& work() const { return work_; }

  // Known once the genotypes are read; in the first pass, of the blocks that have been used.
  // Of variants in blocks of calls.
  const std::vector<VariantCounts>& counts() const { return contents_.counts; }
  const std::vector<VariantMoments>& moments() const { return contents_.moments; }
  bool has_dosages(std::int64_t block) const { return layout(block).dosed > 0; }
  // The unit of a variant in a block of dosages.
  int unit(std::int64_t variant) const {
    return contents_.units[static_cast<std::size_t>(variant)];
  }
  // The storage layout of a block's variants.
  const BlockLayout& layout(std::int64_t block) const {
    return contents_.layouts[static_cast<std::size_t>(block)];
  }
  // True if the genotypes are kept in memory.
  bool resident() const { return contents_.kept != nullptr; }
  // True if any block has dosages, or calls. Before the genotypes are read, whether any may.
  bool any_dosages() const {
    return is_read() ? contents_.dosed_blocks > 0 : file_->gives_dosages();
  }
  bool any_calls() const { return !is_read() || contents_.dosed_blocks < blocks(); }
  // The genotypes on devices; null if the CPU computes products, or before the genotypes are read.
  // Only one pass at a time may use them.
  DeviceGenotypes* on_devices() const { return contents_.on_devices.get(); }

  using Wanted = std::function<bool(std::int64_t block)>;
  using UseStored = std::function<void(const StoredTile&)>;

  // Calls use(tile) for all wanted blocks, in order. A tile is valid until use() returns. Tiles of
  // genotypes in memory may have up to `most_blocks` blocks, even if these exceed the caches.
  // Interrupted between tiles if the job is stopped. The first pass asks wanted(block) when it has
  // counted the block.
  void for_each_stored_tile(JobControl& control, const Wanted& wanted, const UseStored& use,
                            std::int64_t most_blocks = 0) const;

  // As above, with all variants packed. No wanted block may have dosages. Reads the genotypes
  // beforehand.
  void for_each_tile(JobControl& control, const Wanted& wanted,
                     const std::function<void(const GenotypeTile&)>& use) const;

 private:
  // The results of reading, and the genotypes if they are kept.
  struct Contents {
    std::vector<VariantCounts> counts;
    std::vector<VariantMoments> moments;
    std::vector<int> units;  // empty if the file gives no dosages
    std::vector<BlockLayout> layouts;
    std::int64_t dosed_blocks = 0;
    std::unique_ptr<Memory> kept;       // null if blocks are read in each pass
    std::vector<std::int64_t> offsets;  // of the kept blocks so far, and their end
    std::unique_ptr<DeviceGenotypes> on_devices;
    bool is_complete = false;
  };

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
  // The first pass.
  void read_all(JobControl& control, const Wanted& wanted, const UseStored& use) const;
  void read_first_tile(std::int64_t first_block, std::int64_t blocks, JobControl& control) const;
  void keep_tile(std::int64_t first_block, std::int64_t blocks, JobControl& control) const;
  void pack_layouts(std::int64_t first_block, std::int64_t end) const;
  // Asks for the blocks of the tile from `first_block` on, which will be read soon.
  void will_read(std::int64_t first_block) const;
  // Some blocks, kept or in the tile from its block `at` on.
  StoredTile tile_of(std::int64_t first_block, std::int64_t blocks, std::int64_t at) const;
  // Reads a block of known layout: its packed rows or stored dosages.
  void read_block(std::int64_t block, std::uint8_t* out) const;
  // Reads a block of unknown layout. Counts it, and finds the layout if it has dosages.
  void read_first(std::int64_t block, std::uint8_t* out) const;
  void read_calls(std::int64_t block, std::uint8_t* rows) const;
  DosageRows read_dosages(std::int64_t block) const;
  void pack_dosages(const DosageRows& dosages, std::uint8_t* rows) const;
  void count_calls(std::int64_t block, const std::uint8_t* rows) const;
  void measure_dosages(std::int64_t block, const DosageRows& dosages) const;

  std::unique_ptr<GenotypeFile> file_;
  std::vector<std::int64_t> samples_;  // empty for all samples of the file
  std::int64_t n_ = 0;
  std::vector<std::int64_t> variants_;
  GenotypeWork work_;
  std::int64_t tile_blocks_ = 0;  // blocks of a tile
  std::int64_t most_kept_ = 0;    // bytes of genotypes to keep
  mutable Contents contents_;
  mutable std::unique_ptr<Memory> tile_;  // packed blocks that are read or unpacked; else null
};

}  // namespace ancify
