// Checks the exponential function that devices and CPU share.
#include "core/device/portable_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace ancify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

// The error in units in the last place, against a long double.
double units_off(double x) {
  const long double exact = std::exp(static_cast<long double>(x));
  const int digits = std::numeric_limits<double>::digits;
  const auto unit = std::max<long double>(std::ldexp(1.0L, std::ilogb(exact) + 1 - digits), kLeast);
  return static_cast<double>(std::fabs(static_cast<long double>(portable_exp(x)) - exact) / unit);
}

TEST(PortableExp, IsTheExponentialFunction) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no longer numbers here";
  std::mt19937 random(1);
  std::uniform_real_distribution<double> wide(-708, 709.7);
  std::uniform_real_distribution<double> usual(-60, 0);
  std::uniform_real_distribution<double> tiny(-745, -708);
  double worst = 0;
  double worst_of_tiny = 0;
  for (int i = 0; i < 300000; ++i) {
    for (const double x :
         {wide(random), usual(random), std::ldexp(usual(random), -static_cast<int>(random() % 70)),
          // About halfway between two powers of 2.
          (static_cast<int>(random() % 2000) - 1000 + 0.5) * std::log(2.0) *
              (1 - 1e-15 * usual(random))}) {
      if (x > -708 && x < 709.7) worst = std::max(worst, units_off(x));
    }
    worst_of_tiny = std::max(worst_of_tiny, units_off(tiny(random)));
  }
  EXPECT_LT(worst, 0.55);
  EXPECT_LE(worst_of_tiny, 1);
}

TEST(PortableExp, IsNearTheLibrarysEverywhere) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::uniform_real_distribution<double>(-708, 709.7)(random);
    const double expected = std::exp(x);
    const double found = portable_exp(x);
    EXPECT_TRUE(found == expected || found == std::nextafter(expected, kInfinity) ||
                found == std::nextafter(expected, 0))
        << x;
  }
}

TEST(PortableExp, HasTheEndsRight) {
  for (const double x : {0.0, -0.0, 1e-300, -1e-300, kLeast, -kLeast, 1e-17, -1e-17}) {
    EXPECT_EQ(portable_exp(x), 1) << x;
  }
  EXPECT_EQ(portable_exp(1), std::exp(1.0));
  for (const double x : {-745.2, -745.9, -746.0, -747.0, -1e9, -1e300, -kInfinity}) {
    EXPECT_EQ(portable_exp(x), 0) << x;
  }
  for (const double x : {-745.13, -745.0, -744.0, -720.0, -708.5}) {
    EXPECT_NEAR(portable_exp(x), std::exp(x), kLeast) << x;
    EXPECT_GT(portable_exp(x), 0) << x;
  }
  const double last = 709.782712893384;  // exp() of this is just below the largest double
  EXPECT_NEAR(portable_exp(last) / std::exp(last), 1, 1e-15);
  for (const double x : {709.79, 710.0, 711.0, 1e9, 1e300, kInfinity}) {
    EXPECT_EQ(portable_exp(x), kInfinity) << x;
  }
  EXPECT_TRUE(std::isnan(portable_exp(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace ancify
