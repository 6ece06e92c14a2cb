// Encoders on fake devices against the CPU's, and values of half precision.
#include "core/models/device_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/models/runs.h"
#include "core/models/tensors.h"
#include "core/nn/half.h"
#include "fake_device.h"
#include "files.h"
#include "random_encoders.h"
#include "support.h"

namespace ancify {
namespace {

using test::relative_distance;

// Relative to the norm of all values.
constexpr double kSingleError = 2e-6;
constexpr double kHalfError = 5e-3;

// ---- Half precision -----------------------------------------------------------------------------

// The number of 5 bits of exponent and 10 of fraction.
double half_plainly(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const int fraction = static_cast<int>(bits & 1023);
  double size = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) size = std::ldexp(fraction, -24);
  if (exponent == 31) size = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

TEST(Half, IsRead) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double expected = half_plainly(bits);
    const double found = to_float(Half{static_cast<std::uint16_t>(bits)});
    ASSERT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << bits;
    ASSERT_TRUE(std::isnan(found) || std::signbit(found) == std::signbit(expected)) << bits;
  }
}

// The nearest half-precision value; of two equally close ones, the even one.
std::uint16_t nearest_half_plainly(float x) {
  std::uint16_t best = 0x7c00;
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    // From 65520 on the nearest is infinite, as if 65536 were the next one.
    const double of_best = best == 0x7c00 ? 65536 : half_plainly(best);
    const double gain = std::fabs(of_best - std::fabs(double{x})) -
                        std::fabs(half_plainly(bits) - std::fabs(double{x}));
    if (gain > 0 || (gain == 0 && bits % 2 == 0)) best = bits;
  }
  return static_cast<std::uint16_t>(best | (std::signbit(x) ? 0x8000 : 0));
}

TEST(Half, IsTheNearest) {
  std::mt19937 generator(1);
  std::vector<float> numbers = {0.0F,    -0.0F,    1,        65504,    65519.9F,    65520,
                                -70000,  5.96e-8F, 2.98e-8F, 2.99e-8F, 1e-9F,       6.1e-5F,
                                1024.5F, 2049,     2051,     -0.1F,    0x1.002p-14F};
  for (int i = 0; i < 60; ++i) {
    const double power = std::uniform_real_distribution<double>(-27, 17)(generator);
    numbers.push_back(static_cast<float>(std::exp2(power)));
  }
  for (const float x : numbers) EXPECT_EQ(to_half(x).bits, nearest_half_plainly(x)) << x;
  EXPECT_EQ(to_half(std::numeric_limits<float>::infinity()).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(to_float(to_half(std::nanf("")))));
}

TEST(Half, ComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float x = to_float(Half{static_cast<std::uint16_t>(bits)});
    if (std::isnan(x)) continue;
    ASSERT_EQ(to_half(x).bits, bits);
  }
}

// ---- Encoders -----------------------------------------------------------------------------------

// Multiplies by plain loops in place of the GPU's library.
class FakeEncoderKernels : public test::FakeKernelsOf<EncoderOperation> {
 public:
  using FakeKernelsOf::FakeKernelsOf;

 private:
  void do_on_host(const EncoderOperation& operation) override {
    std::visit([](const auto& op) { do_one(op); }, operation);
  }
  template <class Op>
  static void do_one(const Op& op) {
    do_parts(op);
  }
  template <class Number, class Sum>
  static void do_one(const ProductOp<Number, Sum>& op) {
    std::vector<float> a;
    std::vector<float> b;
    for (std::int64_t i = 0; i < op.rows; ++i) {
      for (std::int64_t k = 0; k < op.depth; ++k) a.push_back(to_float(op.a[i * op.stride + k]));
    }
    for (std::int64_t i = 0; i < op.columns * op.depth; ++i) b.push_back(to_float(op.b[i]));
    std::vector<float> c(static_cast<std::size_t>(op.rows * op.columns));
    multiply_plainly(MatrixProduct{op.rows, op.columns, op.depth, a.data(), op.depth, b.data(),
                                   op.depth, true, c.data(), op.columns});
    for (std::size_t i = 0; i < c.size(); ++i) {
      store(op.adds ? to_float(op.c[i]) + c[i] : c[i], op.c[i]);
    }
  }
};

// The CPU's rows of a pack: states, or logits without the bias of the head.
std::vector<float> on_cpu(const Encoder& encoder, const Pack& pack) {
  return encode(encoder, pack, SimdLevel::kScalar, TaskContext());
}

std::vector<float> log_probabilities_on_cpu(const Encoder& encoder, const Pack& pack) {
  const std::vector<float> states = on_cpu(encoder, pack);
  return log_probabilities(encoder, states.data(), pack.size(), SimdLevel::kScalar);
}

class Encoders : public ::testing::Test {
 protected:
  Encoders() {
    random_ = {};
    // Heads of each width that has a kernel of its own, and of one that fills none.
    for (const std::int64_t wide : {16, 24, 64, 70}) {
      encoders_.push_back(random_.rotated({2, 2 * wide, 2, 40, 33}));
      encoders_.push_back(random_.sloped({2, 3 * wide, 3, 40, 50}));
    }
  }
  test::RandomEncoders random_;
  std::vector<Encoder> encoders_;
  FakeEncoderKernels kernels_;
};

TEST_F(Encoders, StatesAreThoseOfTheCpu) {
  for (const Encoder& encoder : encoders_) {
    const Pack pack = random_.pack(encoder, {1, 65, 9, 2});
    for (const auto& [precision, error] :
         {std::pair<Precision, double>{Precision::kSingle, kSingleError},
          {Precision::kHalf, kHalfError}}) {
      const auto on_device = encoder_on(kernels_, encoder, precision, 0);
      on_device->expect(80);
      on_device->begin(pack, EncoderResult::kStates, 1);
      EXPECT_LT(relative_distance(on_device->finish(1), on_cpu(encoder, pack)), error);
    }
  }
}

TEST_F(Encoders, LogitsAreThoseOfTheCpu) {
  for (const Encoder& encoder : encoders_) {
    if (!encoder.has_head()) continue;
    const Pack pack = random_.pack(encoder, {30, 5});
    for (const auto& [precision, error] :
         {std::pair<Precision, double>{Precision::kSingle, kSingleError},
          {Precision::kHalf, kHalfError}}) {
      const auto on_device = encoder_on(kernels_, encoder, precision, 0);
      on_device->expect(40);
      on_device->begin(pack, EncoderResult::kLogits, 0);
      const float* const found = on_device->finish(0);
      std::vector<float> rows(found, found + pack.size() * encoder.shape.vocabulary);
      finish_logits(encoder, rows.data(), pack.size());
      EXPECT_LT(relative_distance(rows.data(), log_probabilities_on_cpu(encoder, pack)), error);
    }
  }
}

TEST_F(Encoders, TwoPacksAreOnTheirWayAtOnce) {
  const Encoder& encoder = encoders_[0];
  const auto on_device = encoder_on(kernels_, encoder, Precision::kSingle, 0);
  on_device->expect(20);
  const Pack packs[] = {random_.pack(encoder, {7, 3}), random_.pack(encoder, {20})};
  for (int stream : {0, 1}) on_device->begin(packs[stream], EncoderResult::kStates, stream);
  for (int stream : {1, 0}) {
    EXPECT_LT(relative_distance(on_device->finish(stream), on_cpu(encoder, packs[stream])),
              kSingleError);
  }
}

TEST_F(Encoders, AHeadThatIsTooWideIsNamed) {
  const Encoder encoder = random_.rotated({1, 130, 1, 8, 5});
  EXPECT_NE(test::message_of<InputError>([&] {
              encoder_on(kernels_, encoder, Precision::kSingle, 0);
            }).find("heads of width 130"),
            std::string::npos);
}

// ---- Runs ---------------------------------------------------------------------------------------

class DeviceRuns : public ::testing::Test {
 protected:
  DeviceRuns() {
    test::RandomEncoders random;
    model_.encoder = random.rotated({2, 32, 2, 40, 33});
    std::mt19937 generator(1);
    for (int i = 0; i < 25; ++i) {
      Tokenised protein;
      for (std::size_t n = 1 + generator() % 40; n > 0; --n) {
        protein.tokens.push_back(static_cast<std::int32_t>(4 + generator() % 20));
      }
      proteins_.push_back(protein);
    }
    settings_.pack_tokens = 60;
    settings_.most_residues = 30;
    settings_.threads = 2;
  }
  void open(std::size_t n, Precision precision = Precision::kSingle, std::size_t limit = 0,
            std::size_t memory = std::size_t{1} << 30) {
    devices_.encoders.clear();
    kernels_.clear();
    devices_.precision = precision;
    for (std::size_t i = 0; i < n; ++i) {
      kernels_.push_back(std::make_unique<FakeEncoderKernels>(memory));
      devices_.encoders.push_back(encoder_on(*kernels_[i], model_.encoder, precision, limit));
    }
    settings_.devices = &devices_;
  }
  test::FakeDevice& fake(std::size_t i = 0) { return kernels_[i]->fake; }

  SequenceModel model_;
  std::vector<Tokenised> proteins_;
  RunSettings settings_;
  JobControl control_;
  std::vector<std::unique_ptr<FakeEncoderKernels>> kernels_;
  DeviceEncoders devices_;
};

TEST_F(DeviceRuns, AreThoseOfTheCpu) {
  const auto means = embed_means(model_, proteins_, settings_, control_);
  const auto residues = embed_residues(model_, proteins_, settings_, control_);
  const auto probabilities = residue_log_probabilities(model_, proteins_, settings_, control_);
  const std::vector<ResidueSite> sites = {{0, 0}, {3, 0}, {3, 1}, {7, 2}};
  const auto site_rows =
      site_log_probabilities(model_, proteins_, sites, Marginal::kMasked, settings_, control_);
  for (const std::size_t n : {1, 3}) {
    open(n);
    EXPECT_LT(relative_distance(embed_means(model_, proteins_, settings_, control_).data(), means),
              kSingleError);
    const auto found = embed_residues(model_, proteins_, settings_, control_);
    const auto found_p = residue_log_probabilities(model_, proteins_, settings_, control_);
    for (std::size_t i = 0; i < proteins_.size(); ++i) {
      EXPECT_LT(relative_distance(found[i].data(), residues[i]), kSingleError);
      EXPECT_LT(relative_distance(found_p[i].data(), probabilities[i]), kSingleError);
    }
    EXPECT_LT(relative_distance(site_log_probabilities(model_, proteins_, sites, Marginal::kMasked,
                                                       settings_, control_)
                                    .data(),
                                site_rows),
              kSingleError);
    for (std::size_t i = 0; i < n; ++i) EXPECT_GT(fake(i).calls, 0);
    EXPECT_TRUE(embed_means(model_, {}, settings_, control_).empty());
  }
}

TEST_F(DeviceRuns, OfHalfPrecisionAreCloseAndRepeatWhatIsBeyondIt) {
  const auto means = embed_means(model_, proteins_, settings_, control_);
  open(1, Precision::kHalf);
  EXPECT_LT(relative_distance(embed_means(model_, proteins_, settings_, control_).data(), means),
            kHalfError);
  EXPECT_EQ(devices_.repeated, 0);
  // A weight beyond 65504 is infinite in half precision, although its contribution is no larger
  // than others.
  model_.encoder.layers[1].up.bias[0] = 1e5F;
  for (std::int64_t i = 0; i < 32; ++i) {
    model_.encoder.layers[1].down.weight[static_cast<std::size_t>(i * 40)] *= 1e-5F;
  }
  settings_.devices = nullptr;
  const auto expected = embed_means(model_, proteins_, settings_, control_);
  open(1, Precision::kHalf);
  EXPECT_EQ(embed_means(model_, proteins_, settings_, control_), expected);
  EXPECT_GT(devices_.repeated, 3);
}

TEST_F(DeviceRuns, NumbersThatAreNotFiniteAreAnError) {
  model_.encoder.layers[1].up.bias.assign(40, 3e38F);
  model_.encoder.layers[1].down.weight.assign(32 * 40, 3e38F);
  for (const Precision precision : {Precision::kSingle, Precision::kHalf}) {
    open(1, precision);
    EXPECT_THROW(embed_means(model_, proteins_, settings_, control_), InputError);
  }
}

TEST_F(DeviceRuns, TooLittleMemoryIsAnErrorWithTheNumbers) {
  proteins_.resize(3);
  const auto message = [&](std::size_t limit) {
    return test::message_of<DeviceError>([&] {
      open(1, Precision::kSingle, limit);
      embed_means(model_, proteins_, settings_, control_);
    });
  };
  for (const std::size_t limit : {1000, 100000}) {  // the weights have 70 kB
    const std::string said = message(limit);
    EXPECT_NE(said.find("it may use " + std::to_string(limit) + ". End other programs"),
              std::string::npos)
        << said;
  }
  open(1);
  const int weights = fake().allocations;
  embed_means(model_, proteins_, settings_, control_);
  const int all = fake().allocations;
  EXPECT_GT(all, weights);
  for (int i = 1; i <= all - weights; ++i) {
    open(1);
    fake().failing_allocation = weights + i;
    EXPECT_THROW(embed_means(model_, proteins_, settings_, control_), DeviceError) << i;
    fake().failing_allocation = 0;
    EXPECT_FALSE(embed_means(model_, proteins_, settings_, control_).empty());
  }
}

// Weights on the device count against a limit, but not against the free memory.
TEST_F(DeviceRuns, MayTakeAllThatIsFreeBesideTheWeights) {
  open(1);
  const std::size_t weights = fake().most_on_device;
  const auto expected = embed_means(model_, proteins_, settings_, control_);
  const std::size_t packs = fake().most_on_device - weights;
  for (const std::size_t limit : {std::size_t{0}, weights + packs, std::size_t{1} << 30}) {
    open(1, Precision::kSingle, limit, weights + packs * 9 / 8);
    EXPECT_EQ(embed_means(model_, proteins_, settings_, control_), expected);
  }
}

TEST_F(DeviceRuns, WeightsMayBeRefusedOrFail) {
  open(1);
  const int allocations = fake().allocations;
  const int calls = fake().calls;
  for (int i = 1; i <= allocations; ++i) {
    FakeEncoderKernels kernels;
    kernels.fake.failing_allocation = i;
    EXPECT_THROW(encoder_on(kernels, model_.encoder, Precision::kSingle, 0), DeviceError) << i;
  }
  for (int i = 1; i <= calls; ++i) {
    FakeEncoderKernels kernels;
    kernels.fake.failing_call = i;
    EXPECT_THROW(encoder_on(kernels, model_.encoder, Precision::kHalf, 0), DeviceError) << i;
  }
}

TEST_F(DeviceRuns, AFailureIsAnErrorAndTheNextRunIsRight) {
  proteins_.resize(5);
  open(1);
  const auto expected = embed_means(model_, proteins_, settings_, control_);
  for (int failing = 1;; failing = failing < 60 ? failing + 1 : failing * 2) {
    open(1);
    fake().calls = 0;
    fake().failing_call = failing;
    fake().failed = false;
    try {
      embed_means(model_, proteins_, settings_, control_);
      EXPECT_FALSE(fake().failed);
      break;
    } catch (const DeviceError&) {
      EXPECT_TRUE(fake().failed);
    }
    EXPECT_EQ(embed_means(model_, proteins_, settings_, control_), expected) << failing;
  }
}

TEST_F(DeviceRuns, OneOfThreeMayFail) {
  for (std::size_t i = 0; i < 3; ++i) {
    open(3);
    fake(i).calls = 0;
    fake(i).failing_call = 20;
    EXPECT_THROW(embed_means(model_, proteins_, settings_, control_), DeviceError);
  }
}

TEST_F(DeviceRuns, CanBeStopped) {
  open(2);
  control_.request_stop();
  EXPECT_THROW(embed_means(model_, proteins_, settings_, control_), Interrupted);
}

TEST(EncoderDevices, AreNotOpenedWhereThereIsNoCodeForThem) {
  Backend backend;
  EXPECT_TRUE(open_encoder_devices(backend).empty());
  EXPECT_EQ(open_device_encoders(backend, Encoder(), Precision::kHalf, TaskContext()), nullptr);
#ifndef ANCIFY_HAVE_CUDA
  backend.kind = BackendKind::kGpu;  // as if another process had chosen it
  backend.devices = {0};
  EXPECT_THROW(open_encoder_devices(backend), DeviceError);
#endif
}

}  // namespace
}  // namespace ancify
