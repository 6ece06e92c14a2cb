// Computes features, evaluates the trees and calls by thresholds, in batches of positions.
#include "core/ancestry/calling/ml_calling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/ancestry/calling/device_trees.h"
#include "core/exec/errors.h"

namespace ancify {

namespace {

// Positions of a batch.
constexpr std::int64_t kBatch = 4096;

// Calls use(features) for each batch of a stretch.
template <class Use>
void for_each_batch(const SiteFeatures& features, const Stretch& stretch, Use use) {
  std::vector<float> values;
  for (std::int64_t start = stretch.start; start < stretch.end; start += kBatch) {
    Stretch part = stretch;
    part.start = start;
    part.end = std::min(start + kBatch, stretch.end);
    values.resize(static_cast<std::size_t>(features.count()) * part.size());
    features.compute(part, values.data());
    use(FeatureRows{values.data(), part.size(), part.size()});
  }
}

}  // namespace

MlCaller::MlCaller(const std::vector<DecisionTree>& trees, int n_inner, int n_outer,
                   const Thresholds& thresholds)
    : features_(n_inner, n_outer), trees_(trees, features_.count()), thresholds_(thresholds) {
  if (n_inner < 1 || n_outer < 1) {
    throw InputError("ml needs at least one inner and one outer outgroup");
  }
  check_thresholds(thresholds);
}

template <class Use>
void MlCaller::for_each_site(const Stretch& stretch, SimdLevel simd, Use use) const {
  std::vector<double> probabilities(static_cast<std::size_t>(kBases * kBatch));
  std::size_t site = 0;
  for_each_batch(features_, stretch, [&](const FeatureRows& rows) {
    trees_.probabilities(rows, simd, probabilities.data());
    const float* with_data = rows.values + static_cast<std::size_t>(features_.species()) * rows.n;
    for (std::size_t i = 0; i < rows.n; ++i, ++site) {
      use(with_data[i] > 0 ? &probabilities[i * kBases] : nullptr, site);
    }
  });
}

void MlCaller::posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                          std::size_t pitch) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for_each_site(stretch, simd, [&](const double* posterior, std::size_t i) {
    for (std::size_t base = 0; base < kBases; ++base) {
      out[base * pitch + i] = posterior != nullptr ? posterior[base] : none;
    }
  });
}

void MlCaller::call(const Stretch& stretch, SimdLevel simd, char* calls,
                    std::uint8_t* phred) const {
  for_each_site(stretch, simd, [&](const double* posterior, std::size_t i) {
    CallBytes site;
    if (posterior != nullptr) site = call_bytes(posterior, thresholds_, phred_scale_.largest_error);
    calls[i] = site.call;
    if (phred != nullptr) phred[i] = site.phred;
  });
}

std::optional<DeviceMethod> MlCaller::on_devices(bool with_phred) const {
  return by_trees(DeviceTrees(*this), species(), with_phred);
}

}  // namespace ancify
