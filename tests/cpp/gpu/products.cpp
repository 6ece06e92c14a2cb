// Products of genotypes on a GPU: the CPU's bytes, and the speed of kernels and of whole passes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/device/tiles.h"
#include "core/exec/threads.h"
#include "core/genotypes/standardise.h"
#include "driver.h"
#include "genotypes/memory_dosages.h"
#include "genotypes/memory_genotypes.h"

namespace ancify::test {
namespace {

// Z Z'V beside Z'V, twice: the second pass finds genotypes on the devices, if they fit. V's and
// out's columns are `columns`.
std::vector<double> genotype_products(std::unique_ptr<GenotypeFile> file,
                                      std::shared_ptr<ProductDevices> devices, int columns,
                                      ProductBits bits) {
  JobControl control;
  GenotypeSelection all = {first_numbers(file->samples()), first_numbers(file->variants())};
  const GenotypeMatrix matrix(std::move(file), std::move(all),
                              {hardware_threads(), best_simd_level(), 0, true, std::move(devices)},
                              control);
  const GenotypeProducts products = standardise(matrix, -1);
  const std::vector<double> v = random_numbers(matrix.samples() * columns, 3);
  const std::int64_t size = matrix.samples() * columns;
  std::vector<double> result(static_cast<std::size_t>(size + matrix.variants() * columns));
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = pass.out_columns = columns;
  pass.out = result.data();
  pass.bits = bits;
  pass.wanted = [](std::int64_t) { return true; };
  for (int round = 0; round < 2; ++round) {
    products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
      const std::int64_t here = block.variants() * columns;
      std::copy_n(t, here, result.data() + size + block.first_variant() * columns);
      std::copy_n(t, here, u);
    });
  }
  return result;
}

std::unique_ptr<GenotypeFile> file_of(const Calls& calls) {
  return std::make_unique<MemoryGenotypes>(calls);
}
std::unique_ptr<GenotypeFile> file_of(const Dosages& dosages) {
  return std::make_unique<MemoryDosages>(dosages);
}

// Multiplies on one device with room for all genotypes, and on three with little.
template <class Genotypes>
void check_products_of(Checks& checks, const Backend& backend, const Genotypes& genotypes,
                       int columns, ProductBits bits) {
  const auto expected = genotype_products(file_of(genotypes), nullptr, columns, bits);
  const std::size_t rows = device_rows(std::is_same_v<Genotypes, Dosages>);
  for (const bool three : {false, true}) {
    const Backend used = three ? three_devices(backend) : backend;
    const auto devices = open_product_devices(used);
    devices->kernels = watched(std::move(devices->kernels));
    // Columns, and tiles of some blocks
    const auto whole = static_cast<std::size_t>(bits == ProductBits::k56 ? 2 * columns : columns);
    const auto samples = static_cast<std::size_t>(quad_stride(genotypes.samples));
    if (three) {
      devices->memory_limit = whole * samples * 12 + 6 * (samples * rows + whole * 6200) + 4096;
    }
    checks.expect(genotype_products(file_of(genotypes), devices, columns, bits) == expected,
                  "products of " + std::to_string(genotypes.samples) + " samples, " +
                      std::to_string(genotypes.of_variants.size()) + " variants and " +
                      std::to_string(columns) + " columns differ");
  }
}

// A block of calls between blocks of dosages.
Dosages mixed_blocks(std::int64_t samples) {
  Dosages dosages = Dosages::random(samples, kBlockVariants, 0.1, {kMostUnit}, 1);
  dosages.append(Dosages::random(samples, kBlockVariants, 0.1, {1}, 2));
  dosages.append(Dosages::random(samples, 40, 0, {255}, 3));
  return dosages;
}

// All dosages are the largest, so that sums are too.
Dosages largest_dosages(std::int64_t samples, std::int64_t variants) {
  Dosages dosages = Dosages::random(samples, variants, 0, {kMostUnit}, 1);
  for (std::vector<Dosage>& row : dosages.of_variants) {
    for (Dosage& dosage : row) dosage = static_cast<Dosage>(dosage < 0 ? -kMostUnit : kMostUnit);
    row[0] = kMostUnit - 1;  // so that they are no calls
  }
  std::fill(dosages.units.begin(), dosages.units.end(), kMostUnit);
  return dosages;
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

// Random bytes, as a GPU may be faster on equal ones.
template <class T>
void fill_randomly(Device& device, const DeviceArray<T>& array) {
  static_assert(sizeof(T) == 1);
  std::vector<T> some(std::min(array.size(), std::size_t{1} << 22));
  std::uint32_t state = 1;
  for (T& byte : some) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<T>(state >> 24);
  }
  for (std::size_t at = 0; at < array.size(); at += some.size()) {
    device.upload(array.data() + at, some.data(), std::min(some.size(), array.size() - at), 0);
  }
  device.wait(0);
}

// Times both kernels on arbitrary memory, beside a copy of as many bytes as the genotypes have:
// calls, or dosages of fewer variants.
void time_product_kernels(ProductKernels& kernels, std::size_t columns, bool dosed) {
  Device& device = kernels.device();
  MemoryPool pool(device);
  const std::int64_t variants = dosed ? kVariants / 8 : kVariants;
  const auto blocks = static_cast<std::size_t>((variants + kBlockVariants - 1) / kBlockVariants);
  const auto stride = static_cast<std::size_t>(quad_stride(kSamples));
  const std::size_t bytes = blocks * device_rows(dosed) * stride;
  const DeviceArray<std::uint8_t> rows(pool, bytes);
  const DeviceArray<std::uint8_t> copy(pool, bytes);
  const DeviceArray<std::int8_t> digits(pool, columns * stride * kNumberDigits);
  const DeviceArray<std::int64_t> sums(pool, blocks * kBlockVariants * columns);
  const DeviceArray<std::int8_t> coefficients(pool, 2 * blocks * columns * kBlockDigits);
  const DeviceArray<CoefficientScale> scales(pool, 2 * blocks * columns);
  const DeviceArray<std::uint8_t> any_missing(pool, blocks);
  const DeviceArray<double> out(pool, columns * stride);
  for (const bool refused :
       {rows.refused(), copy.refused(), digits.refused(), sums.refused(), coefficients.refused(),
        scales.refused(), any_missing.refused(), out.refused()}) {
    if (refused) throw_too_little_memory(pool, 4 * bytes, memory_budget(pool, 0));
  }
  fill_randomly(device, rows);
  fill_randomly(device, digits);
  fill_randomly(device, coefficients);
  device.fill(scales.data(), 0, scales.size(), 0);
  device.fill(any_missing.data(), 0, blocks, 0);
  device.fill(out.data(), 0, out.size(), 0);
  const DeviceRows genotypes = {rows.data(), stride, dosed};
  const double first = seconds(device, [&] {
    kernels.begin(VariantSumsOp{genotypes, blocks, digits.data(), columns, false, sums.data()}, 0);
  });
  const double second = seconds(device, [&] {
    kernels.begin(SampleSumsOp{genotypes, static_cast<std::size_t>(kSamples), blocks, columns, 1,
                               coefficients.data(), scales.data(), any_missing.data(), out.data()},
                  0);
  });
  const double copied = seconds(device, [&] { device.copy(copy.data(), rows.data(), bytes, 0); });
  const double products = 1e-12 * static_cast<double>(kSamples) * static_cast<double>(variants) *
                          static_cast<double>(columns);
  std::printf(
      "products of %s, %3zu columns: over samples %8.3f ms, over variants %8.3f ms, both %.2f T "
      "products of numbers a second; over a copy of the genotypes (%.3f ms) %.2f\n",
      dosed ? "dosages" : "calls", columns, 1e3 * first, 1e3 * second,
      2 * products / (first + second), 1e3 * copied, (first + second) / copied);
}

// Kernels that compute nothing: a pass with them has the host's work and the transfers alone.
class Idle : public ProductKernels {
 public:
  explicit Idle(std::unique_ptr<ProductKernels> kernels) : kernels_(std::move(kernels)) {}
  Device& device() override { return kernels_->device(); }
  void begin(const ProductOperation& /*operation*/, int /*stream*/) override {}

 private:
  std::unique_ptr<ProductKernels> kernels_;
};

// The seconds of a pass's transfers alone, in one copy each way at once. Digits of V and of
// coefficients go up, sums come down, and out goes both ways.
double transfer_seconds(Device& device, std::size_t columns) {
  const auto samples = static_cast<std::size_t>(quad_stride(kSamples));
  const auto variants = static_cast<std::size_t>(kVariants);
  const std::size_t up =
      columns * (samples * (kNumberDigits + sizeof(double)) + variants * kNumberDigits);
  const std::size_t down = columns * (variants * sizeof(std::int64_t) + samples * sizeof(double));
  MemoryPool pool(device);
  const Mirrored<char> in = {pool, up};
  const Mirrored<char> out = {pool, down};
  if (in.here.refused() || in.there.refused() || out.here.refused() || out.there.refused()) {
    throw_too_little_memory(pool, up + down, memory_budget(pool, 0));
  }
  return seconds(device, [&] {
    device.upload(in.there.data(), in.here.data(), up, 0);
    device.download(out.here.data(), out.there.data(), down, 1);
    device.wait(1);
  });
}

// The seconds of a whole pass with genotypes already on the device.
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
  double all = 0;
  for (int round = 0; round < 4 && (round == 0 || all < 2); ++round) {
    JobControl control;
    const auto start = std::chrono::steady_clock::now();
    products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
      std::copy_n(t, block.variants() * columns, u);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    all += took.count();
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

void check_products(Checks& checks, const Backend& backend, Extent extent) {
  for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
    check_products_of(checks, backend, Calls::random(1, 1, 0, 1), 1, bits);
    check_products_of(checks, backend, Calls::random(66, 3, 1, 1), 1, bits);
    check_products_of(checks, backend, Calls::random(131, 300, 0.1, 1), 5, bits);
    check_products_of(checks, backend, Calls::rare(130, 260, 1), 2, bits);
  }
  // More columns than a thread block has, with missing calls
  check_products_of(checks, backend, Calls::random(70, 300, 0.1, 1), 17, ProductBits::k56);
  // Thread blocks that take several turns, in either half.
  check_products_of(checks, backend, Calls::random(60, 300, 0, 1), 33, ProductBits::k28);
  check_products_of(checks, backend, Calls::random(700, 70, 0, 1), 1, ProductBits::k28);
  // More samples than 32-bit sums hold before they are added to 64-bit sums.
  check_products_of(checks, backend, Calls::random(16449, 2, 0, 1), 1, ProductBits::k28);
  for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
    check_products_of(checks, backend, Dosages::random(1, 1, 0, {kMostUnit}, 1), 1, bits);
    check_products_of(checks, backend, Dosages::random(131, 300, 0.1, {255}, 1), 5, bits);
  }
  check_products_of(checks, backend, mixed_blocks(70), 17, ProductBits::k56);
  check_products_of(checks, backend, Dosages::random(60, 300, 0, {kMostUnit}, 1), 33,
                    ProductBits::k28);
  check_products_of(checks, backend, largest_dosages(300, 256), 1, ProductBits::k28);
  check_products_of(checks, backend, Dosages::random(16449, 2, 0.1, {kMostUnit}, 1), 1,
                    ProductBits::k28);
  checks.expect_all_begun<ProductOperation>();
  if (extent == Extent::kSmall) return;
  for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
    check_products_of(checks, backend, Calls::random(3001, 5003, 0.02, 1), 129, bits);
    check_products_of(checks, backend, Calls::random(40007, 700, 0, 1), 33, bits);
    check_products_of(checks, backend, Dosages::random(3001, 2003, 0.02, {kMostUnit}, 1), 129,
                      bits);
  }
}

void time_products(const Backend& backend) {
  {
    const auto devices = open_product_devices(backend);
    for (const bool dosed : {false, true}) {
      for (const std::size_t columns : {128, 32, 4, 1}) {
        time_product_kernels(*devices->kernels[0], columns, dosed);
      }
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
  const auto idle_devices = [&] {
    auto devices = open_product_devices(backend);
    for (auto& kernels : devices->kernels) kernels = std::make_unique<Idle>(std::move(kernels));
    return devices;
  };
  constexpr std::array<int, 2> columns = {128, 4};
  std::array<std::array<double, 3>, 2> took{};  // on the CPU, on the card, without kernels
  for (const std::size_t way : {0, 1, 2}) {
    const auto matrix = matrix_on(way == 0   ? nullptr
                                  : way == 1 ? open_product_devices(backend)
                                             : idle_devices());
    for (const std::size_t i : {0, 1}) took[i][way] = pass_seconds(*matrix, columns[i]);
  }
  const auto devices = open_product_devices(backend);
  for (const std::size_t i : {0, 1}) {
    const double transfers =
        transfer_seconds(devices->kernels[0]->device(), static_cast<std::size_t>(columns[i]));
    std::printf(
        "a pass of %3d columns: %8.4f s, without kernels %8.4f s, its transfers alone %8.4f s; on "
        "%d CPU threads %8.4f s, speed %.2f\n",
        columns[i], took[i][1], took[i][2], transfers, hardware_threads(), took[i][0],
        took[i][0] / took[i][1]);
  }
}

}  // namespace ancify::test
