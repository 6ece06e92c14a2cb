// Times products with a kernel of packed genotypes: one column beside a sweep over the packed
// bytes, 64 columns beside OpenBLAS with genotypes as floats, and two threads beside one. Also
// products with weighted blocks beside these, with lists of non-modal genotypes beside packed ones,
// and with dosages of 8 bits beside OpenBLAS.
//
//   ancify_bench_reml [SAMPLES VARIANTS]
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/weighted_kernels.h"
#include "kernels/dosages.h"

namespace {

using ancify::GenotypeMatrix;
using ancify::JobControl;
using ancify::SimdLevel;
using ancify::bench::random_matrix;
using ancify::reml::GenotypeKernels;
using ancify::reml::Precision;
using ancify::reml::WeightBlock;
using ancify::reml::WeightedKernels;

constexpr int kRounds = 5;
constexpr int kColumns = 64;
constexpr std::int64_t kBlock = 500;  // variants of a weighted block

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The least seconds of each job, which take turns.
std::vector<double> best_of(const std::vector<std::function<void()>>& jobs) {
  std::vector<double> best(jobs.size(), 1e300);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) best[i] = std::min(best[i], seconds_of(jobs[i]));
  }
  return best;
}

// The median seconds of each job, which take turns.
std::vector<double> medians_of(const std::vector<std::function<void()>>& jobs) {
  std::vector<std::vector<double>> seconds(jobs.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) seconds[i].push_back(seconds_of(jobs[i]));
  }
  std::vector<double> medians;
  for (auto& of_job : seconds) {
    std::nth_element(of_job.begin(), of_job.begin() + kRounds / 2, of_job.end());
    medians.push_back(of_job[kRounds / 2]);
  }
  return medians;
}

void report(const char* what, double ratio, const char* goal) {
  std::printf("%-72s %6.2f  %s\n", what, ratio, goal);
  std::fflush(stdout);
}

std::uint64_t sum_of_words(const std::uint8_t* bytes, std::int64_t n) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes);
  std::uint64_t lanes[8] = {};
  for (std::int64_t i = 0; i < n / 8; ++i) lanes[i % 8] += words[i];
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

// A kernel of all variants, and the operands of its product.
class Products {
 public:
  Products(std::int64_t n, std::int64_t m, const ancify::GenotypeWork& work,
           const ancify::bench::Frequencies& frequencies = ancify::bench::kCommon)
      : matrix_(random_matrix(n, m, work, control_, frequencies)) {
    prepare();
  }
  explicit Products(std::unique_ptr<GenotypeMatrix> matrix) : matrix_(std::move(matrix)) {
    prepare();
  }
  void times(int columns) {
    const double theta = 1;
    kernels_->times(&theta, v_.data(), columns, Precision::kProbes, out_.data());
  }
  // Such a kernel with weights, in blocks of kBlock variants.
  void weigh() {
    std::vector<WeightBlock> blocks;
    for (std::int64_t first = 0; first < matrix_->variants(); first += kBlock) {
      const std::int64_t size = std::min(kBlock, matrix_->variants() - first);
      weights_.emplace_back(static_cast<std::size_t>(size * size), 0.001);
      std::vector<double>& values = weights_.back();
      for (std::int64_t j = 0; j < size; ++j) values[static_cast<std::size_t>(j * (size + 1))] = 1;
      blocks.push_back({values.data(), size, 0});
    }
    weighted_ =
        std::make_unique<WeightedKernels>(*matrix_, blocks, std::vector<double>{1.0}, -1, control_);
  }
  void times_weighted() {
    const double theta = 1;
    weighted_->times(&theta, v_.data(), kColumns, Precision::kProbes, out_.data());
  }
  // Reads each packed byte once.
  std::uint64_t sweep() {
    std::atomic<std::uint64_t> sum{0};
    matrix_->for_each_stored_tile(
        control_, [](std::int64_t) { return true; },
        [&](const ancify::StoredTile& tile) {
          ancify::run_tasks(
              control_, matrix_->work().threads, static_cast<std::int64_t>(tile.blocks.size()),
              [&](std::int64_t i, const ancify::TaskContext&) {
                const auto& block = tile.blocks[static_cast<std::size_t>(i)];
                sum += sum_of_words(block.rows, ancify::stored_bytes(*block.layout, block.samples));
              });
        });
    return sum;
  }

 private:
  void prepare() {
    const std::int64_t numbers = matrix_->samples() * kColumns;
    std::vector<ancify::reml::ComponentWeight> weights;
    for (std::int64_t j = 0; j < matrix_->variants(); ++j) weights.push_back({j, 0, 1});
    kernels_ = std::make_unique<GenotypeKernels>(*matrix_, weights, 1, -1, control_);
    for (std::int64_t i = 0; i < numbers; ++i) {
      v_.push_back(static_cast<double>(i * 7919 % 2003) / 1001.5 - 1);
    }
    out_.resize(v_.size());
  }

  JobControl control_;
  std::unique_ptr<GenotypeMatrix> matrix_;
  std::unique_ptr<GenotypeKernels> kernels_;
  std::vector<std::vector<double>> weights_;
  std::unique_ptr<WeightedKernels> weighted_;
  std::vector<double> v_;
  std::vector<double> out_;
};

// OpenBLAS's own functions, whatever BLAS the core has.
class OpenBlas {
 public:
  OpenBlas() {
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    set_threads_ = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  }
  bool is_there() const { return sgemm_ != nullptr && set_threads_ != nullptr; }
  void set_threads(int threads) const { set_threads_(threads); }
  // t = g' v and out = g t, with g of n x m.
  void times(int n, int m, const float* g, const float* v, float* t, float* out) const {
    sgemm_(kColumnMajor, kTranspose, kNoTranspose, m, kColumns, n, 1, g, n, v, n, 0, t, m);
    sgemm_(kColumnMajor, kNoTranspose, kNoTranspose, n, kColumns, m, 1, g, n, t, m, 0, out, n);
  }

 private:
  static constexpr int kColumnMajor = 102;
  static constexpr int kNoTranspose = 111;
  static constexpr int kTranspose = 112;
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using SetThreads = void (*)(int);
  Sgemm sgemm_ = nullptr;
  SetThreads set_threads_ = nullptr;
};

// The products of OpenBLAS with genotypes as floats.
class FloatProducts {
 public:
  FloatProducts(std::int64_t n, std::int64_t m)
      : n_(static_cast<int>(n)),
        m_(static_cast<int>(m)),
        v_(static_cast<std::size_t>(n) * kColumns, 0.5F),
        t_(static_cast<std::size_t>(m) * kColumns),
        out_(v_.size()) {
    for (std::int64_t i = 0; i < n * m; ++i) {
      g_.push_back(static_cast<float>((i * 7919 >> 5) % 3));
    }
  }
  void times(const OpenBlas& blas, int threads) {
    blas.set_threads(threads);
    blas.times(n_, m_, g_.data(), v_.data(), t_.data(), out_.data());
  }

 private:
  int n_;
  int m_;
  std::vector<float> g_;
  std::vector<float> v_;
  std::vector<float> t_;
  std::vector<float> out_;
};

// Adds the products of OpenBLAS on one thread and on two as the last jobs, if it is available. The
// jobs need the result.
std::unique_ptr<FloatProducts> add_floats(std::int64_t n, std::int64_t m, const OpenBlas& blas,
                                          std::vector<std::function<void()>>& jobs) {
  if (!blas.is_there()) return nullptr;
  auto floats = std::make_unique<FloatProducts>(n, m);
  for (const int threads : {1, 2}) {
    jobs.emplace_back([&blas, floats = floats.get(), threads] { floats->times(blas, threads); });
  }
  return floats;
}

// `ours`: the jobs on one thread and on two to compare with the last jobs.
void report_floats(const std::vector<double>& seconds, const std::array<std::size_t, 2>& ours,
                   SimdLevel simd, const OpenBlas& blas) {
  if (!blas.is_there()) {
    std::printf("there is no libopenblas.so.0\n");
    return;
  }
  const char* goal = simd == SimdLevel::kAvx512 ? "at least 1" : "at least 0.5";
  const double* const floats = &seconds[seconds.size() - 2];
  report("... one thread, speed over OpenBLAS sgemm", floats[0] / seconds[ours[0]], goal);
  report("... two threads, speed over OpenBLAS sgemm", floats[1] / seconds[ours[1]], goal);
}

void compare_level(std::int64_t n, std::int64_t m, SimdLevel simd, const OpenBlas& blas) {
  const bool best = simd == SimdLevel::kAvx512;
  Products one(n, m, {1, simd, 0});
  Products two(n, m, {2, simd, 0});
  volatile std::uint64_t kept = 0;
  std::vector<std::function<void()>> jobs = {
      [&] { kept = kept + one.sweep(); }, [&] { one.times(1); },
      [&] { one.times(kColumns); },       [&] { two.times(1); },
      [&] { two.times(kColumns); },       [&] { kept = kept + two.sweep(); }};
  const auto floats = add_floats(n, m, blas, jobs);
  const std::vector<double> seconds = best_of(jobs);
  std::printf("%s, %lld samples, %lld variants\n", ancify::simd_name(simd),
              static_cast<long long>(n), static_cast<long long>(m));
  report("K v, one column, over a sweep of the packed bytes", seconds[1] / seconds[0],
         best ? "at most 6" : "at most 12");
  report("... two threads, speed over one", seconds[1] / seconds[3], "at least 1.8");
  report("... the sweep on two threads, speed over one", seconds[0] / seconds[5], "");
  report("K V, 64 columns: two threads, speed over one", seconds[2] / seconds[4], "at least 1.8");
  report_floats(seconds, {2, 4}, simd, blas);
}

void compare_dosages(std::int64_t n, std::int64_t m, SimdLevel simd, const OpenBlas& blas) {
  JobControl control;
  Products one(ancify::bench::random_dosages(n, m, {1, simd, 0}, control));
  Products two(ancify::bench::random_dosages(n, m, {2, simd, 0}, control));
  std::vector<std::function<void()>> jobs = {[&] { one.times(1); }, [&] { one.times(kColumns); },
                                             [&] { two.times(kColumns); }};
  const auto floats = add_floats(n, m, blas, jobs);
  const std::vector<double> seconds = best_of(jobs);
  std::printf("%s, dosages of 8 bits\n", ancify::simd_name(simd));
  report("K V, 64 columns: two threads, speed over one", seconds[1] / seconds[2], "");
  report("... 64 columns over one column, in time", seconds[1] / seconds[0], "");
  report_floats(seconds, {1, 2}, simd, blas);
}

void compare_weighted(std::int64_t n, std::int64_t m, SimdLevel simd) {
  for (const int threads : {1, 2}) {
    Products products(n, m, {threads, simd, 0});
    const double trace = seconds_of([&] { products.weigh(); });
    const std::vector<double> seconds =
        medians_of({[&] { products.times(kColumns); }, [&] { products.times_weighted(); }});
    std::printf("%s, weighted blocks of %lld, threads: %d\n", ancify::simd_name(simd),
                static_cast<long long>(kBlock), threads);
    report("K V, 64 columns, time over the plain product", seconds[1] / seconds[0], "at most 1.5");
    report("... the traces, once, over the plain product", trace / seconds[0], "");
  }
}

// Both are the least of several rounds, by turns.
void compare_carriers(std::int64_t n, std::int64_t m, SimdLevel simd,
                      const ancify::bench::Frequencies& frequencies) {
  Products lists(n, m, {1, simd, 0, true}, frequencies);
  Products packed(n, m, {1, simd, 0, false}, frequencies);
  const std::vector<double> seconds =
      best_of({[&] { packed.times(kColumns); }, [&] { lists.times(kColumns); },
               [&] { packed.times(1); }, [&] { lists.times(1); }});
  std::printf("%s, %lld samples, %lld variants of %.2g to %.2g %%\n", ancify::simd_name(simd),
              static_cast<long long>(n), static_cast<long long>(m), frequencies.least / 655.36,
              frequencies.end / 655.36);
  report("K V, 64 columns, carriers: speed over packed", seconds[0] / seconds[1],
         frequencies.end == ancify::bench::kRare.end ? "at least 3" : "");
  report("... one column", seconds[2] / seconds[3], "");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::int64_t n = argc == 3 ? std::atoll(argv[1]) : 8192;
    const std::int64_t m = argc == 3 ? std::atoll(argv[2]) : 32768;
    const OpenBlas blas;
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2}) {
      if (level <= ancify::best_simd_level()) compare_level(n, m, level, blas);
    }
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2}) {
      if (level <= ancify::best_simd_level()) compare_dosages(n, m / 4, level, blas);
    }
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2}) {
      if (level <= ancify::best_simd_level()) compare_weighted(n, m, level);
    }
    for (const SimdLevel level : {SimdLevel::kAvx512, SimdLevel::kAvx2}) {
      if (level > ancify::best_simd_level()) continue;
      compare_carriers(n, m, level, ancify::bench::kRare);
      // Of listed variants, the most frequent gain least.
      compare_carriers(n, m / 4, level, {600, 1000});
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
