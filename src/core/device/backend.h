// What computes: the CPU, or GPUs where the build and the machine have them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/device/simd.h"

namespace ancify {

enum class BackendKind { kCpu, kGpu };

struct Backend {
  BackendKind kind = BackendKind::kCpu;
  int threads = 1;
  SimdLevel simd = SimdLevel::kScalar;
  std::vector<int> devices;    // numbers of the GPUs, empty for the CPU
  int gpus_per_card = 1;       // device d is on card d / gpus_per_card
  std::size_t gpu_memory = 0;  // bytes that may be taken of each, or 0 for what is free

  // As the first line of a run's log says it.
  std::string description() const;
};

// A GPU, by its number; its compute capability is major.minor.
struct Gpu {
  int number;
  std::string name;
  std::size_t memory;  // bytes
  int major;
  int minor;
};

// The GPUs there are.
struct Gpus {
  std::vector<Gpu> usable;  // those that can run this build's code
  std::string problem;      // why there are none, or why a card is left out; else empty
};

// Whether code for these architectures, such as "75 80 90", runs on a card: that of the same major
// version and at most its minor one, and what is made from the last of them, which is kept in a
// form for cards to come.
bool runs_on(const std::string& archs, int major, int minor);

// Those of all cards that can run code for these architectures. Each counts as several devices
// where `per_card` is above 1, so that several can be tested on one.
Gpus usable_gpus(const std::vector<Gpu>& cards, const std::string& archs, int per_card);

// This machine's. Nothing is thrown; in a forked child no card is touched.
Gpus available_gpus(int per_card);

// What is asked for.
struct BackendWish {
  std::string kind = "auto";  // or "cpu" or "gpu"
  std::vector<int> devices;   // empty for all
  int threads = 1;
  std::string simd = "auto";  // as choose_simd_level() takes it
  int gpus_per_card = 1;
  std::size_t gpu_memory = 0;  // bytes to take of a device, or 0 for all that is free
};

// "auto" is the CPU until a card has been measured: each base crosses the bus to a GPU, while the
// CPU calls as fast as it copies. DeviceError with the reason where a GPU is asked for by name and
// cannot be used.
Backend choose_backend(const BackendWish& wish);
// The same from the GPUs that there are, asked for only if need be.
Backend choose_backend(const BackendWish& wish, const std::function<Gpus()>& gpus);

// DeviceError where a backend that was chosen in another process can't be used in this one: its
// build has no GPU code, or it is a forked child of one that may have touched a card.
void check_usable_here(const Backend& backend);

}  // namespace ancify
