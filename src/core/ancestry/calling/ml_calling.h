// Calls by boosted trees. A call also depends on the bases around the position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/stretch_caller.h"
#include "core/ancestry/patterns/method.h"
#include "core/ancestry/trained/boosted_trees.h"
#include "core/ancestry/trained/site_features.h"

namespace ancify {

class MlCaller : public StretchCaller {
 public:
  // Throws FormatError unless the file `model` is a model for this many outgroups in LightGBM's
  // text form. Throws InputError unless both tiers have species and the thresholds are valid.
  MlCaller(const std::string& model, int n_inner, int n_outer, const Thresholds& thresholds,
           const TaskContext& context = TaskContext())
      : MlCaller(read_lightgbm_model(model, SiteFeatures(n_inner, n_outer).count(), context),
                 n_inner, n_outer, thresholds) {}
  MlCaller(const std::vector<DecisionTree>& trees, int n_inner, int n_outer,
           const Thresholds& thresholds);
  int species() const override { return features_.species(); }
  std::int64_t reach() const override { return kFeatureReach; }
  // Calls according to call_by_posterior() and error_phred(); N without data.
  void call(const Stretch& stretch, SimdLevel simd, char* calls,
            std::uint8_t* phred) const override;
  void posteriors(const Stretch& stretch, SimdLevel simd, double* out,
                  std::size_t pitch) const override;
  // Throws DeviceError if the model is too wide for a GPU, see DeviceTrees.
  std::optional<DeviceMethod> on_devices(bool with_phred) const override;
  const SiteFeatures& features() const { return features_; }
  const BoostedTrees& trees() const { return trees_; }
  const Thresholds& thresholds() const { return thresholds_; }
  const PhredScale& phred_scale() const { return phred_scale_; }

 private:
  // Calls use(posterior, i) for each position in turn; the posterior is null without data.
  template <class Use>
  void for_each_site(const Stretch& stretch, SimdLevel simd, Use use) const;

  SiteFeatures features_;
  BoostedTrees trees_;
  Thresholds thresholds_;
  PhredScale phred_scale_;
};

}  // namespace ancify
