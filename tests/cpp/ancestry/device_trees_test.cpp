// Checks trained models on the fake device against the CPU.
#include "core/ancestry/calling/device_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/ancestry/calling/calling.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "fake_kernels.h"
#include "random_models.h"
#include "support.h"
#include "whole_stretch.h"

namespace ancify {
namespace {

using test::FakeKernels;
using test::message_of;
using test::on_gpus;
using test::one_device;
using test::random_forest;
using test::TempDir;

constexpr SequenceForm kForms[] = {SequenceForm::kCharacters, SequenceForm::kPacked};

// ---- Sequences and models -----------------------------------------------------------------------

// Species that mostly agree. If it is long enough, it has a gap without data, wider than a window.
struct Genome {
  Genome(int n_species, std::size_t n, std::mt19937& random) : n(n) {
    const std::string characters = "ACCGGTacgtN-R\xff";
    std::string ancestor(n, 'A');
    for (char& c : ancestor) c = characters[random() % characters.size()];
    for (int s = 0; s < n_species; ++s) {
      std::string bases = ancestor;
      for (char& c : bases) {
        if (random() % 4 == 0) c = characters[random() % characters.size()];
      }
      if (n > 500) bases.replace(n / 2, 130, 130, 'N');
      packed.emplace_back(packed_size(n), '\xff');
      pack_bases(bases.data(), n, 0, &packed.back()[0], SimdLevel::kScalar);
      species.push_back(bases);
    }
    for (const auto& bases : species) pointers.push_back(bases.data());
  }

  SequenceSources sources(SequenceForm form) const {
    SequenceSources sources;
    for (const auto& bases : form == SequenceForm::kPacked ? packed : species) {
      sources.push_back(memory_source(bases.data(), form));
    }
    return sources;
  }
  Stretch all() const { return test::whole_stretch(pointers.data(), SequenceForm::kCharacters, n); }

  std::size_t n;
  std::vector<std::string> species;
  std::vector<std::string> packed;
  std::vector<const char*> pointers;
};

struct Called {
  explicit Called(std::size_t n) : calls(n, '?'), phred(n, 77) {}
  bool operator==(const Called& other) const {
    return calls == other.calls && phred == other.phred;
  }
  std::string calls;
  std::vector<std::uint8_t> phred;
};

Called called_on_cpu(const MlCaller& ml, const Genome& genome, SimdLevel simd) {
  Called called(genome.n);
  if (genome.n > 0) ml.call(genome.all(), simd, &called.calls[0], called.phred.data());
  return called;
}

using MakeMl = std::function<std::unique_ptr<const MlCaller>()>;

MakeMl random_model(int species, int rounds, std::size_t leaves, std::mt19937& random) {
  const int n_inner = 1 + static_cast<int>(random() % static_cast<unsigned>(species - 1));
  const auto trees = random_forest(rounds, leaves, species + 9, random);
  return [=] {
    return std::make_unique<MlCaller>(trees, n_inner, species - n_inner, Thresholds{0.7, 0.4});
  };
}

Called called_on(DeviceCaller& caller, const Genome& genome, SequenceForm form, bool with_phred) {
  Called called(genome.n);
  caller.call(genome.sources(form), static_cast<std::int64_t>(genome.n), TaskContext(),
              [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
                std::copy_n(calls, stretch.size(), &called.calls[stretch.start]);
                EXPECT_EQ(phred != nullptr, with_phred);
                if (with_phred) std::copy_n(phred, stretch.size(), &called.phred[stretch.start]);
              });
  return called;
}

// The bytes that tiles of this many groups need.
std::size_t memory_for(const MlCaller& ml, std::size_t groups, bool with_phred) {
  const auto species = static_cast<std::size_t>(ml.species());
  return DeviceTrees(ml).bytes().size() +
         2 * kPackedGroup * (species * (groups + 2) + groups * (with_phred ? 2 : 1));
}

// The device must make the CPU's calls at any SIMD level, in tiles of 1, 3 and many groups.
void check_model(const MakeMl& make, const std::vector<std::size_t>& lengths,
                 const std::function<std::unique_ptr<CallKernels>()>& open, std::mt19937& random) {
  const auto ml = make();
  std::vector<Genome> genomes;
  std::vector<Called> calls;
  for (const std::size_t n : lengths) {
    genomes.emplace_back(ml->species(), n, random);
    calls.push_back(called_on_cpu(*ml, genomes.back(), SimdLevel::kScalar));
    for (const auto simd : test::simd_levels()) {
      ASSERT_TRUE(called_on_cpu(*ml, genomes.back(), simd) == calls.back());
    }
  }
  for (const bool with_phred : {true, false}) {
    for (const std::size_t groups : {1, 3, 0}) {
      const std::size_t limit = groups == 0 ? 0 : memory_for(*ml, groups, with_phred);
      const Caller caller(make(), on_gpus({0}, limit), with_phred, one_device(open()));
      const auto by = caller.device_callers(static_cast<std::int64_t>(lengths.back()));
      for (std::size_t i = 0; i < genomes.size(); ++i) {
        Called expected = calls[i];
        if (!with_phred) expected.phred.assign(genomes[i].n, 77);
        for (const auto form : kForms) {
          ASSERT_TRUE(called_on(*by.at(0), genomes[i], form, with_phred) == expected)
              << ml->species() << " species, " << genomes[i].n << " positions, packed "
              << (form == SequenceForm::kPacked) << ", tiles of " << groups;
        }
      }
    }
  }
}

std::unique_ptr<CallKernels> fake(std::size_t block) {
  auto kernels = std::make_unique<FakeKernels>();
  kernels->block_of_threads = block;
  return kernels;
}

// ---- The parts ----------------------------------------------------------------------------------

TEST(PhredScale, IsTheLogarithmRounded) {
  const PhredScale scale;
  const auto slowly = [](double error) {
    return static_cast<int>(std::lround(std::min(-10 * std::log10(error), 254.0)));
  };
  const auto expect = [&](double error) {
    EXPECT_EQ(error_phred(error, scale.largest_error), slowly(error)) << error;
  };
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    expect(std::pow(10, -std::uniform_real_distribution<double>(0, 30)(random)));
  }
  for (int phred = 1; phred < 255; ++phred) {
    const double edge = scale.largest_error[phred - 1];
    for (const double error : {edge, std::nextafter(edge, 0), std::nextafter(edge, 1)}) {
      expect(error);
    }
  }
  for (const double error : {0.0, 1e-300, 1.0, 0.9999}) expect(error);
  EXPECT_EQ(error_phred(1 + 1e-15, scale.largest_error), 0);
}

// A tree with one split, by this feature.
DecisionTree stump(int feature) {
  DecisionTree tree;
  tree.splits = {{feature, 0.5, MissingValues::kNone, false, -1, -2}};
  tree.leaves = {-1, 1};
  return tree;
}

TEST(TileTrees, SeeTheFeaturesOfThePositions) {
  std::mt19937 random(2);
  for (const int species : {2, 3, 7, 12}) {
    std::vector<DecisionTree> trees;
    for (int f = species + 8; f >= 0; --f) trees.push_back(stump(f));
    while (trees.size() % kBases != 0) trees.push_back(stump(0));
    const MlCaller ml(trees, species / 2, species - species / 2, {});
    const DeviceTrees device(ml);
    const WalkedTrees walked = device.at(device.bytes().data());
    EXPECT_EQ(walked.bytes(), device.bytes().size());
    for (const std::size_t n : {1, 2, 3, 4, 49, 50, 51, 100, 101, 102, 700}) {
      const Genome genome(species, n, random);
      std::string rows;
      for (const auto& bases : genome.species) rows += bases;
      const auto length = static_cast<std::int64_t>(n);
      const TileAround around = {
          {rows.data(), n, species, false, n, nullptr, nullptr}, 0, 0, length};
      std::vector<std::uint32_t> consensus;
      for (std::int64_t at = -kFeatureReach; at < length + kFeatureReach; ++at) {
        consensus.push_back(consensus_at(around, at));
      }
      const auto features = static_cast<std::size_t>(ml.features().count());
      std::vector<float> expected(features * n);
      ml.features().compute(genome.all(), expected.data());
      std::vector<float> found(features * n);
      for (std::size_t i = 0; i < n; ++i) {
        const bool has_data = write_columns(around, walked.n_inner, i,
                                            &consensus[kFeatureReach + i], {walked, &found[i], n});
        EXPECT_EQ(has_data, expected[static_cast<std::size_t>(species) * n + i] > 0);
      }
      EXPECT_EQ(found, expected) << species << " species, " << n << " positions";
    }
  }
}

TEST(TileTrees, AreWalkedHoweverDeepTheyAre) {
  constexpr int leaves = 131072;  // LightGBM's limit
  for (const bool to_the_left : {true, false}) {
    DecisionTree chain;
    for (int i = 0; i < leaves - 1; ++i) {
      const int next = i < leaves - 2 ? i + 1 : ~(leaves - 1);
      const double threshold = to_the_left ? leaves - 2 - i : i;
      chain.splits.push_back({0, threshold, MissingValues::kNone, false, to_the_left ? next : ~i,
                              to_the_left ? ~i : next});
      chain.leaves.push_back(to_the_left ? leaves - 1 - i : i);
    }
    chain.leaves.push_back(to_the_left ? 0 : leaves - 1);
    const MlCaller ml({chain, stump(0), stump(1), stump(2)}, 1, 1, {});
    const DeviceTrees device(ml);
    const WalkedTrees walked = device.at(device.bytes().data());
    for (const int value : {0, 1, 2, 77777, leaves - 3, leaves - 2, leaves - 1, leaves}) {
      const auto leaf =
          leaf_of(walked, 0, [&](std::uint32_t) { return static_cast<float>(value); });
      EXPECT_EQ(leaf, std::min(value, leaves - 1));
    }
    EXPECT_EQ(leaf_of(walked, 3, [](std::uint32_t) { return 0.0F; }), -1);
    EXPECT_EQ(leaf_of(walked, 3, [](std::uint32_t) { return NAN; }), 1);
  }
}

// ---- Calls --------------------------------------------------------------------------------------

TEST(DeviceTrees, CallAsTheCpuDoes) {
  std::mt19937 random(3);
  for (int species = 2; species <= 12; ++species) {
    const std::size_t leaves = std::vector<std::size_t>{1, 2, 31, 300}[species % 4];
    const auto model = random_model(species, 1 + species % 5, leaves, random);
    const std::size_t block = std::vector<std::size_t>{1, 32, 64, 256}[random() % 4];
    check_model(
        model, {0, 1, 2, 49, 50, 51, 100, 101, 102, 127, 128, 129, 384, 1501},
        [&] { return fake(block); }, random);
  }
}

TEST(DeviceTrees, CallByTrainedModels) {
  std::mt19937 random(4);
  for (const std::string kind : {"nan", "zero"}) {
    const std::string path = ANCIFY_SOURCE_DIR "/tests/testthat/fixtures/ml_model_" + kind + ".lgb";
    check_model([&] { return std::make_unique<MlCaller>(path, 2, 1, Thresholds()); },
                {1, 100, 5003}, [] { return fake(256); }, random);
  }
}

#ifdef ANCIFY_HAVE_CUDA
#ifdef ANCIFY_CUDA_ON_HOST
constexpr std::size_t kManyPositions = 701;  // so many that each of two blocks takes several turns
#else
constexpr std::size_t kManyPositions = 50001;
#endif

TEST(DeviceTrees, CallOnAGpuAsTheCpuDoes) {
  const Gpus gpus = available_gpus(1);
  if (gpus.usable.empty()) GTEST_SKIP() << "no GPU here: " << gpus.problem;
  std::mt19937 random(5);
  Backend backend = on_gpus();
  backend.devices = {gpus.usable.front().number};
  const auto open = [&] { return std::move(open_call_devices(backend).front()); };
  for (const int species : {2, 4, 12}) {
    for (const std::size_t leaves : {4, 63, 1000}) {
      const auto model = random_model(species, 20, leaves, random);
      check_model(model, {0, 1, 51, 101, 129, kManyPositions}, open, random);
    }
  }
}
#endif

TEST(DeviceTrees, GivePosteriorsToo) {
  std::mt19937 random(6);
  const auto model = random_model(3, 4, 31, random);
  const Genome genome(3, 2000, random);
  std::vector<double> found[2];
  std::string calls[2];
  for (const bool on_device : {false, true}) {
    const Caller caller(model(),
                        on_device ? on_gpus({0}, memory_for(*model(), 3, false)) : Backend(), false,
                        on_device ? one_device(fake(256)) : CallDevices());
    JobControl control;
    calls[on_device].assign(genome.n, '?');
    found[on_device].assign(kBases * genome.n, -1);
    call_sequences(caller, genome.sources(SequenceForm::kPacked), genome.n, &calls[on_device][0],
                   found[on_device].data(), control);
    EXPECT_EQ(control.done(), 2000);
  }
  EXPECT_EQ(calls[0], calls[1]);
  EXPECT_EQ(std::memcmp(found[0].data(), found[1].data(), found[0].size() * sizeof(double)), 0);
}

TEST(DeviceTrees, WriteTheSameFiles) {
  std::mt19937 random(7);
  const auto model = random_model(4, 5, 31, random);
  std::vector<Genome> genomes;
  std::vector<ChromosomeSequences> chromosomes;
  for (const std::size_t n : {700, 0, 1, 3000}) genomes.emplace_back(4, n, random);
  for (const auto& genome : genomes) {
    ChromosomeSequences chromosome;
    chromosome.name = "chr" + std::to_string(chromosomes.size());
    chromosome.length = static_cast<std::int64_t>(genome.n);
    chromosome.open = [&genome] { return genome.sources(SequenceForm::kCharacters); };
    chromosomes.push_back(chromosome);
  }
  chromosomes.erase(chromosomes.begin() + 1);
  const TempDir dir;
  for (const std::string where : {"cpu", "gpu"}) {
    CallDevices devices;
    for (int d = 0; d < 3 && where == "gpu"; ++d) devices.push_back(fake(64));
    const Caller caller(model(),
                        where == "gpu" ? on_gpus({0}, memory_for(*model(), 2, true)) : Backend(),
                        true, std::move(devices));
    JobControl control;
    call_chromosomes(caller, chromosomes, dir.file(where), control);
  }
  for (const auto& chromosome : chromosomes) {
    for (const auto& file :
         {"/" + chromosome.name + ".fa", "/posterior/" + chromosome.name + ".phred"}) {
      EXPECT_TRUE(test::read_file(dir.file("gpu" + file)) ==
                  test::read_file(dir.file("cpu" + file)));
    }
  }
}

// ---- Failures -----------------------------------------------------------------------------------

TEST(DeviceTrees, MemoryThatIsNotThereMakesSmallerTilesOrAnError) {
  std::mt19937 random(8);
  const auto model = random_model(3, 4, 31, random);
  const auto ml = model();
  const Genome genome(3, 5000, random);
  const auto message = [&](std::size_t memory, std::size_t limit) {
    const Caller caller(model(), on_gpus({0}, limit), true,
                        one_device(std::make_unique<FakeKernels>(memory)));
    return message_of<DeviceError>([&] { caller.device_callers(5000); });
  };
  const std::size_t least = memory_for(*ml, 1, true);
  EXPECT_NE(
      message(std::size_t{1} << 30, least - 1)
          .find("too little memory: the job needs at least " + std::to_string(least) + " bytes;"),
      std::string::npos);
  EXPECT_EQ(message(std::size_t{1} << 30, least), "no error of the expected type");
  EXPECT_NE(message(500, 0).find("fake:0 has too little memory"), std::string::npos);

  // The device refuses tiles of more than 4000 bytes, or the trees.
  for (const std::size_t largest : {std::size_t{4000}, std::size_t{100}}) {
    auto kernels = std::make_unique<FakeKernels>();
    FakeKernels& device = *kernels;
    device.fake.largest_allocation = largest;
    const Caller caller(model(), on_gpus(), true, one_device(std::move(kernels)));
    if (largest == 100) {
      EXPECT_THROW(caller.device_callers(5000), DeviceError);
    } else {
      device.fake.largest_allocation = std::max(largest, DeviceTrees(*ml).bytes().size());
      const auto by = caller.device_callers(5000);
      EXPECT_TRUE(called_on(*by.at(0), genome, SequenceForm::kCharacters, true) ==
                  called_on_cpu(*ml, genome, SimdLevel::kScalar));
      EXPECT_GT(device.tiles, 1);
    }
    EXPECT_EQ(device.fake.taken(), 0U);
  }
}

TEST(DeviceTrees, AFailingDeviceIsAnError) {
  std::mt19937 random(9);
  const auto model = random_model(2, 2, 15, random);
  const Genome genome(2, 1000, random);
  const std::size_t memory = memory_for(*model(), 3, false);
  for (int failing = 1; failing < 12; ++failing) {
    auto kernels = std::make_unique<FakeKernels>();
    kernels->fake.failing_call = failing;
    const Caller caller(model(), on_gpus({0}, memory), false, one_device(std::move(kernels)));
    const auto message = message_of<DeviceError>([&] {
      const auto by = caller.device_callers(1000);
      called_on(*by.at(0), genome, SequenceForm::kPacked, false);
    });
    EXPECT_NE(message.find("fake:0 failed in"), std::string::npos) << failing << ": " << message;
  }
}

TEST(DeviceTrees, AModelThatIsTooWideIsAnError) {
  constexpr int species = 60;
  std::vector<DecisionTree> trees;
  for (int f = 0; f < species + 9; ++f) {
    for (const bool left : {false, true}) {
      for (const auto missing : {MissingValues::kZero, MissingValues::kNan}) {
        trees.push_back(stump(f));
        trees.back().splits.front().missing = missing;
        trees.back().splits.front().missing_left = left;
      }
    }
  }
  const auto make = [&] { return std::make_unique<MlCaller>(trees, 30, 30, Thresholds()); };
  EXPECT_NE(message_of<DeviceError>([&] {
              Caller(make(), on_gpus(), false, one_device(fake(256)));
            }).find("need 276 feature columns"),
            std::string::npos);
  EXPECT_TRUE(Caller(make(), Backend()).device_callers(100).empty());
}

}  // namespace
}  // namespace ancify
