// The compute backend: the CPU, or GPUs if the build and the machine have them.
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
  std::vector<int> devices;    // indices of the GPUs, empty for the CPU
  int gpus_per_card = 1;       // device d is on card d / gpus_per_card
  std::size_t gpu_memory = 0;  // bytes to use on each GPU, or 0 for all free memory

  // A description for the first line of a run's log.
  std::string description() const;
};

// A GPU, by its index; its compute capability is major.minor.
struct Gpu {
  int number;
  std::string name;
  std::size_t memory;  // bytes
  int major;
  int minor;
};

// The GPUs found.
struct Gpus {
  std::vector<Gpu> usable;  // the GPUs that can run this build's code
  std::string problem;      // why no GPU is usable, or why a card is left out; else empty
};

// True if code for these architectures, such as "75 80 90", runs on a card. One of them must have
// the card's major version and at most its minor version. Code for the last architecture is also
// kept as PTX, which runs on newer cards.
bool runs_on(const std::string& archs, int major, int minor);

// The cards that can run code for these architectures. With `per_card` above 1 each card counts as
// several devices, so that tests can use several devices on one card.
Gpus usable_gpus(const std::vector<Gpu>& cards, const std::string& archs, int per_card);

// The GPUs of this machine. Never throws, and touches no card in a forked child.
Gpus available_gpus(int per_card);

// The backend that the user requests.
struct BackendWish {
  std::string kind = "auto";  // or "cpu" or "gpu"
  std::vector<int> devices;   // empty for all
  int threads = 1;
  std::string simd = "auto";  // as for choose_simd_level()
  int gpus_per_card = 1;
  std::size_t gpu_memory = 0;  // bytes to use on each GPU, or 0 for all free memory
};

// Chooses a backend. "auto" means the CPU until GPUs have been measured to be faster: each base
// would cross the bus to a GPU, while the CPU calls as fast as it copies. Throws DeviceError, with
// the reason, if the user requests a GPU that cannot be used. Throws InputError for an unknown
// kind.
Backend choose_backend(const BackendWish& wish);
// Like the function above, with GPUs from gpus(), which is called only if the user requests a GPU.
Backend choose_backend(const BackendWish& wish, const std::function<Gpus()>& gpus);

// Throws DeviceError if this process cannot use a backend that another process chose. Its build
// then lacks GPU code, or it is a forked child whose parent may have touched a card.
void check_usable_here(const Backend& backend);

}  // namespace ancify
