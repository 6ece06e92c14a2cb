// Firth's regression where its estimates have a closed form.
#include "core/reml/scans/firth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using ancify::reml::firth_effect;

// Carriers and other samples, with cases and controls.
struct Table {
  std::vector<double> y;
  std::vector<double> rows;

  void add(int count, double carrier, double is_case) {
    for (int i = 0; i < count; ++i) {
      y.push_back(is_case);
      rows.insert(rows.end(), {1, carrier});
    }
  }
  ancify::reml::FirthEffect effect() const {
    return firth_effect(y, std::vector<double>(y.size()), rows);
  }
};

double information(double n, double m) { return n * m * (1 - m); }

// Saturated models have the log odds of counts with 1/2 added (Firth 1993).
TEST(Firth, AddsHalvesToCountsOfATable) {
  Table table;
  table.add(5, 1, 1);  // all carriers are cases
  table.add(3, 0, 1);
  table.add(40, 0, 0);
  const auto found = table.effect();
  EXPECT_NEAR(found.effect, std::log(5.5 / 0.5) - std::log(3.5 / 40.5), 1e-9);
  EXPECT_NEAR(found.error, std::sqrt(1 / information(5, 5.5 / 6) + 1 / information(43, 3.5 / 44)),
              1e-9);
}

// The hat value of a single carrier is 1, so that Fisher scoring goes to and fro.
TEST(Firth, ConvergesForASingleCarrier) {
  for (const double is_case : {0.0, 1.0}) {
    Table table;
    table.add(1, 1, is_case);
    table.add(9, 0, 1);
    table.add(30, 0, 0);
    const auto found = table.effect();
    EXPECT_NEAR(found.effect, (is_case - 0.5) * 2 * std::log(3.0) - std::log(9.5 / 30.5), 1e-9);
    EXPECT_NEAR(found.error, std::sqrt(1 / information(1, 0.25) + 1 / information(39, 9.5 / 40)),
                1e-9);
  }
}

TEST(Firth, StartsFromTheOffset) {
  const std::vector<double> y = {1, 0, 0, 0, 1, 0};
  const std::vector<double> offset(6, 1.5);
  const std::vector<double> ones(6, 1);
  EXPECT_NEAR(firth_effect(y, offset, ones).effect, std::log(2.5 / 4.5) - 1.5, 1e-9);
}

TEST(Firth, HasNoEffectOfDependentColumns) {
  const std::vector<double> y = {1, 0, 0};
  EXPECT_TRUE(std::isnan(firth_effect(y, {0, 0, 0}, {1, 0, 1, 0, 1, 0}).effect));
}

}  // namespace
