// Scans of single variants against dense matrices.
#include "core/reml/scans/scan.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/reml/exact/exact_fit.h"
#include "genotypes/memory_genotypes.h"
#include "reml/plain_reml.h"
#include "reml/reml_data.h"

namespace ancify::reml::test {
namespace {

constexpr std::size_t kSamples = 150;
constexpr std::int64_t kVariants = 300;

class ScanTest : public testing::TestWithParam<std::size_t> {
 protected:
  ScanTest()
      : data_(make_data(7, kSamples, 40, 3, theta())),
        dense_(data_),
        calls_(Calls::random(kSamples, kVariants, 0.05, 8)),
        matrix_(std::make_unique<MemoryGenotypes>(calls_),
                {first_numbers(kSamples), first_numbers(kVariants)}, {2, best_simd_level(), 0},
                control_),
        products_(centred_calls(matrix_)),
        z_(standardised(calls_, 0)),
        plain_(data_.y, data_.x, data_.kernels, theta()) {}

  Vector theta() const {
    Vector theta(GetParam(), 0.7);
    theta.push_back(1.3);
    return theta;
  }
  // z'Az of a variant's column and an n x n matrix.
  double square(std::int64_t variant, const Vector& a) const {
    const Vector& z = z_[static_cast<std::size_t>(variant)];
    return plain_dot(z, plain_matrix_product(a, z, kSamples));
  }

  JobControl control_;
  RemlData data_;
  DenseModel dense_;
  Calls calls_;
  GenotypeMatrix matrix_;
  GenotypeProducts products_;
  std::vector<Vector> z_;
  PlainReml plain_;
};

TEST_P(ScanTest, ProjectionIsTheDenseOne) {
  const Vector p = projection_at(dense_.data, dense_.kernels, theta(), {control_, 2});
  ASSERT_EQ(p.size(), plain_.projection.size());
  for (std::size_t column = 0; column < kSamples; ++column) {
    for (std::size_t row = column; row < kSamples; ++row) {
      const std::size_t at = column * kSamples + row;
      EXPECT_NEAR(p[at], plain_.projection[at], 1e-10);
    }
  }
}

TEST_P(ScanTest, SquaresAreThoseOfTheProjection) {
  const Vector found = products_.quadratic_forms(control_, plain_.projection.data());
  for (std::int64_t j = 0; j < kVariants; ++j) {
    const double expected = square(j, plain_.projection);
    EXPECT_NEAR(found[static_cast<std::size_t>(j)], expected, 1e-12 * expected) << j;
  }
}

TEST_P(ScanTest, FormsAreThoseOffTheEffects) {
  Vector s(kSamples * kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) s[i * (kSamples + 1)] = 1;
  dense_.fixed.project(dense_.workers, kSamples, s.data());
  const VariantQuadraticForms forms =
      quadratic_forms_off_effects(products_, dense_.fixed, plain_.py, control_);
  for (std::int64_t j = 0; j < kVariants; ++j) {
    const auto at = static_cast<std::size_t>(j);
    EXPECT_NEAR(forms.square[at], square(j, s), 1e-9) << j;
    EXPECT_NEAR(forms.response[at], plain_dot(z_[at], plain_.py), 1e-9) << j;
  }
}

TEST_P(ScanTest, RatiosAreThoseOfTheProjection) {
  const std::vector<std::int64_t> sampled = {0, 17, 255, 256, 298};
  const Vector columns = columns_of(products_, sampled, control_);
  Vector s(kSamples * kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) s[i * (kSamples + 1)] = 1;
  dense_.fixed.project(dense_.workers, kSamples, s.data());
  const Vector ratios = projection_ratios(dense_.model, theta(), columns, 1);
  ASSERT_EQ(ratios.size(), sampled.size());
  for (std::size_t k = 0; k < sampled.size(); ++k) {
    const double expected = square(sampled[k], plain_.projection) / square(sampled[k], s);
    EXPECT_NEAR(ratios[k], expected, 1e-8 * expected) << sampled[k];
  }
}

INSTANTIATE_TEST_SUITE_P(OneKernelAndTwo, ScanTest, testing::Values(1, 2));

}  // namespace
}  // namespace ancify::reml::test
