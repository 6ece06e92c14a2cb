// Chooses the CPU or GPUs, and explains why a GPU cannot be used.
#include "core/device/backend.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/cards.h"
#endif

namespace ancify {

namespace {

std::string version_of(const Gpu& card) {
  return std::to_string(card.major) + "." + std::to_string(card.minor);
}

// "75 80 120" as compute capabilities: "7.5, 8.0, 12.0"
std::string capabilities(const std::string& archs) {
  std::string text;
  std::istringstream words(archs);
  for (int arch = 0; words >> arch;) {
    text +=
        (text.empty() ? "" : ", ") + std::to_string(arch / 10) + "." + std::to_string(arch % 10);
  }
  return text;
}

// The reason why this process cannot use any GPU, whatever the machine has; empty if it can.
std::string why_not_here() {
#ifdef ANCIFY_HAVE_CUDA
  if (!in_forked_child()) return "";
  return "a GPU cannot be used in a forked process: use a cluster of new R processes";
#else
  return "this build of ancify has no GPU code: install it again with nvcc, or use the CPU";
#endif
}

std::vector<int> choose_devices(const std::vector<int>& wanted, const Gpus& gpus) {
  if (gpus.usable.empty()) throw DeviceError(gpus.problem);
  std::vector<int> numbers;
  std::string listed;
  for (const auto& gpu : gpus.usable) {
    numbers.push_back(gpu.number);
    listed += (listed.empty() ? "" : ", ") + std::to_string(gpu.number);
  }
  for (const int device : wanted) {
    if (std::count(numbers.begin(), numbers.end(), device) == 0) {
      throw DeviceError("GPU " + std::to_string(device) + " cannot be used here. Usable GPUs: " +
                        listed + (gpus.problem.empty() ? "" : ". " + gpus.problem));
    }
  }
  return wanted.empty() ? numbers : wanted;
}

}  // namespace

bool runs_on(const std::string& archs, int major, int minor) {
  std::istringstream words(archs);
  int last = std::numeric_limits<int>::max();
  for (int arch = 0; words >> arch; last = arch) {
    if (arch / 10 == major && arch % 10 <= minor) return true;
  }
  return 10 * major + minor >= last;
}

Gpus usable_gpus(const std::vector<Gpu>& cards, const std::string& archs, int per_card) {
  Gpus gpus;
  for (Gpu gpu : cards) {
    const int card = gpu.number;
    if (!runs_on(archs, gpu.major, gpu.minor)) {
      gpus.problem += (gpus.problem.empty() ? "" : ". ") + std::string("cuda:") +
                      std::to_string(card * per_card) + " (" + gpu.name +
                      ") has compute capability " + version_of(gpu) +
                      ", but this build's code is for " + capabilities(archs) +
                      " and later: install ancify with another CUDA toolkit (13 starts at 7.5)";
      continue;
    }
    for (int i = 0; i < per_card; ++i) {
      gpu.number = card * per_card + i;
      gpus.usable.push_back(gpu);
    }
  }
  return gpus;
}

Gpus available_gpus(int per_card) {
  Gpus gpus = {{}, why_not_here()};
  if (!gpus.problem.empty()) return gpus;
#ifdef ANCIFY_HAVE_CUDA
  try {
    gpus = usable_gpus(cuda::cards(), ANCIFY_CUDA_ARCHS, per_card);
  } catch (const DeviceError& error) {
    gpus.problem = error.what();
  }
#endif
  (void)per_card;
  return gpus;
}

void check_usable_here(const Backend& backend) {
  if (backend.kind == BackendKind::kCpu) return;
  const std::string why = why_not_here();
  if (!why.empty()) throw DeviceError(why);
}

std::string Backend::description() const {
  const auto plural = [](std::size_t n, const std::string& word) {
    return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
  };
  if (kind == BackendKind::kCpu) {
    return std::string("CPU backend (") + simd_name(simd) + ", " +
           plural(static_cast<std::size_t>(threads), "thread") + ")";
  }
  std::string names;
  for (const int device : devices) {
    names += (names.empty() ? "cuda:" : ", cuda:") + std::to_string(device);
  }
  return "GPU backend (" + plural(devices.size(), "device") + ": " + names + ")";
}

Backend choose_backend(const BackendWish& wish) {
  return choose_backend(wish, [&] { return available_gpus(wish.gpus_per_card); });
}

Backend choose_backend(const BackendWish& wish, const std::function<Gpus()>& gpus) {
  Backend backend;
  backend.simd = choose_simd_level(wish.simd);
  backend.threads = std::clamp(wish.threads, 1, kMostThreads);
  backend.gpus_per_card = wish.gpus_per_card;
  backend.gpu_memory = wish.gpu_memory;
  if (wish.kind == "gpu") {
    backend.kind = BackendKind::kGpu;
    backend.devices = choose_devices(wish.devices, gpus());
  } else if (wish.kind != "cpu" && wish.kind != "auto") {
    throw InputError("backend must be \"auto\", \"cpu\" or \"gpu\", not \"" + wish.kind + "\"");
  }
  return backend;
}

}  // namespace ancify
