// Checks expected spectra on devices against the CPU's.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "core/diffusion/device_spectra.h"
#include "core/exec/errors.h"
#include "demographic_models.h"
#include "fake_device.h"
#include "gtest/gtest.h"

namespace ancify::diffusion {
namespace {

class FakeDiffusionKernels : public test::FakeKernelsOf<DiffusionOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

  std::size_t launches = 0;  // except launches of plans
  std::size_t most_plans = 0;
  std::size_t parts_begun = 0;
  std::function<void()> after_a_part;

 private:
  void look_at(const DiffusionOperation& operation) override {
    if (const auto* plans = std::get_if<PlansOp>(&operation)) {
      most_plans = std::max(most_plans, plans->n());
      ++parts_begun;
    } else {
      ++launches;
    }
  }
  void do_on_host(const DiffusionOperation& operation) override {
    std::visit([](const auto& op) { do_parts(op); }, operation);
    if (std::holds_alternative<PlansOp>(operation) && after_a_part) after_a_part();
  }
};

using Spectra = std::vector<std::vector<double>>;

void expect_near(const Spectra& found, const Spectra& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    ASSERT_EQ(found[s].size(), expected[s].size());
    for (std::size_t i = 0; i < found[s].size(); ++i) {
      EXPECT_NEAR(found[s][i], expected[s][i], 1e-12 * std::abs(expected[s][i])) << s << " " << i;
    }
  }
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
      plans_.push_back(plan_model(test::every_event(most), {1e-3, 1}));
    }
    sampling_.sizes = {4, 6};
    for (const auto& plan : plans_) {
      for (const int points : {9, 8}) jobs_.push_back({&plan, points});
    }
  }
  Spectra on_cpu(const Sampling& sampling) {
    return expected_spectra(jobs_, sampling, SimdLevel::kScalar, 1, control_);
  }
  Spectra on(const DiffusionDevices& devices, std::size_t most_lines, std::size_t limit = 0,
             std::size_t values_at_once = std::size_t{1} << 24) {
    return device_spectra(devices, jobs_, sampling_, limit, 2, control_, most_lines,
                          values_at_once);
  }

  std::vector<Plan> plans_;
  std::vector<SpectrumJob> jobs_;
  Sampling sampling_;
  JobControl control_;
};

TEST_F(DeviceDiffusion, IsThatOfTheCpu) {
  for (const auto& sampling : test::all_samplings()) {
    sampling_ = sampling;
    const Spectra expected = on_cpu(sampling);
    for (const std::size_t most_lines : {0, 100, 1000000}) {
      SCOPED_TRACE(::testing::Message()
                   << "kind " << static_cast<int>(sampling.kind) << ", " << most_lines << " lines");
      auto kernels = std::make_unique<FakeDiffusionKernels>();
      auto& begun = *kernels;
      const auto devices = devices_of(std::move(kernels));
      expect_near(on(devices, most_lines), expected);
      EXPECT_EQ(begun.most_plans, most_lines == 0 ? 0 : most_lines == 100 ? 4 : jobs_.size());
      EXPECT_EQ(begun.launches > 0, most_lines < 1000000);
    }
  }
}

// An event that needs nothing but a row: one population becomes a copy of another.
struct Replacement {
  int population;
  int by;

  void operator()(Planner& planner) const {
    std::vector<double> shares(static_cast<std::size_t>(planner.populations()), 0.0);
    shares.at(static_cast<std::size_t>(by)) = 1;
    planner.pulse(population, shares);
  }
};

TEST_F(DeviceDiffusion, TakesAnEventThatIsARow) {
  auto kinds = event_kinds();
  kinds.push_back({"replacement", [](const EventFields& fields) -> Event {
                     return Replacement{fields.population("population"), fields.population("by")};
                   }});
  EventFields fields;
  fields.numbers = {{"population", {2}}, {"by", {1}}};
  const auto model_with = [](const Event& event) {
    Model model = test::every_event(2);
    model.push_back(event);
    model.push_back(test::changing_epoch(2, 0.003));
    return model;
  };
  const Plan plan = plan_model(model_with(make_event("replacement", fields, kinds)), {1e-3, 1});
  const Plan same = plan_model(model_with(Pulse{1, {1, 0}}), {1e-3, 1});
  jobs_ = {{&plan, 12}};
  const Spectra on_one_thread = on_cpu(sampling_);
  for (const std::size_t most_lines : {0, 100}) {
    expect_near(on(devices_of(std::make_unique<FakeDiffusionKernels>()), most_lines),
                on_one_thread);
  }
  jobs_ = {{&same, 12}};
  EXPECT_EQ(on_cpu(sampling_), on_one_thread);
  EXPECT_THROW(make_event("replacement", fields), InputError);
  EXPECT_THROW(make_event("replacement", {}, kinds), InputError);
}

TEST_F(DeviceDiffusion, OfOnePopulationToo) {
  const Plan plan = plan_model(test::every_event(1), {1e-3, 1});
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
  // The largest plan takes 2 * 9^5 values.
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

TEST_F(DeviceDiffusion, GoesByHalvesWhereMemoryIsRefused) {
  const Spectra expected = on_cpu(sampling_);
  auto kernels = std::make_unique<FakeDiffusionKernels>();
  auto& begun = *kernels;
  const auto devices = devices_of(std::move(kernels));
  // The memory suffices for the largest plan alone, of 2 * 9^5 values, or for some others together.
  begun.fake.largest_allocation = std::size_t{1100} << 10;
  expect_near(on(devices, 1000000), expected);
  EXPECT_LT(begun.most_plans, jobs_.size());
  EXPECT_GT(begun.most_plans, 1U);
  begun.fake.largest_allocation = std::size_t{900} << 10;
  EXPECT_THROW(on(devices, 1000000), DeviceError);
}

TEST_F(DeviceDiffusion, OneOfSeveralDevicesMayFail) {
  for (const std::size_t most_lines : {0, 1000000}) {
    DiffusionDevices devices;
    for (int i = 0; i < 3; ++i) devices.push_back(std::make_unique<FakeDiffusionKernels>());
    auto& fake = static_cast<FakeDiffusionKernels&>(*devices[1]).fake;
    fake.failing_call = 2;
    EXPECT_THROW(on(devices, most_lines), DeviceError);
    EXPECT_TRUE(fake.failed);
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

TEST_F(DeviceDiffusion, PartsOfPlansAreTheSame) {
  auto kernels = std::make_unique<FakeDiffusionKernels>();
  auto& begun = *kernels;
  const auto devices = devices_of(std::move(kernels));
  const Spectra expected = on(devices, 1000000);
  EXPECT_EQ(begun.parts_begun, 1U);
  // A launch does one round, or all rounds between two events.
  for (const std::size_t values_at_once : {1, 5 * 59049 * 7}) {
    begun.parts_begun = 0;
    EXPECT_EQ(on(devices, 1000000, 0, values_at_once), expected);
    EXPECT_GT(begun.parts_begun, 2U);
  }
}

TEST_F(DeviceDiffusion, Stops) {
  const auto devices = devices_of(std::make_unique<FakeDiffusionKernels>());
  control_.request_stop();
  EXPECT_THROW(on(devices, 0), Interrupted);
}

TEST_F(DeviceDiffusion, StopsBetweenLaunches) {
  auto kernels = std::make_unique<FakeDiffusionKernels>();
  auto& begun = *kernels;
  begun.fake.eager = [&] {
    if (begun.launches == 100) control_.request_stop();
    return true;
  };
  const auto devices = devices_of(std::move(kernels));
  EXPECT_THROW(on(devices, 0), Interrupted);
  EXPECT_LT(begun.launches, 110U);
}

TEST(DiffusionDevices, AreNotOpenedWhereThereIsNoCodeForThem) {
  Backend backend;
  EXPECT_TRUE(open_diffusion_devices(backend).empty());
#ifndef ANCIFY_HAVE_CUDA
  backend.kind = BackendKind::kGpu;  // as if another process had chosen it
  backend.devices = {0};
  EXPECT_THROW(open_diffusion_devices(backend), DeviceError);
#endif
}

TEST_F(DeviceDiffusion, StopsBetweenPartsOfPlans) {
  auto kernels = std::make_unique<FakeDiffusionKernels>();
  auto& begun = *kernels;
  begun.after_a_part = [&] {
    if (begun.parts_begun == 2) control_.request_stop();
  };
  const auto devices = devices_of(std::move(kernels));
  EXPECT_THROW(on(devices, 1000000, 0, 1), Interrupted);
  EXPECT_EQ(begun.parts_begun, 2U);
}

}  // namespace
}  // namespace ancify::diffusion
