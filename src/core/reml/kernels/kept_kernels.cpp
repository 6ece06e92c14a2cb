// Dense kernels, most recently used first.
#include "core/reml/kernels/kept_kernels.h"

#include <algorithm>
#include <new>

#include "core/reml/linear_algebra/tall_blocks.h"

namespace ancify::reml {

namespace {

bool are_equal(const KernelSource& a, const KernelSource& b) {
  const auto same_weight = [](const ComponentWeight& x, const ComponentWeight& y) {
    return x.variant == y.variant && x.component == y.component && x.weight == y.weight;
  };
  return a.chosen.samples == b.chosen.samples && a.chosen.variants == b.chosen.variants &&
         a.scale_power == b.scale_power &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    same_weight);
}

std::int64_t bytes_of(const std::vector<double>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(double));
}

}  // namespace

const double* KeptKernels::find(const KernelSource& source, int component) {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& kernel) {
    return kernel.component == component && are_equal(*kernel.source, source);
  });
  if (found == kernels_.end()) return nullptr;
  kernels_.splice(kernels_.begin(), kernels_, found);
  return kernels_.front().values.data();
}

void KeptKernels::make_room(std::int64_t bytes, std::int64_t most_bytes) {
  for (const Kernel& kernel : kernels_) bytes += bytes_of(kernel.values);
  while (bytes > most_bytes && !kernels_.empty()) {
    bytes -= bytes_of(kernels_.back().values);
    kernels_.pop_back();
  }
}

void KeptKernels::keep(const std::shared_ptr<const KernelSource>& source, int component,
                       const double* kernel, std::int64_t most_bytes) {
  const auto n = static_cast<std::int64_t>(source->chosen.samples.size());
  const std::size_t size = area(n, n);
  const auto bytes = static_cast<std::int64_t>(size * sizeof(double));
  make_room(bytes, most_bytes);
  if (bytes > most_bytes) return;
  try {
    kernels_.push_front({source, component, std::vector<double>(kernel, kernel + size)});
  } catch (const std::bad_alloc&) {
    clear();  // a job can continue without kept kernels
  }
}

}  // namespace ancify::reml
