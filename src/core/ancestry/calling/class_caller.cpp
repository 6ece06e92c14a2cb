// Treats the class of a site as one more species of its pattern.
#include "core/ancestry/calling/class_caller.h"

#include <utility>

#include "core/ancestry/patterns/site_posteriors.h"

namespace ancify {

ClassCaller::ClassCaller(std::vector<std::unique_ptr<const Method>> methods, bool with_phred)
    : calls_(std::make_unique<MethodByNeighbours>(std::move(methods)), with_phred),
      classes_(calls_.method().species() - 1) {}

void ClassCaller::call(const Stretch& stretch, SimdLevel simd, char* calls,
                       std::uint8_t* phred) const {
  const SitesInClasses in_classes(classes_, stretch, species(), simd);
  calls_.apply(in_classes.sites(), calls, phred, simd);
}

void ClassCaller::posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                             std::size_t pitch) const {
  const SitesInClasses in_classes(classes_, stretch, species(), simd);
  site_posteriors(calls_.method(), in_classes.sites(), simd, out, pitch);
}

}  // namespace ancify
