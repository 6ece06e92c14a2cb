// Tabulates the sites of two populations and projects them to a joint spectrum.
#include "core/spectra/joint_spectrum.h"
#include "core/spectra/site_table.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

namespace {

struct Sites {
  std::vector<std::vector<int>> derived;
  std::vector<std::vector<int>> called;
  std::vector<double> posterior;
};

Sites random_sites(std::size_t n) {
  std::mt19937 random(17);
  Sites sites{{{}, {}}, {{}, {}}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t population = 0; population < 2; ++population) {
      const int called = 30 + static_cast<int>(random() % 11);
      sites.called[population].push_back(called);
      sites.derived[population].push_back(static_cast<int>(random() % 1000) * called / 1000);
    }
    sites.posterior.push_back(0.5 + 0.0005 * static_cast<double>(random() % 1000));
  }
  return sites;
}

}  // namespace

std::function<void()> make_kernel(const std::string&) {
  constexpr std::size_t n = 20'000;
  return [sites = random_sites(n)] {
    const SiteColumns columns = {static_cast<std::int64_t>(n),
                                 {sites.derived[0].data(), sites.derived[1].data()},
                                 {sites.called[0].data(), sites.called[1].data()},
                                 sites.posterior.data(),
                                 nullptr};
    JobControl control;
    const SiteTable table = tabulate_sites(columns, {20, 20}, 1, control);
    std::vector<double> spectrum(21 * 21);
    joint_spectra(table, nullptr, 0, 0, spectrum.data(), nullptr, 1, control);
  };
}

}  // namespace ancify::bench
