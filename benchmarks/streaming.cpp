// Times a product with the kernel of a BED that exceeds the memory for genotypes, from opening the
// file on, beside reading the file alone; and the most memory that the process had. The file is
// read from memory of the system ("cached"), and from the disk ("dropped").
//
//   ancify_bench_streaming FOLDER [SAMPLES VARIANTS COLUMNS]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/device/simd.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/reml/kernels/genotype_kernels.h"

namespace {

using ancify::GenotypeMatrix;
using ancify::JobControl;
using ancify::reml::GenotypeKernels;

constexpr int kRounds = 5;
constexpr int kThreads = 2;
constexpr std::int64_t kMemory = std::int64_t{256} << 20;  // for genotypes

// Variants with frequencies of 2 % to 50 %: four samples' codes in a byte.
void write_bed(const std::string& path, std::int64_t samples, std::int64_t variants) {
  std::ofstream file(path, std::ios::binary);
  file << "\x6c\x1b\x01";
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> frequencies(0.02, 0.5);
  std::string row(static_cast<std::size_t>((samples + 3) / 4), '\0');
  for (std::int64_t j = 0; j < variants; ++j) {
    const auto threshold = static_cast<std::uint64_t>(256 * frequencies(random));
    std::uint64_t bits = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      if (i % 4 == 0) bits = random();
      const int copies = ((bits & 255) < threshold) + ((bits >> 8 & 255) < threshold);
      bits >>= 16;
      auto& byte = row[static_cast<std::size_t>(i / 4)];
      if (i % 4 == 0) byte = 0;
      byte = static_cast<char>(byte | (copies == 0 ? 3 : copies == 1 ? 2 : 0) << 2 * (i % 4));
    }
    file << row;
  }
}

std::vector<std::int64_t> first_numbers(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Reads all bytes, in pieces of a megabyte.
void read_alone(const std::string& path) {
  const ancify::InputFile file(path);
  constexpr std::int64_t piece = 1 << 20;
  JobControl control;
  ancify::run_tasks(control, kThreads, (file.size() + piece - 1) / piece,
                    [&](std::int64_t i, const ancify::TaskContext&) {
                      static thread_local std::vector<char> buffer(piece);
                      const std::int64_t n = std::min(piece, file.size() - i * piece);
                      file.read_at(buffer.data(), static_cast<std::size_t>(n), i * piece);
                    });
}

void multiply(const std::string& path, std::int64_t samples, std::int64_t variants, int columns) {
  JobControl control;
  const GenotypeMatrix matrix(ancify::open_genotype_file(path, samples, variants),
                              {first_numbers(samples), first_numbers(variants)},
                              {kThreads, ancify::best_simd_level(), kMemory}, control);
  std::vector<ancify::reml::ComponentWeight> weights;
  for (std::int64_t j = 0; j < variants; ++j) weights.push_back({j, 0, 1});
  GenotypeKernels kernels(matrix, weights, 1, -1, control);
  std::vector<double> v(static_cast<std::size_t>(samples * columns));
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (double& x : v) x = normal(random);
  std::vector<double> out(v.size());
  const double theta = 1;
  kernels.times(&theta, v.data(), columns, ancify::reml::Precision::kFull, out.data());
}

// Removes the file from the system's memory.
void drop(const std::string& path) {
  const ancify::InputFile file(path);
  fdatasync(file.descriptor());
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

void compare(const std::string& path, const char* how, bool dropped,
             const std::function<void()>& work) {
  std::vector<double> alone;
  std::vector<double> ours;
  for (int round = 0; round < kRounds; ++round) {
    if (dropped) drop(path);
    alone.push_back(seconds_of([&] { read_alone(path); }));
    if (dropped) drop(path);
    ours.push_back(seconds_of(work));
  }
  std::printf("%-8s  reading %6.2f s, with products %6.2f s: %5.2f\n", how, median(alone),
              median(ours), median(ours) / median(alone));
}

double peak_gigabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) * 1024 / 1e9;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("name a folder\n", stderr), 1;
  const auto number = [&](int i, std::int64_t usual) {
    return argc > i ? std::strtoll(argv[i], nullptr, 10) : usual;
  };
  const std::int64_t samples = number(2, 20000);
  const std::int64_t variants = number(3, 100000);
  const auto columns = static_cast<int>(number(4, 1));
  const std::string path = std::string(argv[1]) + "/streaming.bed";
  write_bed(path, samples, variants);
  const auto work = [&] { multiply(path, samples, variants, columns); };
  compare(path, "cached", false, work);
  compare(path, "dropped", true, work);
  std::printf("peak memory %.2f GB\n", peak_gigabytes());
  std::remove(path.c_str());
  return 0;
}
