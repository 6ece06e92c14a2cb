// Demographic models with all kinds of events and samples.
#pragma once

#include <vector>

#include "core/diffusion/expected_spectra.h"
#include "core/diffusion/model.h"

namespace ancify::test {

inline diffusion::ParameterHistory constant_history(double x) {
  return [x](double) { return x; };
}

inline diffusion::Epoch changing_epoch(int populations, double time, int frozen = -1) {
  const auto n = static_cast<std::size_t>(populations);
  diffusion::Epoch epoch;
  epoch.end = time;
  epoch.theta = [](double t) { return 1 + t; };
  for (int k = 0; k < populations; ++k) {
    epoch.size.push_back(k == 0 ? diffusion::ParameterHistory([](double t) { return 1 + 20 * t; })
                                : constant_history(1.0 / (1 + k)));
    epoch.selection.push_back(constant_history(k == 1 ? -1.5 : 0.5));
    epoch.dominance.push_back(constant_history(0.3));
    epoch.frozen.push_back(static_cast<char>(k == frozen));
    epoch.mutates.push_back(static_cast<char>(populations != 2 || k == 1));
  }
  epoch.migration.assign(n * n, constant_history(0));
  for (int k = 1; k < populations; ++k) {
    if (k == frozen || k - 1 == frozen) continue;
    epoch.migration[static_cast<std::size_t>(k) * n + static_cast<std::size_t>(k - 1)] =
        constant_history(0.7);
    epoch.migration[static_cast<std::size_t>(k - 1) * n + static_cast<std::size_t>(k)] =
        constant_history(0.2);
  }
  return epoch;
}

// A model with every kind of event, of up to `most` populations, and two at the end.
inline diffusion::Model every_event(int most) {
  diffusion::Model model = {diffusion::Equilibrium{1.5, 1, -0.5, 0.4}, changing_epoch(1, 0.02)};
  for (int k = 1; k < most; ++k) {
    std::vector<double> shares(static_cast<std::size_t>(k), 1.0 / k);
    model.push_back(diffusion::Admixture{shares});
    model.push_back(changing_epoch(k + 1, 0.003, k == 2 ? 1 : -1));
  }
  if (most > 1) {
    std::vector<double> shares = {0.8};
    shares.resize(static_cast<std::size_t>(most) - 1, 0);
    shares.push_back(0.2);
    model.push_back(diffusion::Pulse{0, shares});
  }
  std::vector<int> order;
  for (int k = most; k-- > 0;) order.push_back(k);
  model.push_back(diffusion::Reordering{order});
  model.push_back(changing_epoch(most, 0.003));
  for (int k = most; k > 2; --k) model.push_back(diffusion::Removal{k == 4 ? 1 : 0});
  return model;
}

// Every way to sample two populations.
inline std::vector<diffusion::Sampling> all_samplings() {
  std::vector<diffusion::Sampling> samplings(5);
  for (auto& sampling : samplings) sampling.sizes = {4, 6};
  samplings[1].kind = diffusion::Sampling::Kind::kDirect;
  samplings[2].kind = diffusion::Sampling::Kind::kDirect;
  samplings[2].ascertained = 1;
  samplings[3].kind = diffusion::Sampling::Kind::kAdmixed;
  samplings[3].shares = {{1, 0}, {0.3, 0.7}};
  samplings[4].kind = diffusion::Sampling::Kind::kInbred;
  samplings[4].inbreeding = {0, 0.5};
  samplings[4].ploidy = {2, 2};
  return samplings;
}

// The epoch without selection.
inline diffusion::Epoch neutral(diffusion::Epoch epoch) {
  for (auto& history : epoch.selection) history = constant_history(0);
  return epoch;
}

// Every kind of event, with a neutral start.
inline diffusion::Model every_neutral_event(int most) {
  diffusion::Model model = every_event(most);
  model[0] = diffusion::Equilibrium{1.5, 1, 0, 0.5};
  return model;
}

}  // namespace ancify::test
