// Compares a GPU with the CPU, and measures its speed. Needs neither R nor a test framework; see
// Makefile. The exit status is 0 if all is equal, 1 if not, 2 for wrong arguments, and 77 without
// a GPU.
#include "driver.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "core/exec/threads.h"

namespace ancify::test {

namespace {

constexpr int kMostRounds = 20;
constexpr double kMostSeconds = 1;

}  // namespace

void Checks::expect(bool right, const std::string& what) {
  ++done_;
  if (right) return;
  ++failed_;
  std::printf("WRONG: %s\n", what.c_str());
}

Backend three_devices(const Backend& backend) {
  Backend three = backend;
  three.gpus_per_card = 3;
  three.devices.clear();
  for (const Gpu& gpu : available_gpus(3).usable) three.devices.push_back(gpu.number);
  three.devices.resize(3);
  return three;
}

double seconds(Device& device, const std::function<void()>& begin) {
  double best = 1e9;
  double all = 0;
  for (int round = 0; round <= kMostRounds && (round < 3 || all < kMostSeconds); ++round) {
    const auto start = std::chrono::steady_clock::now();
    begin();
    device.wait(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    all += took.count();
    if (round > 0) best = std::min(best, took.count());
  }
  return best;
}

namespace {

constexpr int kNoGpu = 77;

struct Task {
  const char* name;
  void (*run)(const Family& family, Checks& checks, const Backend& backend);
};

template <Extent kExtent>
void check(const Family& family, Checks& checks, const Backend& backend) {
  family.check(checks, backend, kExtent);
}

constexpr std::array<Task, 4> kTasks = {{
    {"check", check<Extent::kAll>},
    {"short", check<Extent::kShort>},
    {"small", check<Extent::kSmall>},
    {"time", [](const Family& family, Checks& /*checks*/,
                const Backend& backend) { family.time(backend); }},
}};

int usage() {
  std::printf("usage: gpu_driver check|short|small|time [FAMILY]\nfamilies:");
  for (const Family& family : kFamilies) std::printf(" %s", family.name);
  std::printf("\n");
  return 2;
}

// All families if `wanted` is empty.
int run(const std::string& what, const std::string& wanted) {
  const auto* const task =
      std::find_if(kTasks.begin(), kTasks.end(), [&](const Task& one) { return what == one.name; });
  const bool known =
      wanted.empty() || std::any_of(kFamilies.begin(), kFamilies.end(),
                                    [&](const Family& family) { return wanted == family.name; });
  if (task == kTasks.end() || !known) return usage();
  const Gpus gpus = available_gpus(1);
  if (gpus.usable.empty()) {
    std::printf("NOT RUN, there is no GPU to use: %s\n", gpus.problem.c_str());
    return kNoGpu;
  }
  const Gpu& gpu = gpus.usable.front();
  std::printf("%s, %d CPU threads\n", gpu.name.c_str(), hardware_threads());
  Backend backend;
  backend.devices = {gpu.number};
  Checks checks;
  for (const Family& family : kFamilies) {
    if (wanted.empty() || wanted == family.name) task->run(family, checks, backend);
  }
  if (checks.done() > 0) std::printf("%d checks, %d wrong\n", checks.done(), checks.failed());
  return checks.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ancify::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // keep all output, even after a crash
  try {
    if (argc > 3) return ancify::test::usage();
    return ancify::test::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
