// Times training of the classifier of embeddings: rows as wide as VirNucPro's, an epoch of 3200.
//
//   ancify_bench_classifier [ROWS WIDTH]     3200 3328
//
// Prints the time of an epoch at 1 and 2 threads, elapsed and of processors: a quarter of what five
// epochs take longer than one, each the best of 3.
#include "core/models/classifier.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "kernels/level.h"
#include "multiplier.h"

namespace {

ancify::LabelledRows random_rows(std::int64_t n, std::int64_t width, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  ancify::LabelledRows rows;
  for (std::int64_t i = 0; i < n; ++i) rows.labels.push_back(static_cast<std::int32_t>(i % 2));
  for (std::int64_t i = 0; i < n * width; ++i) rows.values.push_back(normal(generator));
  return rows;
}

struct Seconds {
  double elapsed = 1e300;
  double used = 1e300;
};

Seconds time_training(std::int64_t epochs, int threads, std::int64_t width,
                      const ancify::LabelledRows& training, const ancify::LabelledRows& held_out) {
  ancify::TrainingSettings settings;
  settings.most_epochs = epochs;
  Seconds best;
  for (int round = 0; round < 3; ++round) {
    ancify::JobControl control;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    ancify::train_classifier(width, training, held_out, settings,
                             {threads, ancify::bench::kernel_level()}, control);
    const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = {std::min(best.elapsed, took.count()), std::min(best.used, used)};
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc == 3 ? std::atoll(argv[1]) : 3200;
  const std::int64_t width = argc == 3 ? std::atoll(argv[2]) : 3328;
  const ancify::LabelledRows training = random_rows(n, width, 1);
  const ancify::LabelledRows held_out = random_rows(32, width, 2);
  for (const int threads : {1, 2}) {
    const Seconds one = time_training(1, threads, width, training, held_out);
    const Seconds five = time_training(5, threads, width, training, held_out);
    std::printf("%s, %lld rows of %lld, %d thread(s): %.3f s an epoch, %.3f s of processors\n",
                ancify::bench::kMultiplier, static_cast<long long>(n),
                static_cast<long long>(width), threads, (five.elapsed - one.elapsed) / 4,
                (five.used - one.used) / 4);
  }
}
