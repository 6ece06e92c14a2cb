// Times decoding of BGEN to calls beside inflating alone, on two threads: probabilities of 8 bits,
// by Zstandard and by zlib, of common and of rare variants.
//
//   ancify_bench_bgen FOLDER [SAMPLES VARIANTS]
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

#include "../tests/cpp/bgen_files.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/bgen_genotypes.h"
#include "core/formats/genotype/bgen_index.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/io/inflate.h"
#include "core/io/zstd_source.h"

namespace {

using ancify::BgenIndex;
using ancify::JobControl;

constexpr int kRounds = 7;
constexpr int kThreads = 2;

// Probabilities as imputation gives them: most samples are certain, others nearly so.
std::string imputed_block(std::int64_t samples, double frequency, std::mt19937_64& random) {
  std::string bytes = ancify::test::number_bytes(static_cast<std::uint64_t>(samples), 4) +
                      ancify::test::number_bytes(2, 2) + "\2\2" +
                      std::string(static_cast<std::size_t>(samples), '\2') + '\0' + '\x08';
  std::uniform_real_distribution<double> uniform;
  for (std::int64_t i = 0; i < samples; ++i) {
    const int copies = (uniform(random) < frequency) + (uniform(random) < frequency);
    const double share = uniform(random);
    const int doubt = share < 0.8 ? 0 : static_cast<int>(200 * (share - 0.8) * (share - 0.8) * 25);
    const int none = copies == 0 ? 255 - doubt : copies == 1 ? doubt : 0;
    const int one = copies == 1 ? 255 - doubt : doubt;
    bytes += static_cast<char>(none);
    bytes += static_cast<char>(std::min(one, 255 - none));
  }
  return bytes;
}

std::string bgen_text(std::int64_t samples, std::int64_t variants, unsigned compression,
                      double most_frequent) {
  std::mt19937_64 random(1);
  ancify::test::BgenOptions options;
  options.compression = compression;
  std::string text = ancify::test::bgen_header(static_cast<std::size_t>(samples),
                                               static_cast<std::size_t>(variants), options);
  for (std::int64_t j = 0; j < variants; ++j) {
    const double frequency = most_frequent * static_cast<double>(j + 1) / variants;
    text += ancify::test::bgen_identity({});
    text += ancify::test::bgen_compressed(imputed_block(samples, frequency, random), compression);
  }
  return text;
}

// Reads and inflates all blocks, in the pieces in which for_each_piece() has calls.
void inflate_alone(const std::string& path, const BgenIndex& index, JobControl& control) {
  const ancify::InputFile file(path);
  const std::int64_t n = index.header.variants;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, (1 << 20) / ((index.header.samples + 3) / 4));
  ancify::run_tasks(control, kThreads, (n + at_once - 1) / at_once, [&](std::int64_t piece, auto&) {
    const std::int64_t first = piece * at_once;
    const std::int64_t end = std::min(n, first + at_once);
    ancify::ZstdInflater zstd;
    std::string bytes;
    std::string text;
    for (std::int64_t j = first; j < end; ++j) {
      const std::int64_t begin = index.begins[static_cast<std::size_t>(j)];
      std::uint32_t sizes[2];
      file.read_at(reinterpret_cast<char*>(sizes), sizeof(sizes), begin);
      bytes.resize(sizes[0] - 4);
      text.resize(sizes[1]);
      file.read_at(bytes.data(), bytes.size(), begin + 8);
      if (index.header.compression == ancify::BgenCompression::kZstd) {
        zstd.inflate(bytes, text.data(), text.size());
      } else {
        ancify::inflate_zlib(bytes, text.data(), text.size());
      }
    }
  });
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void compare(const std::string& folder, std::int64_t samples, std::int64_t variants,
             unsigned compression, double most_frequent, const char* what) {
  const std::string path = folder + "/x.bgen";
  std::ofstream(path, std::ios::binary) << bgen_text(samples, variants, compression, most_frequent);
  JobControl control;
  const BgenIndex index = ancify::read_bgen_index(path, control);
  const ancify::BgenGenotypes file(ancify::InputFile(path), samples, index.begins,
                                   ancify::BgenRule{0.1});
  std::vector<std::int64_t> all(static_cast<std::size_t>(variants));
  std::iota(all.begin(), all.end(), 0);
  double ours = 1e300;
  double alone = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    ours = std::min(ours, seconds_of([&] {
                      ancify::for_each_piece(file, all, kThreads, control, [](auto...) {});
                    }));
    alone = std::min(alone, seconds_of([&] { inflate_alone(path, index, control); }));
  }
  const double rate = static_cast<double>(samples * variants) / ours / 1e6;
  std::printf("%-52s %6.2f  %5.0f million calls a second\n", what, ours / alone, rate);
  std::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "ancify_bench_bgen FOLDER [SAMPLES VARIANTS]\n");
    return 2;
  }
  const std::int64_t samples = argc == 4 ? std::atoll(argv[2]) : 100'000;
  const std::int64_t variants = argc == 4 ? std::atoll(argv[3]) : 200;
  std::printf("calls of BGEN over inflating alone, 8 bits, 2 threads\n");
  compare(argv[1], samples, variants, 2, 0.5, "Zstandard, common variants (at most 1.5)");
  compare(argv[1], samples, variants, 2, 0.005, "Zstandard, rare variants");
  compare(argv[1], samples, variants, 1, 0.5, "zlib, common variants");
  compare(argv[1], samples, variants, 1, 0.005, "zlib, rare variants");
}
