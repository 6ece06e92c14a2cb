// Times a model of LightGBM. benchmarks/in_python.py runs it:
//
//   ancify_bench_trees MODEL FEATURES ROWS THREADS PROBABILITIES
//
// FEATURES has 32-bit floats, the first feature of all rows first. PROBABILITIES is written, as
// doubles. Prints the seconds of the best of five rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/ancestry/trained/boosted_trees.h"
#include "core/exec/threads.h"
#include "core/genome/bases.h"

int main(int, char** argv) {
  const std::size_t n = std::stoull(argv[3]);
  const int threads = std::stoi(argv[4]);
  std::ifstream in(argv[2], std::ios::binary | std::ios::ate);
  std::vector<float> values(static_cast<std::size_t>(in.tellg()) / sizeof(float));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(float)));

  const auto features = static_cast<int>(values.size() / n);
  const ancify::BoostedTrees trees(ancify::read_lightgbm_model(argv[1], features), features);
  std::vector<double> out(n * ancify::kBases);
  constexpr std::size_t piece = 1 << 12;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    ancify::JobControl control;
    ancify::run_tasks(control, threads, static_cast<std::int64_t>((n + piece - 1) / piece),
                      [&](std::int64_t i, const ancify::TaskContext&) {
                        const std::size_t at = static_cast<std::size_t>(i) * piece;
                        trees.probabilities({values.data() + at, n, std::min(piece, n - at)},
                                            ancify::best_simd_level(), &out[at * ancify::kBases]);
                      });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::ofstream(argv[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()),
             static_cast<std::streamsize>(out.size() * sizeof(double)));
  std::printf("%.9f\n", best);
}
