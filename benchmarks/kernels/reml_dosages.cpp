// Multiplies the kernel of dosages of 1,000 samples and 2,048 variants with sixteen columns.
#include "core/reml/kernels/genotype_kernels.h"
#include "dosages.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

namespace {

constexpr std::int64_t kSamples = 1000;
constexpr std::int64_t kVariants = 2048;
constexpr int kColumns = 16;

struct Case {
  JobControl control;
  std::unique_ptr<GenotypeMatrix> matrix;
  std::unique_ptr<reml::GenotypeKernels> kernels;
  std::vector<double> v;
  std::vector<double> out;
};

}  // namespace

std::function<void()> make_kernel(const std::string&) {
  auto one = std::make_shared<Case>();
  one->matrix = random_dosages(kSamples, kVariants, {1, kernel_level(), 0}, one->control);
  std::vector<reml::ComponentWeight> weights;
  for (std::int64_t j = 0; j < kVariants; ++j) weights.push_back({j, 0, 1});
  one->kernels =
      std::make_unique<reml::GenotypeKernels>(*one->matrix, weights, 1, -1, one->control);
  for (std::int64_t i = 0; i < kSamples * kColumns; ++i) {
    one->v.push_back(static_cast<double>(i * 7919 % 2003) / 1001.5 - 1);
  }
  one->out.resize(one->v.size());
  return [one] {
    const double theta = 1;
    one->kernels->times(&theta, one->v.data(), kColumns, reml::Precision::kProbes, one->out.data());
  };
}

}  // namespace ancify::bench
