#include "core/reml/kept_kernels.h"

#include <algorithm>
#include <utility>

namespace ancify::reml {

namespace {

bool are_equal(const KernelSource& a, const KernelSource& b) {
  const auto same_weight = [](const ComponentWeight& x, const ComponentWeight& y) {
    return x.variant == y.variant && x.component == y.component && x.weight == y.weight;
  };
  return a.chosen.samples == b.chosen.samples && a.chosen.variants == b.chosen.variants &&
         a.components == b.components && a.scale_power == b.scale_power &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    same_weight);
}

}  // namespace

void KeptKernels::begin(KernelSource source, std::int64_t most_bytes) {
  if (!are_equal(source, source_)) {
    source_ = std::move(source);
    kernels_.clear();
  }
  kernels_.resize(static_cast<std::size_t>(source_.components));
  has_room_ = size() * sizeof(double) * kernels_.size() <= static_cast<std::size_t>(most_bytes);
  if (!has_room_) kernels_.assign(kernels_.size(), {});
}

const double* KeptKernels::find(int component) const {
  const auto& kernel = kernels_[static_cast<std::size_t>(component)];
  return kernel.empty() ? nullptr : kernel.data();
}

void KeptKernels::keep(int component, const double* kernel) {
  if (has_room_) kernels_[static_cast<std::size_t>(component)].assign(kernel, kernel + size());
}

}  // namespace ancify::reml
