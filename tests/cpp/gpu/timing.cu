// Measures the speed of the kernels and copies of a card.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ancestry/random_models.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/device_trees.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/diffusion/device_spectra.h"
#include "core/genotypes/standardise.h"
#include "core/kmers/counter.h"
#include "core/models/device_encoder.h"
#include "diffusion/demographic_models.h"
#include "genotypes/memory_genotypes.h"
#include "kmers/plain_kmers.h"
#include "models/random_encoders.h"
#include "timing.h"

namespace ancify::test {

namespace {

constexpr std::size_t kPositions = 248000000 / kPackedGroup * kPackedGroup;  // human chromosome 1
constexpr int kRounds = 20;

// The seconds of the fastest round, after one round to warm up.
double seconds(Device& device, const std::function<void()>& begin) {
  double best = 1e9;
  for (int round = 0; round <= kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    begin();
    device.wait(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (round > 0) best = std::min(best, took.count());
  }
  return best;
}

class Timing {
 public:
  Timing(CallKernels& kernels, std::size_t bytes)
      : kernels_(kernels), pool_(kernels.device()), in_(pool_, bytes), out_(pool_, bytes) {
    if (in_.refused() || out_.refused()) {
      throw_too_little_memory(pool_, 2 * bytes, memory_budget(pool_, 0));
    }
    // Species agree as in a genome, so that the same entries of a table are looked up often.
    std::vector<char> bases(bytes);
    unsigned state = 1;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (i % kPositions == 0) state = 1;
      state = state * 1664525 + 1013904223;
      const bool own = (state >> 20 ^ i / kPositions * 37) % 16 == 0;
      bases[i] = "ACGT"[(state >> 28 ^ (own ? i / kPositions : 0)) & 3];
    }
    kernels.device().upload(in_.data(), bases.data(), bytes, 0);
    kernels.device().wait(0);
  }

  void by_table(const char* what, int species, bool packed, bool with_phred) {
    std::size_t patterns = 1;
    for (int s = 0; s < species; ++s) patterns *= kStates;
    std::vector<std::uint16_t> entries(patterns);
    for (std::size_t i = 0; i < patterns; ++i) entries[i] = static_cast<std::uint16_t>(i * 40503);
    Device& device = kernels_.device();
    const DeviceArray<std::uint16_t> table(pool_, patterns);
    device.upload(table.data(), entries.data(), patterns, 0);
    const CallTile tile = make_tile(species, packed, with_phred);
    print(what, tile, [&] { kernels_.begin(CallByTable{tile, table.data(), patterns}, 0); });
  }

  void by_vote(const char* what, int species) {
    const CallTile tile = make_tile(species, false, false);
    const Voting voting{species - species / 2, species / 2, 1, 1};
    print(what, tile, [&] { kernels_.begin(CallByVote{tile, voting}, 0); });
  }

  void by_trees(const char* what, int species, int rounds, std::size_t leaves) {
    std::mt19937 random(1);
    const MlCaller ml(random_forest(rounds, leaves, species + 9, random), species - species / 2,
                      species / 2, Thresholds());
    const DeviceTrees trees(ml);
    Device& device = kernels_.device();
    const DeviceArray<char> memory(pool_, trees.bytes().size());
    device.upload(memory.data(), trees.bytes().data(), trees.bytes().size(), 0);
    const CallTile tile = make_tile(species, false, true);
    const TileAround around = {tile, 0, 0, kPositions};
    print(what, tile, [&] { kernels_.begin(CallByTrees{around, trees.at(memory.data())}, 0); });
  }

 private:
  CallTile make_tile(int species, bool packed, bool with_phred) const {
    return {in_.data(),
            packed ? kPositions / 2 : kPositions,
            species,
            packed,
            kPositions,
            out_.data(),
            with_phred ? reinterpret_cast<std::uint8_t*>(out_.data()) + kPositions : nullptr};
  }

  void print(const char* what, const CallTile& tile, const std::function<void()>& begin) {
    Device& device = kernels_.device();
    const std::size_t moved = tile.pitch * static_cast<std::size_t>(tile.species) +
                              kPositions * (tile.phred != nullptr ? 2 : 1);
    const double took = seconds(device, begin);
    // A copy of half the bytes reads one half of `moved` and writes the other.
    const double copied =
        seconds(device, [&] { device.copy(out_.data(), in_.data(), moved / 2, 0); });
    std::printf("%-40s %8.3f ms %8.1f GB/s   a copy %8.3f ms %8.1f GB/s   of its speed %.2f\n",
                what, 1e3 * took, 1e-9 * static_cast<double>(moved) / took, 1e3 * copied,
                1e-9 * static_cast<double>(moved) / copied, copied / took);
  }

  CallKernels& kernels_;
  MemoryPool pool_;
  DeviceArray<char> in_;
  DeviceArray<char> out_;
};

// A sequence of one character, in ordinary memory.
class SameSource : public SequenceSource {
 public:
  explicit SameSource(const std::vector<char>& bases) : bases_(bases) {}
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t start, std::size_t, char*) const override {
    return &bases_[start];
  }

 private:
  const std::vector<char>& bases_;
};

void time_from_host(CallKernels& kernels) {
  constexpr int species = 4;
  const VotingMethod method(Voting{2, 2, 1, 1});
  const CallTable table(method, false);
  const std::vector<char> bases(kPositions, 'A');
  SequenceSources sources;
  for (int s = 0; s < species; ++s) sources.push_back(std::make_unique<SameSource>(bases));
  DeviceCaller caller(kernels, by_table(table, species, false), kPositions, 0);
  const double took = seconds(kernels.device(), [&] {
    caller.call(sources, kPositions, TaskContext(),
                [](const Stretch&, const char*, const std::uint8_t*) {});
  });
  std::printf("%-40s %8.3f ms %8.1f GB/s\n", "4 species from the host's memory and back",
              1e3 * took, 1e-9 * kPositions * (species + 1) / took);
}

// A plan with splits into `populations`, and then an epoch of `steps` time steps with migration.
diffusion::Plan plan_of(int populations, std::int64_t steps) {
  diffusion::Model model = {diffusion::Equilibrium()};
  for (int k = 1; k < populations; ++k) {
    std::vector<double> shares(static_cast<std::size_t>(k));
    shares[0] = 1;
    model.push_back(diffusion::Admixture{shares});
  }
  diffusion::Epoch epoch;
  epoch.end = 1e-3 * 4 * static_cast<double>(steps);
  epoch.theta = constant_course(1);
  epoch.size.assign(populations, constant_course(1));
  epoch.migration.assign(populations * populations, constant_course(0.05));
  epoch.selection.assign(populations, constant_course(0));
  epoch.dominance.assign(populations, constant_course(0.5));
  epoch.frozen.assign(populations, 0);
  model.push_back(epoch);
  return diffusion::plan_model(model, 1e-3, 1);
}

// Times a grid point and direction, beside 16 bytes at the speed of a copy. `plans` equal plans run
// at once. The time is the difference between plans with twice as many steps and these.
void time_diffusion(const Backend& backend, int populations, int points, std::size_t plans,
                    double copied) {
  const auto devices = diffusion::open_diffusion_devices(backend);
  const std::int64_t steps = populations == 2 ? 2000 : 200;
  diffusion::Sampling sampling;
  sampling.sizes.assign(populations, 3);
  double took[2];
  for (int i = 0; i < 2; ++i) {
    const diffusion::Plan plan = plan_of(populations, (i + 1) * steps);
    const std::vector<diffusion::SpectrumJob> jobs(plans, {&plan, points});
    took[i] = seconds(devices[0]->device(), [&] {
      JobControl control;
      diffusion::device_spectra(devices, jobs, sampling, 0, hardware_threads(), control);
    });
  }
  double updates = static_cast<double>(plans) * populations * static_cast<double>(steps);
  for (int k = 0; k < populations; ++k) updates *= points;
  const double each = (took[1] - took[0]) / updates;
  std::printf(
      "%dD, L = %3d, %3zu at once: %9.5f ns a point and direction, %6.2f of a copy; "
      "%7.2f us a sweep\n",
      populations, points, plans, 1e9 * each, each / (16 * copied),
      1e6 * (took[1] - took[0]) / (populations * static_cast<double>(steps)));
}

// The seconds for each byte read or written by a copy within the device.
double copy_seconds(Device& device) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  MemoryPool pool(device);
  const DeviceArray<char> from(pool, bytes);
  const DeviceArray<char> to(pool, bytes);
  if (from.refused() || to.refused()) {
    throw_too_little_memory(pool, 2 * bytes, memory_budget(pool, 0));
  }
  const double took = seconds(device, [&] { device.copy(to.data(), from.data(), bytes, 0); });
  return took / (2.0 * bytes);
}

void time_all_diffusion(const Backend& backend, Device& device) {
  const double copied = copy_seconds(device);
  std::printf("a copy within the device: %.1f GB/s\n", 1e-9 / copied);
  for (const int points : {80, 160, 320}) {
    for (const std::size_t plans : {1, 132}) time_diffusion(backend, 2, points, plans, copied);
  }
  for (const int points : {40, 80, 120}) time_diffusion(backend, 3, points, 1, copied);
  for (const int points : {20, 30, 60}) time_diffusion(backend, 4, points, 1, copied);
  for (const int points : {14, 20}) time_diffusion(backend, 5, points, 1, copied);
}

// The seconds of counting partitions of super-k-mers: reads of 150 bases of a random genome.
double count_seconds(const KmerDevices& devices, int k) {
  constexpr std::size_t read = 150;
  constexpr std::size_t reads = 1000000;
  static const std::string genome = random_text(5000000, 1, "ACGT");
  KmerSettings settings;
  settings.k = k;
  const KmerWork work = {std::size_t{8} << 30, "", "", hardware_threads()};
  Partitions super_kmers(kPartitions, work.memory, "");
  PartWriter writer(super_kmers, 1 << 12);
  SuperKmerCutter cutter(k, writer);
  for (std::size_t i = 0; i < reads; ++i) {
    cutter.cut(std::string_view(genome).substr(i * 7919 % (genome.size() - read), read));
  }
  writer.flush();
  KmerParts counts(settings, kSortedBases, work.memory, "");
  JobControl control;
  const auto start = std::chrono::steady_clock::now();
  if (devices.kernels.empty()) {
    count_on_cpu(settings, work, super_kmers, counts, control);
  } else {
    count_on_devices(devices, settings, work, super_kmers, counts, control);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void time_kmers(const Backend& backend) {
  const KmerDevices devices = open_kmer_devices(backend);
  for (const int k : {25, 55}) {
    const auto best = [&](const KmerDevices& on) {
      double least = 1e9;
      for (int round = 0; round < 4; ++round) {
        least = std::min(least, count_seconds(on, k));
      }
      return least;
    };
    const double cpu = best({});
    const double card = best(devices);
    std::printf("k = %d, partitions counted: %8.3f s, on %d CPU threads %8.3f s, speed %.2f\n", k,
                card, hardware_threads(), cpu, cpu / card);
  }
}

// Calls without a missing one.
class RandomGenotypes : public GenotypeFile {
 public:
  RandomGenotypes(std::int64_t samples, std::int64_t variants)
      : samples_(samples), variants_(variants) {}
  const std::string& path() const override { return path_; }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return variants_; }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* out) const override {
    auto state = static_cast<std::uint32_t>(first) + 1;
    for (std::int64_t i = 0; i < n * stride(); ++i) {
      state = state * 1664525 + 1013904223;
      const std::uint32_t calls = state >> 24;
      out[i] = static_cast<std::uint8_t>(calls & ~((calls & calls >> 1 & 0x55U) << 1));
    }
    const auto last = static_cast<unsigned>(samples_ % 4);
    if (last == 0) return;
    for (std::int64_t j = 1; j <= n; ++j) out[j * stride() - 1] &= (1U << 2 * last) - 1;
  }
  void check_unchanged() const override {}

 private:
  std::string path_ = "random";
  std::int64_t samples_;
  std::int64_t variants_;
};

constexpr std::int64_t kSamples = 50000;
constexpr std::int64_t kVariants = 100000;

// Times both kernels on arbitrary memory, beside a copy of as many bytes as the packed calls have.
void time_product_kernels(ProductKernels& kernels, std::size_t columns) {
  Device& device = kernels.device();
  MemoryPool pool(device);
  const auto blocks = static_cast<std::size_t>((kVariants + kBlockVariants - 1) / kBlockVariants);
  const auto stride = static_cast<std::size_t>(quad_stride(kSamples));
  const std::size_t bytes = blocks * kBlockQuads * stride;
  const DeviceArray<std::uint8_t> rows(pool, bytes);
  const DeviceArray<std::uint8_t> copy(pool, bytes);
  const DeviceArray<std::int8_t> digits(pool, columns * stride * kNumberDigits);
  const DeviceArray<std::int64_t> sums(pool, blocks * kBlockVariants * columns);
  const DeviceArray<std::int8_t> coefficients(pool, 2 * blocks * columns * kBlockDigits);
  const DeviceArray<CoefficientScale> scales(pool, blocks * columns);
  const DeviceArray<std::uint8_t> any_missing(pool, blocks);
  const DeviceArray<double> out(pool, columns * stride);
  for (const bool refused :
       {rows.refused(), copy.refused(), digits.refused(), sums.refused(), coefficients.refused(),
        scales.refused(), any_missing.refused(), out.refused()}) {
    if (refused) throw_too_little_memory(pool, 4 * bytes, memory_budget(pool, 0));
  }
  device.fill(rows.data(), 0x24, bytes, 0);
  device.fill(digits.data(), 0x11, digits.size(), 0);
  device.fill(coefficients.data(), 0x11, coefficients.size(), 0);
  device.fill(scales.data(), 0, scales.size(), 0);
  device.fill(any_missing.data(), 0, blocks, 0);
  device.fill(out.data(), 0, out.size(), 0);
  const DeviceRows calls = {rows.data(), stride};
  const double first = seconds(device, [&] {
    kernels.begin(
        VariantSumsOp{calls, blocks * kBlockQuads, digits.data(), columns, false, sums.data()}, 0);
  });
  const double second = seconds(device, [&] {
    kernels.begin(SampleSumsOp{calls, static_cast<std::size_t>(kSamples), blocks, columns, 1,
                               coefficients.data(), scales.data(), any_missing.data(), out.data()},
                  0);
  });
  const double copied = seconds(device, [&] { device.copy(copy.data(), rows.data(), bytes, 0); });
  const double products = 1e-12 * static_cast<double>(kSamples) * static_cast<double>(kVariants) *
                          static_cast<double>(columns);
  std::printf(
      "products, %3zu columns: over samples %8.3f ms, over variants %8.3f ms, both %.2f T products "
      "of numbers a second; over a copy of the packed calls (%.3f ms) %.2f\n",
      columns, 1e3 * first, 1e3 * second, 2 * products / (first + second), 1e3 * copied,
      (first + second) / copied);
}

// The seconds of a whole pass, whose genotypes are there.
double pass_seconds(const GenotypeMatrix& matrix, int columns) {
  const GenotypeProducts products = standardise(matrix, -1);
  const std::vector<double> v = random_numbers(kSamples * columns, 1);
  std::vector<double> out(v.size());
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = pass.out_columns = columns;
  pass.out = out.data();
  pass.wanted = [](std::int64_t) { return true; };
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    JobControl control;
    const auto start = std::chrono::steady_clock::now();
    products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
      std::copy_n(t, block.variants() * columns, u);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void time_products(const Backend& backend) {
  {
    const auto devices = open_product_devices(backend);
    for (const std::size_t columns : {128, 32, 4, 1}) {
      time_product_kernels(*devices->kernels[0], columns);
    }
  }
  const auto matrix_on = [&](std::shared_ptr<ProductDevices> devices) {
    JobControl control;
    GenotypeSelection all;
    for (std::int64_t i = 0; i < kSamples; ++i) all.samples.push_back(i);
    for (std::int64_t j = 0; j < kVariants; ++j) all.variants.push_back(j);
    return std::make_unique<GenotypeMatrix>(
        std::make_unique<RandomGenotypes>(kSamples, kVariants), std::move(all),
        GenotypeWork{hardware_threads(), best_simd_level(), 0, true, std::move(devices)}, control);
  };
  double took[2][2];
  constexpr int columns[] = {128, 4};
  for (const int card : {0, 1}) {
    const auto matrix = matrix_on(card == 1 ? open_product_devices(backend) : nullptr);
    for (const int i : {0, 1}) took[card][i] = pass_seconds(*matrix, columns[i]);
  }
  for (const int i : {0, 1}) {
    std::printf("a pass of %3d columns: %8.4f s, on %d CPU threads %8.4f s, speed %.2f\n",
                columns[i], took[1][i], hardware_threads(), took[0][i], took[0][i] / took[1][i]);
  }
}

// Begins the matrix products with weights of a forward of `tokens`, and nothing else.
template <class Number>
void begin_products(EncoderKernels& kernels, const EncoderShape& shape, std::int64_t tokens,
                    const Number* a, const Number* b, float* c) {
  const std::int64_t d = shape.width;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    kernels.begin(ProductOp<Number>{tokens, 3 * d, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, d, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, shape.hidden, d, a, b, c}, 0);
    kernels.begin(ProductOp<Number>{tokens, d, shape.hidden, a, b, c}, 0);
  }
}

// The products of half precision alone over whole forwards, of 16 proteins of 256 tokens.
void time_encoder(EncoderKernels& kernels, const char* what, const EncoderShape& shape) {
  constexpr std::int64_t tokens = 4096;
  Device& device = kernels.device();
  RandomEncoders random;
  const Encoder encoder = random.rotated(shape);
  const Pack pack = random.pack(encoder, std::vector<std::int64_t>(16, tokens / 16));
  double whole[2];
  for (const Precision precision : {Precision::kSingle, Precision::kHalf}) {
    const auto on_device = encoder_on(kernels, encoder, precision, 0);
    on_device->expect(tokens);
    whole[static_cast<int>(precision)] = seconds(device, [&] {
      on_device->begin(pack, false, 0);
      on_device->finish(0);
    });
  }
  MemoryPool pool(device);
  const auto hidden = static_cast<std::size_t>(shape.hidden);
  const DeviceArray<Half> a(pool, tokens * hidden);
  const DeviceArray<Half> b(pool, hidden * static_cast<std::size_t>(shape.width));
  const DeviceArray<float> c(pool, tokens * hidden);
  for (const auto* array : {&a, &b}) device.fill(array->data(), 0x11, array->size(), 0);
  const double products = seconds(
      device, [&] { begin_products(kernels, shape, tokens, a.data(), b.data(), c.data()); });
  std::printf("%s, 16 x 256: fp32 %8.3f ms, fp16 %8.3f ms, products alone %8.3f ms, share %.2f\n",
              what, 1e3 * whole[0], 1e3 * whole[1], 1e3 * products, products / whole[1]);
}

void time_encoders(const Backend& backend) {
  const auto kernels = open_encoder_devices(backend);
  time_encoder(*kernels.front(), "35M", {12, 480, 20, 1920, 33});
  time_encoder(*kernels.front(), "650M", {33, 1280, 20, 5120, 33});
}

}  // namespace

void print_times() {
  Backend backend;
  backend.devices = {available_gpus(1).usable.front().number};
  const CallDevices devices = open_call_devices(backend);
  CallKernels& kernels = *devices.front();
  std::printf("%s, %zu positions, best of %d\n", kernels.device().name().c_str(), kPositions,
              kRounds);
  {
    Timing timing(kernels, 12 * kPositions);
    timing.by_table("table, 4 species", 4, false, false);
    timing.by_table("table, 4 species, with errors", 4, false, true);
    timing.by_table("table, 4 species, packed", 4, true, false);
    timing.by_table("table, 2 species", 2, false, false);
    timing.by_table("table, 6 species", 6, false, false);
    timing.by_table("table, 8 species, through L2", 8, false, false);
    timing.by_vote("voting, 12 species", 12);
    timing.by_trees("20 trees of 7 leaves, 4 species", 4, 5, 7);
    timing.by_trees("800 trees of 63 leaves, 4 species", 4, 200, 63);
  }
  time_from_host(kernels);
  time_all_diffusion(backend, kernels.device());
  time_kmers(backend);
  time_products(backend);
  time_encoders(backend);
}

}  // namespace ancify::test
