// The program of a kernel, for benchmarks/compare, on one thread:
//
//   ancify_kernel_NAME FOLDER REPETITIONS    does the work so often
//   ancify_kernel_NAME FOLDER                repeats it for a while; prints the seconds of one time
//
// It ends with 77 where the build lacks what the kernel needs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kernel.h"

namespace {

constexpr double kSeconds = 0.2;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{0};
  int times = 0;
  while (passed.count() < kSeconds) {
    work();
    ++times;
    passed = std::chrono::steady_clock::now() - start;
  }
  return passed.count() / times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER [REPETITIONS]\n", argv[0]);
    return 2;
  }
  try {
    const auto work = ancify::bench::make_kernel(argv[1]);
    if (!work) return 77;
    if (argc == 2) {
      work();
      std::printf("%.9f\n", seconds_of(work));
    } else {
      for (int i = std::atoi(argv[2]); i > 0; --i) work();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
