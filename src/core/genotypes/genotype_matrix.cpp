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

}  // namespace

GenotypeMatrix::GenotypeMatrix(std::unique_ptr<GenotypeFile> file, GenotypeSelection selection,
                               const GenotypeWork& work, JobControl& control)
    : file_(std::move(file)), work_(work), counts_(selection.variants.size()) {
  moments_.resize(counts_.size());
  if (file_->gives_dosages()) units_.resize(counts_.size());
  check_selection(*file_, selection);
  if (file_->gives_dosages()) check_dosed_samples(selection.samples.size());
  n_ = static_cast<std::int64_t>(selection.samples.size());
  samples_ = std::move(selection.samples);
  variants_ = std::move(selection.variants);
  if (is_first_numbers(samples_, file_->samples())) samples_.clear();
  layouts_.resize(static_cast<std::size_t>(blocks()));
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
  tile_ = new_tile();
  read_all(fits ? all : memory - tile_blocks_ * block_bytes(), control);
  if (resident()) tile_.reset();
  file_->check_unchanged();
  dosed_blocks_ = std::count_if(layouts_.begin(), layouts_.end(),
                                [](const BlockLayout& layout) { return layout.dosed > 0; });
  if (work_.devices != nullptr && !work_.devices->kernels.empty()) {
    on_devices_ = std::make_unique<DeviceGenotypes>(work_.devices, n_, layouts_);
  }
}

// Reads all blocks, and keeps them if they take at most `most` bytes. Untouched pages occupy no
// memory.
void GenotypeMatrix::read_all(std::int64_t most, JobControl& control) {
  kept_ = std::make_unique<Memory>(static_cast<std::size_t>(most));
  offsets_ = {0};
  for (std::int64_t first = 0; first < blocks(); first += tile_blocks_) {
    const std::int64_t n = std::min(tile_blocks_, blocks() - first);
    run_tasks(control, work_.threads, n,
              [&](std::int64_t i, const TaskContext&) { read_first(first + i, in_tile(i)); });
    if (resident()) keep_tile(first, n, most, control);
  }
  if (resident()) return;
  for (std::int64_t block = 0; block < blocks(); ++block) {
    if (has_dosages(block)) continue;
    const VariantCounts* const counts = &counts_[static_cast<std::size_t>(block * kBlockVariants)];
    layouts_[static_cast<std::size_t>(block)] = packed_layout(counts, variants_in(block));
  }
}

// Appends blocks to the kept ones, or drops all of them if they do not fit. Once an eighth of the
// space is filled, it drops them early if all blocks, extrapolated from the kept ones, would exceed
// the space 1.5 times. So genotypes that will be read in tiles do not fill it first.
void GenotypeMatrix::keep_tile(std::int64_t first_block, std::int64_t blocks, std::int64_t most,
                               JobControl& control) {
  for (std::int64_t block = first_block; block < first_block + blocks; ++block) {
    const VariantCounts* const counts = &counts_[static_cast<std::size_t>(block * kBlockVariants)];
    BlockLayout& layout = layouts_[static_cast<std::size_t>(block)];
    if (layout.dosed == 0) {
      layout = work_.lists ? listed_layout(counts, variants_in(block), n_)
                           : packed_layout(counts, variants_in(block));
    }
    offsets_.push_back(offsets_.back() + stored_bytes(layout, n_));
  }
  const auto share =
      static_cast<double>(first_block + blocks) / static_cast<double>(this->blocks());
  const auto taken = static_cast<double>(offsets_.back());
  if (taken > static_cast<double>(most) * std::clamp(1.5 * share, 0.125, 1.0)) {
    kept_.reset();
    return;
  }
  run_tasks(control, work_.threads, blocks, [&](std::int64_t i, const TaskContext&) {
    const auto block = static_cast<std::size_t>(first_block + i);
    auto* const out = reinterpret_cast<std::uint8_t*>(kept_->data() + offsets_[block]);
    if (layouts_[block].dosed > 0) {
      std::copy_n(in_tile(i), stored_bytes(layouts_[block], n_), out);
    } else {
      store_block(in_tile(i), layouts_[block], n_, out);
    }
  });
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

void GenotypeMatrix::read_first(std::int64_t block, std::uint8_t* out) {
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

void GenotypeMatrix::measure_dosages(std::int64_t block, const DosageRows& dosages) {
  for (int v = 0; v < dosages.variants(); ++v) {
    const auto variant = static_cast<std::size_t>(block * kBlockVariants + v);
    units_[variant] = dosages.units()[static_cast<std::size_t>(v)];
    moments_[variant] = moments_of(dosages[v], n_, units_[variant]);
  }
  layouts_[static_cast<std::size_t>(block)] =
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

void GenotypeMatrix::count_calls(std::int64_t block, const std::uint8_t* rows) {
  for (int quad = 0; quad * kQuad < variants_in(block); ++quad) {
    const auto counts = count_quad(rows + quad * quad_stride(n_), n_, work_.simd);
    const std::int64_t first = block * kBlockVariants + quad * kQuad;
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(kQuad, variants() - first));
    std::copy_n(counts.begin(), n, counts_.begin() + first);
    std::transform(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n),
                   moments_.begin() + first,
                   [&](const VariantCounts& of) { return moments_of(of, n_); });
  }
}

void GenotypeMatrix::for_each_stored_tile(JobControl& control,
                                          const std::function<bool(std::int64_t block)>& wanted,
                                          const std::function<void(const StoredTile&)>& use,
                                          std::int64_t most_blocks) const {
  const std::int64_t most = resident() ? std::max(most_blocks, tile_blocks_) : tile_blocks_;
  std::int64_t block = 0;
  while (block < blocks()) {
    if (!wanted(block)) {
      ++block;
      continue;
    }
    std::int64_t n = 1;
    while (n < most && block + n < blocks() && wanted(block + n)) ++n;
    TaskContext(control).throw_if_stopped();
    if (!resident()) {
      run_tasks(control, work_.threads, n,
                [&](std::int64_t i, const TaskContext&) { read_block(block + i, in_tile(i)); });
      file_->check_unchanged();
    }
    StoredTile tile = {block, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(block + i);
      const auto* const bytes =
          resident() ? reinterpret_cast<const std::uint8_t*>(kept_->data() + offsets_[at])
                     : in_tile(i);
      tile.blocks.emplace_back(layouts_[at], n_, bytes);
    }
    use(tile);
    block += n;
  }
}

void GenotypeMatrix::for_each_tile(JobControl& control,
                                   const std::function<bool(std::int64_t block)>& wanted,
                                   const std::function<void(const GenotypeTile&)>& use) const {
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
