// Reads blocks of variants on all threads, packs them, and keeps them in their smallest form.
#include "core/genotypes/genotype_matrix.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

namespace ancify {

namespace {

// Bytes of packed genotypes between two barriers; they stay in the threads' caches.
constexpr std::int64_t kTileBytes = std::int64_t{1} << 22;

// The samples to take from rows of calls; as for pack_quad().
struct ChosenSamples {
  std::int64_t in_rows;
  const std::int64_t* numbers;
  std::int64_t n;
};

// Packs a block of `variants` rows of calls.
void pack_rows(const std::vector<std::uint8_t>& calls, int variants, const ChosenSamples& samples,
               std::uint8_t* rows) {
  const std::int64_t stride = (samples.in_rows + 3) / 4;
  for (int quad = 0; quad < kBlockQuads; ++quad) {
    std::array<const std::uint8_t*, kQuad> of_variants{};
    for (int v = 0; v < kQuad; ++v) {
      const int variant = quad * kQuad + v;
      if (variant < variants) {
        of_variants[static_cast<std::size_t>(v)] = calls.data() + variant * stride;
      }
    }
    pack_quad(of_variants, samples.in_rows, samples.numbers, samples.n,
              rows + quad * quad_stride(samples.n));
  }
}

// Sums of dosages of 15 bits times numbers of 29 bits have 64 bits.
void check_dosed_samples(std::size_t n) {
  constexpr std::size_t most = std::size_t{1} << 20;
  if (n > most) {
    throw InputError("there are " + std::to_string(n) + " samples; with dosages, at most " +
                     std::to_string(most) + " are possible");
  }
}

bool is_first_numbers(const std::vector<std::int64_t>& numbers, std::int64_t n) {
  if (static_cast<std::int64_t>(numbers.size()) != n) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (numbers[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

// Calls use(first, n) for runs of at most `most` wanted blocks of [block, end).
template <class Use>
void for_each_run(const GenotypeMatrix::Wanted& wanted, std::int64_t block, std::int64_t end,
                  std::int64_t most, const Use& use) {
  while (block < end) {
    std::int64_t n = 0;
    while (n < most && block + n < end && wanted(block + n)) ++n;
    if (n > 0) use(block, n);
    block += std::max<std::int64_t>(n, 1);
  }
}

}  // namespace

GenotypeMatrix::GenotypeMatrix(std::unique_ptr<GenotypeFile> file, GenotypeSelection selection,
                               const GenotypeWork& work)
    : file_(std::move(file)), work_(work) {
  check_selection(*file_, selection);
  if (file_->gives_dosages()) check_dosed_samples(selection.samples.size());
  n_ = static_cast<std::int64_t>(selection.samples.size());
  samples_ = std::move(selection.samples);
  variants_ = std::move(selection.variants);
  if (is_first_numbers(samples_, file_->samples())) samples_.clear();
  const std::int64_t all = std::max<std::int64_t>(blocks(), 1) * block_bytes();
  tile_blocks_ = std::max<std::int64_t>(work.threads, kTileBytes / block_bytes());
  const std::int64_t memory = work.memory - work.threads * reading_bytes();
  const bool fits = work.memory <= 0 || all <= memory;
  if (!fits) {
    if (memory < block_bytes()) {
      throw InputError("the memory for genotypes has " + std::to_string(work.memory) +
                       " bytes; it must have at least " +
                       std::to_string(block_bytes() + work.threads * reading_bytes()));
    }
    const std::int64_t half = memory / 2 / block_bytes();
    tile_blocks_ = std::min(tile_blocks_, std::max<std::int64_t>(half, 1));
  }
  tile_blocks_ = std::min(tile_blocks_, std::max<std::int64_t>(blocks(), 1));
  most_kept_ = fits ? all : memory - tile_blocks_ * block_bytes();
}

void GenotypeMatrix::read(JobControl& control) const {
  if (is_read()) return;
  read_all(
      control, [](std::int64_t) { return false; }, [](const StoredTile&) {});
}

// Keeps the blocks if they take at most `most_kept_` bytes. Untouched pages occupy no memory.
// Starts afresh if an earlier first pass was stopped.
void GenotypeMatrix::read_all(JobControl& control, const Wanted& wanted,
                              const UseStored& use) const {
  contents_ = {};
  contents_.counts.resize(variants_.size());
  contents_.moments.resize(variants_.size());
  if (file_->gives_dosages()) contents_.units.resize(variants_.size());
  contents_.layouts.resize(static_cast<std::size_t>(blocks()));
  contents_.kept = std::make_unique<Memory>(static_cast<std::size_t>(most_kept_));
  contents_.offsets = {0};
  tile_ = new_tile();
  will_read(0);
  for (std::int64_t first = 0; first < blocks(); first += tile_blocks_) {
    const std::int64_t end = std::min(first + tile_blocks_, blocks());
    will_read(end);
    read_first_tile(first, end - first, control);
    for_each_run(wanted, first, end, tile_blocks_, [&](std::int64_t block, std::int64_t n) {
      use(tile_of(block, n, block - first));
    });
  }
  file_->check_unchanged();
  if (resident()) tile_.reset();
  contents_.dosed_blocks =
      std::count_if(contents_.layouts.begin(), contents_.layouts.end(),
                    [](const BlockLayout& layout) { return layout.dosed > 0; });
  if (work_.devices != nullptr && !work_.devices->kernels.empty()) {
    contents_.on_devices = std::make_unique<DeviceGenotypes>(work_.devices, n_, contents_.layouts);
  }
  contents_.is_complete = true;
}

void GenotypeMatrix::read_first_tile(std::int64_t first_block, std::int64_t blocks,
                                     JobControl& control) const {
  TaskContext(control).throw_if_stopped();
  run_tasks(control, work_.threads, blocks,
            [&](std::int64_t i, const TaskContext&) { read_first(first_block + i, in_tile(i)); });
  if (resident()) {
    keep_tile(first_block, blocks, control);
  } else {
    pack_layouts(first_block, first_block + blocks);
  }
}

// Appends blocks to the kept ones, or drops all of them if they do not fit. Once an eighth of the
// space is filled, it drops them early if all blocks, extrapolated from the kept ones, would exceed
// the space 1.5 times. So genotypes that will be read in tiles do not fill it first.
void GenotypeMatrix::keep_tile(std::int64_t first_block, std::int64_t blocks,
                               JobControl& control) const {
  std::vector<std::int64_t>& offsets = contents_.offsets;
  for (std::int64_t block = first_block; block < first_block + blocks; ++block) {
    const VariantCounts* const of_block =
        &counts()[static_cast<std::size_t>(block * kBlockVariants)];
    BlockLayout& layout = contents_.layouts[static_cast<std::size_t>(block)];
    if (layout.dosed == 0) {
      layout = work_.lists ? listed_layout(of_block, variants_in(block), n_)
                           : packed_layout(of_block, variants_in(block));
    }
    offsets.push_back(offsets.back() + stored_bytes(layout, n_));
  }
  const auto share =
      static_cast<double>(first_block + blocks) / static_cast<double>(this->blocks());
  const auto taken = static_cast<double>(offsets.back());
  if (taken > static_cast<double>(most_kept_) * std::clamp(1.5 * share, 0.125, 1.0)) {
    contents_.kept.reset();
    return pack_layouts(0, first_block + blocks);
  }
  run_tasks(control, work_.threads, blocks, [&](std::int64_t i, const TaskContext&) {
    const auto block = static_cast<std::size_t>(first_block + i);
    auto* const out = reinterpret_cast<std::uint8_t*>(contents_.kept->data() + offsets[block]);
    const BlockLayout& layout = contents_.layouts[block];
    if (layout.dosed > 0) {
      std::copy_n(in_tile(i), stored_bytes(layout, n_), out);
    } else {
      store_block(in_tile(i), layout, n_, out);
    }
  });
}

// The layouts of blocks of calls that are not kept.
void GenotypeMatrix::pack_layouts(std::int64_t first_block, std::int64_t end) const {
  for (std::int64_t block = first_block; block < end; ++block) {
    if (has_dosages(block)) continue;
    contents_.layouts[static_cast<std::size_t>(block)] = packed_layout(
        &counts()[static_cast<std::size_t>(block * kBlockVariants)], variants_in(block));
  }
}

int GenotypeMatrix::variants_in(std::int64_t block) const {
  return static_cast<int>(
      std::min<std::int64_t>(kBlockVariants, variants() - block * kBlockVariants));
}

std::int64_t GenotypeMatrix::block_bytes() const {
  const std::int64_t packed = kBlockQuads * quad_stride(n_);
  if (!file_->gives_dosages()) return packed;
  // All dosages may be missing.
  return stored_bytes(dosed_layout(kBlockVariants, kMostUnit, kBlockVariants * n_), n_);
}

std::int64_t GenotypeMatrix::reading_bytes() const {
  if (!file_->gives_dosages()) return 0;
  const std::int64_t rows = file_->samples() + (samples_.empty() ? 0 : n_);
  return kBlockVariants * rows * static_cast<std::int64_t>(sizeof(Dosage));
}

void GenotypeMatrix::read_block(std::int64_t block, std::uint8_t* out) const {
  if (!file_->gives_dosages()) return read_calls(block, out);
  DosageRows dosages = read_dosages(block);
  if (!has_dosages(block)) return pack_dosages(dosages, out);
  dosages.share_unit();
  store_dosages(dosages, layout(block), out);
}

void GenotypeMatrix::read_first(std::int64_t block, std::uint8_t* out) const {
  if (!file_->gives_dosages()) {
    read_calls(block, out);
    return count_calls(block, out);
  }
  DosageRows dosages = read_dosages(block);
  if (dosages.are_calls()) {
    pack_dosages(dosages, out);
    return count_calls(block, out);
  }
  dosages.share_unit();
  measure_dosages(block, dosages);
  store_dosages(dosages, layout(block), out);
}

DosageRows GenotypeMatrix::read_dosages(std::int64_t block) const {
  const int n = variants_in(block);
  const std::int64_t* const wanted = variants_.data() + block * kBlockVariants;
  DosageRows of_file(file_->samples(), n);
  read_chosen_dosages(*file_, wanted, n, of_file[0], of_file.units().data());
  if (samples_.empty()) return of_file;
  DosageRows chosen(n_, n);
  chosen.units() = of_file.units();
  for (int v = 0; v < n; ++v) {
    const Dosage* const from = of_file[v];
    std::transform(samples_.begin(), samples_.end(), chosen[v],
                   [from](std::int64_t i) { return from[i]; });
  }
  return chosen;
}

void GenotypeMatrix::pack_dosages(const DosageRows& dosages, std::uint8_t* rows) const {
  const std::int64_t stride = (n_ + 3) / 4;
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(dosages.variants() * stride));
  for (int v = 0; v < dosages.variants(); ++v) dosages.write_calls(v, calls.data() + v * stride);
  pack_rows(calls, dosages.variants(), {n_, nullptr, n_}, rows);
}

void GenotypeMatrix::measure_dosages(std::int64_t block, const DosageRows& dosages) const {
  for (int v = 0; v < dosages.variants(); ++v) {
    const auto variant = static_cast<std::size_t>(block * kBlockVariants + v);
    contents_.units[variant] = dosages.units()[static_cast<std::size_t>(v)];
    contents_.moments[variant] = moments_of(dosages[v], n_, contents_.units[variant]);
  }
  contents_.layouts[static_cast<std::size_t>(block)] =
      dosed_layout(dosages.variants(), dosages.largest_unit(), dosages.missing());
}

void GenotypeMatrix::read_calls(std::int64_t block, std::uint8_t* rows) const {
  const int n = variants_in(block);
  const std::int64_t* const wanted = variants_.data() + block * kBlockVariants;
  const std::int64_t stride = file_->stride();
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(n * stride));
  read_chosen(*file_, wanted, n, calls.data());
  const std::int64_t* const samples = samples_.empty() ? nullptr : samples_.data();
  pack_rows(calls, n, {file_->samples(), samples, n_}, rows);
}

void GenotypeMatrix::count_calls(std::int64_t block, const std::uint8_t* rows) const {
  for (int quad = 0; quad * kQuad < variants_in(block); ++quad) {
    const auto counts = count_quad(rows + quad * quad_stride(n_), n_, work_.simd);
    const std::int64_t first = block * kBlockVariants + quad * kQuad;
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(kQuad, variants() - first));
    std::copy_n(counts.begin(), n, contents_.counts.begin() + first);
    std::transform(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n),
                   contents_.moments.begin() + first,
                   [&](const VariantCounts& of) { return moments_of(of, n_); });
  }
}

StoredTile GenotypeMatrix::tile_of(std::int64_t first_block, std::int64_t blocks,
                                   std::int64_t at) const {
  StoredTile tile = {first_block, {}};
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto block = static_cast<std::size_t>(first_block + i);
    const auto* const bytes = resident() ? reinterpret_cast<const std::uint8_t*>(
                                               contents_.kept->data() + contents_.offsets[block])
                                         : in_tile(at + i);
    tile.blocks.emplace_back(contents_.layouts[block], n_, bytes);
  }
  return tile;
}

void GenotypeMatrix::will_read(std::int64_t first_block) const {
  const std::int64_t first = first_block * kBlockVariants;
  const std::int64_t n = std::min(tile_blocks_ * kBlockVariants, variants() - first);
  if (n > 0) will_read_chosen(*file_, variants_.data() + first, n);
}

void GenotypeMatrix::for_each_stored_tile(JobControl& control, const Wanted& wanted,
                                          const UseStored& use, std::int64_t most_blocks) const {
  if (!is_read()) return read_all(control, wanted, use);
  const std::int64_t most = resident() ? std::max(most_blocks, tile_blocks_) : tile_blocks_;
  for_each_run(wanted, 0, blocks(), most, [&](std::int64_t block, std::int64_t n) {
    TaskContext(control).throw_if_stopped();
    if (!resident()) {
      will_read(block + n);
      run_tasks(control, work_.threads, n,
                [&](std::int64_t i, const TaskContext&) { read_block(block + i, in_tile(i)); });
      file_->check_unchanged();
    }
    use(tile_of(block, n, 0));
  });
}

void GenotypeMatrix::for_each_tile(JobControl& control, const Wanted& wanted,
                                   const std::function<void(const GenotypeTile&)>& use) const {
  read(control);
  for_each_stored_tile(control, wanted, [&](const StoredTile& tile) {
    const auto n = static_cast<std::int64_t>(tile.blocks.size());
    if (resident()) {
      if (tile_ == nullptr) tile_ = new_tile();
      run_tasks(control, work_.threads, n, [&](std::int64_t i, const TaskContext&) {
        unpack_block(tile.blocks[static_cast<std::size_t>(i)], 0, n_, quad_stride(n_), in_tile(i));
      });
    }
    use({tile.first_block, n, in_tile(0), block_bytes()});
  });
}

}  // namespace ancify
