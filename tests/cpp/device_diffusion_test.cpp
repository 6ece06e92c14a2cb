// Expected spectra on devices, against those of the CPU.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/diffusion/device_spectra.h"
#include "core/exec/errors.h"
#include "demographic_models.h"
#include "fake_device.h"
#include "gtest/gtest.h"

namespace ancify::diffusion {
namespace {

// What a GPU's threads do, done on the host, from the last to the first.
class FakeDiffusionKernels : public DiffusionKernels {
 public:
  explicit FakeDiffusionKernels(std::size_t memory = std::size_t{1} << 30) : fake(memory) {}
  Device& device() override { return fake; }
  void begin(const AssembleOp& op, int stream) override { launch(op, stream); }
  void begin(const SweepOp& op, int stream) override { launch(op, stream); }
  void begin(const NewPopulationOp& op, int stream) override { launch(op, stream); }
  void begin(const PulseOp& op, int stream) override { launch(op, stream); }
  void begin(const RemovalOp& op, int stream) override { launch(op, stream); }
  void begin(const ReorderOp& op, int stream) override { launch(op, stream); }
  void begin(const CopyOp& op, int stream) override { launch(op, stream); }
  void begin(const SampleOp& op, int stream) override { launch(op, stream); }
  void begin_plans(const DevicePlan* plans, std::size_t n, int stream) override {
    fake.count_call("begin_plans");
    plans_begun += n;
    fake.begin(stream, [=] {
      for (std::size_t i = n; i-- > 0;) do_plan(Team(), plans[i]);
    });
  }

  test::FakeDevice fake;
  std::size_t launches = 0;
  std::size_t plans_begun = 0;

 private:
  struct Team {
    template <class Op>
    void for_each(const Op& op) const {
      for (std::size_t i = op.n(); i-- > 0;) op(i);
    }
    void look() const {}
  };
  template <class Op>
  void launch(const Op& op, int stream) {
    fake.count_call("launch");
    ++launches;
    fake.begin(stream, [=] { Team().for_each(op); });
  }
};

using Spectra = std::vector<std::vector<double>>;

void expect_near(const Spectra& found, const Spectra& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    ASSERT_EQ(found[s].size(), expected[s].size());
    const double most = *std::max_element(expected[s].begin(), expected[s].end());
    for (std::size_t i = 0; i < found[s].size(); ++i) {
      EXPECT_NEAR(found[s][i], expected[s][i], 1e-12 * (most * 1e-3 + std::abs(expected[s][i])))
          << s << " " << i;
    }
  }
}

std::vector<Sampling> all_samplings() {
  std::vector<Sampling> samplings(5);
  for (auto& sampling : samplings) sampling.sizes = {4, 6};
  samplings[1].kind = Sampling::Kind::kDirect;
  samplings[2].kind = Sampling::Kind::kDirect;
  samplings[2].ascertained = 1;
  samplings[3].kind = Sampling::Kind::kAdmixed;
  samplings[3].shares = {{1, 0}, {0.3, 0.7}};
  samplings[4].kind = Sampling::Kind::kInbred;
  samplings[4].inbreeding = {0, 0.5};
  samplings[4].ploidy = {2, 2};
  return samplings;
}

DiffusionDevices devices_of(std::unique_ptr<FakeDiffusionKernels> kernels) {
  DiffusionDevices devices;
  devices.push_back(std::move(kernels));
  return devices;
}

class DeviceDiffusion : public ::testing::Test {
 protected:
  DeviceDiffusion() {
    for (int most = 2; most <= 5; ++most) {
      plans_.push_back(plan_model(test::every_event(most), 1e-3, 1));
    }
    sampling_.sizes = {4, 6};
    for (const auto& plan : plans_) {
      for (const int points : {9, 8}) jobs_.push_back({&plan, points});
    }
  }
  Spectra on_cpu(const Sampling& sampling) {
    return expected_spectra(jobs_, sampling, SimdLevel::kScalar, 1, control_);
  }
  Spectra on(const DiffusionDevices& devices, std::size_t most_lines, std::size_t limit = 0) {
    return device_spectra(devices, jobs_, sampling_, limit, control_, most_lines);
  }

  std::vector<Plan> plans_;
  std::vector<SpectrumJob> jobs_;
  Sampling sampling_;
  JobControl control_;
};

TEST_F(DeviceDiffusion, IsThatOfTheCpu) {
  for (const auto& sampling : all_samplings()) {
    sampling_ = sampling;
    const Spectra expected = on_cpu(sampling);
    for (const std::size_t most_lines : {0, 100, 1000000}) {
      SCOPED_TRACE(::testing::Message()
                   << "kind " << static_cast<int>(sampling.kind) << ", " << most_lines << " lines");
      auto kernels = std::make_unique<FakeDiffusionKernels>();
      auto& begun = *kernels;
      const auto devices = devices_of(std::move(kernels));
      expect_near(on(devices, most_lines), expected);
      EXPECT_EQ(begun.plans_begun, most_lines == 0 ? 0 : most_lines == 100 ? 4 : jobs_.size());
      EXPECT_EQ(begun.launches > 0, most_lines < 1000000);
    }
  }
}

TEST_F(DeviceDiffusion, OfOnePopulationToo) {
  const Plan plan = plan_model(test::every_event(1), 1e-3, 1);
  jobs_ = {{&plan, 30}, {&plan, 40}};
  sampling_.sizes = {9};
  const auto devices = devices_of(std::make_unique<FakeDiffusionKernels>());
  expect_near(on(devices, 1024), on_cpu(sampling_));
}

TEST_F(DeviceDiffusion, GoesInBatchesOnSeveralDevices) {
  const Spectra expected = on_cpu(sampling_);
  DiffusionDevices devices;
  for (int i = 0; i < 3; ++i) devices.push_back(std::make_unique<FakeDiffusionKernels>());
  expect_near(on(devices, 1000000), expected);
  // The largest takes 2 * 9^5 values.
  const std::size_t limit = std::size_t{1100} << 10;
  expect_near(on(devices, 1000000, limit), expected);
  for (const auto& device : devices) {
    EXPECT_LE(static_cast<FakeDiffusionKernels&>(*device).fake.most_on_device,
              std::size_t{3} << 20);
  }
}

TEST_F(DeviceDiffusion, TooLittleMemoryIsAnError) {
  const auto devices = devices_of(std::make_unique<FakeDiffusionKernels>());
  for (const std::size_t most_lines : {0, 1000000}) {
    EXPECT_THROW(on(devices, most_lines, std::size_t{900} << 10), DeviceError);
  }
}

TEST_F(DeviceDiffusion, FailuresAreErrorsAndLeaveNothing) {
  jobs_.resize(3);
  for (const std::size_t most_lines : {0, 1000000}) {
    for (int failing = 1;; failing = failing < 8 ? failing + 1 : failing * 2) {
      auto kernels = std::make_unique<FakeDiffusionKernels>();
      auto& fake = kernels->fake;
      fake.failing_call = failing;
      const auto devices = devices_of(std::move(kernels));
      try {
        on(devices, most_lines);
        EXPECT_FALSE(fake.failed);
        break;
      } catch (const DeviceError&) {
        EXPECT_TRUE(fake.failed);
      }
    }
  }
}

TEST_F(DeviceDiffusion, Stops) {
  const auto devices = devices_of(std::make_unique<FakeDiffusionKernels>());
  control_.request_stop();
  EXPECT_THROW(on(devices, 0), Interrupted);
}

}  // namespace
}  // namespace ancify::diffusion
