// Each device holds some samples of all variants. Sums over samples are therefore added over
// devices, as integers. The second half of a sample adds its blocks in order, on one device.
#include "core/genotypes/device_products.h"

#include <algorithm>
#include <utility>

#include "core/device/tiles.h"
#include "core/exec/threads.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/product_kernels.h"
#endif

namespace ancify {

namespace {

// Device memory in bytes for blocks that are processed together.
constexpr std::size_t kSlotBytes = std::size_t{1} << 26;

std::size_t as_size(std::int64_t n) { return static_cast<std::size_t>(n); }

// Writes the bytes of `n` dosages, none of which is missing.
void split_dosages(const Dosage* dosages, std::int64_t n, std::uint8_t* high, std::uint8_t* low) {
  for (std::int64_t i = 0; i < n; ++i) {
    low[i] = static_cast<std::uint8_t>(dosages[i]);
    high[i] = static_cast<std::uint8_t>((dosages[i] + kDosageBase / 2) >> 8);
  }
}

// Writes a block of dosages in the devices' layout, as unpack_block() does for calls.
void split_block(const StoredBlock& block, std::int64_t first, std::int64_t n, std::int64_t stride,
                 std::uint8_t* rows) {
  for (std::int64_t v = 0; v < kBlockVariants; ++v) {
    std::uint8_t* const high = rows + v * stride;
    std::uint8_t* const low = high + kBlockVariants * stride;
    const std::int64_t there = v < block.layout->dosed ? n : 0;
    split_dosages(block.dosages + v * quad_stride(block.samples) + first, there, high, low);
    std::fill(high + there, high + stride, std::uint8_t{0});
    std::fill(low + there, low + stride, std::uint8_t{0});
  }
  for_each_missing_dosage(block, first, n, [&](std::int64_t variant, std::int64_t sample) {
    std::uint8_t* const high = rows + variant * stride + sample - first;
    *high = kMissingHigh;
    high[kBlockVariants * stride] = static_cast<std::uint8_t>(kMissingCall);
  });
}

}  // namespace

std::shared_ptr<ProductDevices> open_product_devices(const Backend& backend) {
  check_usable_here(backend);
  auto devices = std::make_shared<ProductDevices>();
  devices->memory_limit = backend.gpu_memory;
#ifdef ANCIFY_HAVE_CUDA
  for (const int number : backend.devices) {
    devices->kernels.push_back(cuda::open_product_kernels(number, number / backend.gpus_per_card));
  }
#endif
  return devices;
}

DeviceGenotypes::DeviceGenotypes(std::shared_ptr<ProductDevices> devices, std::int64_t samples,
                                 const std::vector<BlockLayout>& layouts)
    : devices_(std::move(devices)), first_rows_{0} {
  for (const BlockLayout& layout : layouts) {
    const std::size_t rows = device_rows(layout.dosed > 0);
    first_rows_.push_back(first_rows_.back() + rows);
    most_rows_ = std::max(most_rows_, rows);
  }
  const auto number = static_cast<std::int64_t>(devices_->kernels.size());
  const std::int64_t lanes = (lanes_of(samples) + number - 1) / number;
  for (std::int64_t d = 0; d < number; ++d) {
    const std::int64_t first = d * lanes * kLaneSamples;
    const std::int64_t n = std::min(lanes * kLaneSamples, samples - first);
    if (n > 0) of_devices_.emplace_back(*devices_->kernels[as_size(d)], first, n);
  }
  devices_->genotypes.push_back(this);
}

DeviceGenotypes::~DeviceGenotypes() {
  auto& all = devices_->genotypes;
  all.erase(std::find(all.begin(), all.end(), this));
}

// ---- Memory -------------------------------------------------------------------------------------

bool DevicePass::Slot::refused_here() const {
  return rows_here.refused() || sums.here.refused() || digits.here.refused() ||
         scales.here.refused() || any_missing.here.refused();
}

bool DevicePass::Slot::refused_there() const {
  return rows_there.refused() || sums.there.refused() || digits.there.refused() ||
         scales.there.refused() || any_missing.there.refused();
}

DevicePass::DevicePass(DeviceGenotypes& genotypes, const DeviceColumns& columns,
                       std::int64_t samples, int threads, JobControl& control)
    : genotypes_(genotypes), columns_(columns), n_(samples), threads_(threads), control_(control) {
  for (DeviceSamples& of_device : genotypes.of_devices_) lanes_.emplace_back(of_device);
  take_memory();
}

// After a failure, queued work may still use the memory.
DevicePass::~DevicePass() {
  for (Lane& lane : lanes_) lane.samples.device.drain();
}

// Bytes of V and out.
std::size_t DevicePass::bytes_of_columns(const DeviceSamples& samples) const {
  return samples.stride() *
         (columns_.columns * as_size(kNumberDigits) + columns_.out_columns * sizeof(double));
}

// The number of a block's sums over genotypes, or over missing ones.
std::int64_t DevicePass::sums_of_block() const {
  return kBlockVariants * static_cast<std::int64_t>(columns_.columns);
}

// Bytes of the rows of a block that has the most.
std::size_t DevicePass::most_bytes_of_rows(const DeviceSamples& samples) const {
  return genotypes_.most_rows_ * samples.stride();
}

// Bytes of a block in a slot.
std::size_t DevicePass::bytes_of_block(const DeviceSamples& samples) const {
  return (samples.keeps() ? 0 : most_bytes_of_rows(samples)) +
         2 * as_size(sums_of_block()) * sizeof(std::int64_t) +
         2 * columns_.whole_out() * (kBlockDigits + sizeof(CoefficientScale)) + 1;
}

std::size_t DevicePass::bytes_needed(const DeviceSamples& samples, std::int64_t blocks) const {
  return bytes_of_columns(samples) + Device::kStreams * as_size(blocks) * bytes_of_block(samples);
}

// Bytes available to the pass beyond the rows that the device keeps.
std::size_t DevicePass::budget_of(DeviceSamples& samples) const {
  return memory_budget(samples.pool, genotypes_.devices_->memory_limit, samples.kept.size());
}

void DevicePass::keep_if_room(DeviceSamples& samples) {
  if (samples.keeps() || !samples.may_keep) return;
  const std::size_t all = genotypes_.first_rows_.back() * samples.stride();
  // Until the rows are kept, bytes_needed() counts a block's rows in its slot.
  if (all + bytes_needed(samples, 1) > budget_of(samples)) return;
  samples.kept = {samples.pool, all};
  if (samples.kept.refused()) samples.kept = {};  // so that its size is 0 too
  samples.is_there.assign(as_size(genotypes_.blocks()), 0);
  samples.may_keep = samples.keeps();
}

// Frees idle memory and the rows that devices keep, also for other genotypes, such as another
// kernel's. Returns false if nothing was freed.
bool DevicePass::keep_none() {
  bool any = false;
  for (DeviceGenotypes* const genotypes : genotypes_.devices_->genotypes) {
    for (DeviceSamples& samples : genotypes->of_devices_) {
      any = any || samples.keeps() || samples.pool.has_idle();
      samples.kept = {};
      samples.may_keep = false;
      samples.pool.release_idle();
    }
  }
  return any;
}

std::int64_t DevicePass::blocks_that_fit() {
  std::int64_t blocks = std::max<std::int64_t>(genotypes_.blocks(), 1);
  for (Lane& lane : lanes_) {
    DeviceSamples& samples = lane.samples;
    const std::size_t each = bytes_of_block(samples);
    const std::size_t rows = samples.has_all() ? 0 : most_bytes_of_rows(samples);
    const std::size_t most = std::max<std::size_t>(kSlotBytes / (each + rows), 1);
    const std::size_t budget = budget_of(samples);
    const std::size_t columns = std::min(budget, bytes_of_columns(samples));
    const std::size_t fit = std::min(most, (budget - columns) / Device::kStreams / each);
    if (fit == 0) short_of_memory_ = &samples;
    blocks = std::min(blocks, static_cast<std::int64_t>(fit));
  }
  return blocks;
}

// Returns false if an allocation fails.
bool DevicePass::take(Lane& lane, std::int64_t blocks) {
  DeviceSamples& samples = lane.samples;
  MemoryPool& pool = samples.pool;
  const std::size_t n = as_size(blocks);
  lane.digits = {pool, columns_.columns * samples.stride() * as_size(kNumberDigits)};
  lane.out = {pool, columns_.out_columns * samples.stride()};
  host_refused_ = lane.digits.here.refused() || lane.out.here.refused();
  bool refused = host_refused_ || lane.digits.there.refused() || lane.out.there.refused();
  for (Slot& slot : lane.slots) {
    if (refused) break;
    if (!samples.has_all()) {
      slot.rows_here = {pool, n * most_bytes_of_rows(samples), MemoryKind::kHost};
    }
    if (!samples.keeps()) slot.rows_there = {pool, n * most_bytes_of_rows(samples)};
    slot.sums = {pool, 2 * n * as_size(sums_of_block())};
    slot.digits = {pool, 2 * n * columns_.whole_out() * kBlockDigits};
    slot.scales = {pool, 2 * n * columns_.whole_out()};
    slot.any_missing = {pool, n};
    host_refused_ = slot.refused_here();
    refused = host_refused_ || slot.refused_there();
  }
  if (refused) short_of_memory_ = &samples;
  return !refused;
}

// Slots are halved if an allocation fails. If memory is too small for one block, genotypes no
// longer stay on the devices.
void DevicePass::take_memory() {
  for (Lane& lane : lanes_) keep_if_room(lane.samples);
  do {
    for (blocks_ = blocks_that_fit(); blocks_ > 0; blocks_ /= 2) {
      if (std::all_of(lanes_.begin(), lanes_.end(),
                      [&](Lane& lane) { return take(lane, blocks_); })) {
        return;
      }
      for (Lane& lane : lanes_) {
        lane.digits = {};
        lane.out = {};
        lane.slots = {};
        lane.samples.pool.release_idle();  // the next requests are smaller
      }
    }
  } while (keep_none());
  throw_too_little();
}

void DevicePass::throw_too_little() {
  DeviceSamples& samples = *short_of_memory_;
  if (host_refused_) throw_too_little_host_memory(samples.device, bytes_needed(samples, 1));
  throw_too_little_memory(samples.pool, bytes_needed(samples, 1), budget_of(samples));
}

// ---- Columns ------------------------------------------------------------------------------------

// Runs on all threads.
void DevicePass::for_each_out_column(const std::function<void(std::size_t column)>& use) {
  run_tasks(control_, threads_, static_cast<std::int64_t>(columns_.out_columns),
            [&](std::int64_t c, const TaskContext&) { use(as_size(c)); });
}

void DevicePass::start() {
  const auto lanes = static_cast<std::int64_t>(lanes_.size());
  run_tasks(control_, threads_, static_cast<std::int64_t>(columns_.columns) * lanes,
            [&](std::int64_t i, const TaskContext&) {
              const Lane& lane = lanes_[as_size(i % lanes)];
              const DeviceSamples& samples = lane.samples;
              const std::size_t column = as_size(i / lanes);
              columns_.write_digits(
                  column, samples.first, samples.n,
                  lane.digits.here.data() + column * samples.stride() * as_size(kNumberDigits));
            });
  for (Lane& lane : lanes_) {
    const DeviceSamples& samples = lane.samples;
    for_each_out_column([&](std::size_t c) {
      std::copy_n(columns_.out + static_cast<std::int64_t>(c) * n_ + samples.first, samples.n,
                  lane.out.here.data() + c * samples.stride());
    });
    Device& device = samples.device;
    if (columns_.columns > 0) {
      device.upload(lane.digits.there.data(), lane.digits.here.data(), lane.digits.here.size(), 0);
    }
    if (columns_.out_columns > 0) {
      device.upload(lane.out.there.data(), lane.out.here.data(), lane.out.here.size(), 0);
    }
    lane.last = device.record(0);
    device.wait_for(*lane.last, 1);
  }
}

void DevicePass::finish() {
  for (Lane& lane : lanes_) {
    Device& device = lane.samples.device;
    if (columns_.out_columns == 0) continue;
    device.wait_for(*lane.last, 0);
    device.download(lane.out.here.data(), lane.out.there.data(), lane.out.here.size(), 0);
  }
  for (Lane& lane : lanes_) {
    for (int stream = 0; stream < Device::kStreams; ++stream) lane.samples.device.wait(stream);
    const DeviceSamples& samples = lane.samples;
    for_each_out_column([&](std::size_t c) {
      std::copy_n(lane.out.here.data() + c * samples.stride(), samples.n,
                  columns_.out + static_cast<std::int64_t>(c) * n_ + samples.first);
    });
  }
}

// ---- Blocks -------------------------------------------------------------------------------------

void DevicePass::run(const StoredTile& tile, const Between& between) {
  const auto blocks = static_cast<std::int64_t>(tile.blocks.size());
  std::unique_ptr<Part> before;
  for (std::int64_t first = 0; first < blocks; first += before->n) {
    TaskContext(control_).throw_if_stopped();
    auto now = std::make_unique<Part>(part_of(tile, first));
    stream_ = 1 - stream_;
    begin_first_half(*now);
    if (before) begin_second_half(*before, between);
    before = std::move(now);
  }
  if (before) begin_second_half(*before, between);
}

// The next blocks that fit a slot and have one kind of genotypes.
DevicePass::Part DevicePass::part_of(const StoredTile& tile, std::int64_t first) const {
  Part part = {&tile, first, 0, stream_, false};
  const auto left = static_cast<std::int64_t>(tile.blocks.size()) - first;
  while (part.n < std::min(blocks_, left)) {
    const BlockLayout& layout = *part.stored(part.n).layout;
    if ((layout.dosed > 0) != part.dosed()) break;
    part.any_missing = part.any_missing || layout.any_missing();
    ++part.n;
  }
  return part;
}

// True if the device already holds block i of a part.
bool DevicePass::is_sent(const Lane& lane, const Part& part, std::int64_t i) {
  const DeviceSamples& samples = lane.samples;
  return samples.keeps() && samples.is_there[as_size(part.block() + i)] != 0;
}

// Writes rows for upload.
void DevicePass::fill(const Part& part) {
  const auto lanes = static_cast<std::int64_t>(lanes_.size());
  run_tasks(control_, threads_, part.n * lanes, [&](std::int64_t k, const TaskContext&) {
    const Lane& lane = lanes_[as_size(k % lanes)];
    const std::int64_t i = k / lanes;
    if (is_sent(lane, part, i)) return;
    const DeviceSamples& samples = lane.samples;
    const Slot& slot = lane.slots[as_size(part.stream)];
    const auto stride = static_cast<std::int64_t>(samples.stride());
    const auto write = part.dosed() ? split_block : unpack_block;
    write(part.stored(i), samples.first, samples.n, stride,
          slot.rows_here.data() + as_size(i) * device_rows(part.dosed()) * samples.stride());
  });
}

// The address of a part's rows on the device.
std::uint8_t* DevicePass::rows_of(const Lane& lane, const Part& part) const {
  const DeviceSamples& samples = lane.samples;
  if (!samples.keeps()) return lane.slots[as_size(part.stream)].rows_there.data();
  return samples.kept.data() + genotypes_.first_rows_[as_size(part.block())] * samples.stride();
}

DeviceRows DevicePass::genotypes_of(const Lane& lane, const Part& part) const {
  return {rows_of(lane, part), lane.samples.stride(), part.dosed()};
}

void DevicePass::send_rows(Lane& lane, const Part& part) {
  const DeviceSamples& samples = lane.samples;
  const Slot& slot = lane.slots[as_size(part.stream)];
  const std::size_t bytes = device_rows(part.dosed()) * samples.stride();
  for (std::int64_t i = 0; i < part.n; ++i) {
    if (is_sent(lane, part, i)) continue;
    const std::size_t at = as_size(i) * bytes;
    samples.device.upload(rows_of(lane, part) + at, slot.rows_here.data() + at, bytes, part.stream);
  }
}

void DevicePass::begin_first_half(const Part& part) {
  fill(part);
  for (Lane& lane : lanes_) {
    send_rows(lane, part);
    if (columns_.columns == 0) continue;
    const Slot& slot = lane.slots[as_size(part.stream)];
    const std::size_t sums = as_size(part.n * sums_of_block());
    for (int of_missing = 0; of_missing <= static_cast<int>(part.any_missing); ++of_missing) {
      lane.samples.kernels.begin(
          VariantSumsOp{genotypes_of(lane, part), as_size(part.n), lane.digits.there.data(),
                        columns_.columns, of_missing == 1,
                        slot.sums.there.data() + as_size(of_missing) * sums},
          part.stream);
    }
    lane.samples.device.download(slot.sums.here.data(), slot.sums.there.data(),
                                 part.any_missing ? 2 * sums : sums, part.stream);
  }
}

// Adds the sums of block i on all other devices to the first device's.
void DevicePass::add_sums(const Part& part, std::int64_t i) {
  const auto of = [&](const Lane& lane, int of_missing) {
    return lane.slots[as_size(part.stream)].sums.here.data() +
           (of_missing * part.n + i) * sums_of_block();
  };
  for (std::size_t other = 1; other < lanes_.size(); ++other) {
    for (int of_missing = 0; of_missing <= static_cast<int>(part.any_missing); ++of_missing) {
      std::int64_t* const sums = of(lanes_[0], of_missing);
      const std::int64_t* const more = of(lanes_[other], of_missing);
      for (std::int64_t k = 0; k < sums_of_block(); ++k) sums[k] += more[k];
    }
  }
}

BlockNumbers DevicePass::numbers_of(const Lane& lane, const Part& part, std::int64_t i) const {
  const Slot& slot = lane.slots[as_size(part.stream)];
  const auto columns = [&](std::int64_t block) -> BlockNumbers::Columns {
    const std::size_t at = as_size(block) * columns_.whole_out();
    return {slot.digits.here.data() + at * kBlockDigits, slot.scales.here.data() + at};
  };
  return {columns(i), columns(part.n + i), slot.any_missing.here.data() + i};
}

// All devices use identical coefficients.
void DevicePass::make_numbers(const Part& part, const Between& between) {
  const Slot& sums = lanes_[0].slots[as_size(part.stream)];
  const auto copy_columns = [&](const BlockNumbers::Columns& from,
                                const BlockNumbers::Columns& to) {
    std::copy_n(from.digits, columns_.whole_out() * kBlockDigits, to.digits);
    std::copy_n(from.scales, columns_.whole_out(), to.scales);
  };
  run_tasks(control_, threads_, part.n, [&](std::int64_t i, const TaskContext&) {
    add_sums(part, i);
    const BlockNumbers numbers = numbers_of(lanes_[0], part, i);
    *numbers.any_missing = part.stored(i).layout->any_missing() ? 1 : 0;
    between(part.first + i, sums.sums.here.data() + i * sums_of_block(),
            part.any_missing ? sums.sums.here.data() + (part.n + i) * sums_of_block() : nullptr,
            numbers);
    for (std::size_t other = 1; other < lanes_.size(); ++other) {
      const BlockNumbers copy = numbers_of(lanes_[other], part, i);
      copy_columns(numbers.of_genotypes, copy.of_genotypes);
      if (*numbers.any_missing == 1) copy_columns(numbers.of_missing, copy.of_missing);
      *copy.any_missing = *numbers.any_missing;
    }
  });
}

void DevicePass::begin_second_half(const Part& part, const Between& between) {
  const int stream = part.stream;
  for (Lane& lane : lanes_) {
    lane.samples.device.wait(stream);
    if (!lane.samples.keeps()) continue;
    std::fill_n(lane.samples.is_there.begin() + part.block(), part.n, char{1});
  }
  make_numbers(part, between);
  if (columns_.out_columns == 0) return;
  for (Lane& lane : lanes_) {
    Device& device = lane.samples.device;
    const Slot& slot = lane.slots[as_size(stream)];
    const std::size_t columns = (part.any_missing ? 2 : 1) * as_size(part.n) * columns_.whole_out();
    device.upload(slot.digits.there.data(), slot.digits.here.data(), columns * kBlockDigits,
                  stream);
    device.upload(slot.scales.there.data(), slot.scales.here.data(), columns, stream);
    device.upload(slot.any_missing.there.data(), slot.any_missing.here.data(), as_size(part.n),
                  stream);
    device.wait_for(*lane.last, stream);  // blocks are added in order
    lane.samples.kernels.begin(SampleSumsOp{genotypes_of(lane, part), as_size(lane.samples.n),
                                            as_size(part.n), columns_.out_columns, columns_.parts,
                                            slot.digits.there.data(), slot.scales.there.data(),
                                            slot.any_missing.there.data(), lane.out.there.data()},
                               stream);
    lane.last = device.record(stream);
  }
}

}  // namespace ancify
