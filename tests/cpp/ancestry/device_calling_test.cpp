// Checks calling on the fake device against the CPU.
#include "core/ancestry/calling/device_calling.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "fake_kernels.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

using test::FakeKernels;
using test::message_of;
using test::on_gpus;
using test::one_device;
using test::TempDir;

constexpr SequenceForm kForms[] = {SequenceForm::kCharacters, SequenceForm::kPacked};

TEST(TileCalling, CodesOfFourCharactersAreThoseOfEach) {
  for (std::uint32_t c = 0; c < 256; ++c) {
    for (std::uint32_t neighbour : {0U, 255U, std::uint32_t{'A'}, std::uint32_t{'t'}}) {
      for (int at = 0; at < 32; at += 8) {
        const std::uint32_t others = neighbour * kOnes & ~(std::uint32_t{255} << at);
        const std::uint32_t codes = base_codes(others | c << at);
        const std::uint32_t nibbles = nibble_codes(others | c << at);
        for (int byte = 0; byte < 32; byte += 8) {
          const std::uint32_t here = byte == at ? c : neighbour;
          ASSERT_EQ(codes >> byte & 255, base_code(static_cast<char>(here))) << here;
          ASSERT_EQ(nibbles >> byte & 255, std::min<std::uint32_t>(here & 15, kMissing)) << here;
        }
      }
    }
  }
}

// Sequences in both forms; the characters begin at odd addresses.
struct Sequences {
  Sequences(int n_species, std::size_t n, std::mt19937& random) : n(n) {
    const std::string characters = "ACGTacgtN-R*\x01\xff";
    for (int s = 0; s < n_species; ++s) {
      std::string bases(n + 1, '?');
      for (char& c : bases) {
        c = random() % 3 == 0 ? characters[random() % characters.size()] : "ACGt"[n % 4];
      }
      packed.emplace_back(packed_size(n), '\xff');
      pack_bases(&bases[1], n, 0, &packed.back()[0], SimdLevel::kScalar);
      species.push_back(bases);
    }
  }

  SequenceSources sources(SequenceForm form) const {
    SequenceSources sources;
    for (std::size_t s = 0; s < species.size(); ++s) {
      sources.push_back(memory_source(
          form == SequenceForm::kPacked ? packed[s].data() : species[s].data() + 1, form));
    }
    return sources;
  }

  std::size_t n;
  std::vector<std::string> species;
  std::vector<std::string> packed;
};

struct Called {
  explicit Called(std::size_t n) : calls(n, '?'), phred(n, 77) {}
  bool operator==(const Called& other) const {
    return calls == other.calls && phred == other.phred;
  }
  std::string calls;
  std::vector<std::uint8_t> phred;
};

// Calls without vector instructions or devices.
Called called_slowly(const Method& method, const Sequences& sequences) {
  Called called(sequences.n);
  std::vector<int> states(sequences.species.size());
  for (std::size_t i = 0; i < sequences.n; ++i) {
    for (std::size_t s = 0; s < states.size(); ++s) {
      states[s] = base_code(sequences.species[s][i + 1]);
    }
    const SiteCall site = method.call(states.data());
    called.calls[i] = site.call;
    called.phred[i] = error_phred(site);
  }
  return called;
}

Called called_on(DeviceCaller& caller, const Sequences& sequences, SequenceForm form) {
  Called called(sequences.n);
  std::int64_t next = 0;
  caller.call(sequences.sources(form), static_cast<std::int64_t>(sequences.n), TaskContext(),
              [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
                EXPECT_EQ(stretch.start, next);
                next = stretch.end;
                std::copy_n(calls, stretch.size(), &called.calls[stretch.start]);
                if (phred == nullptr) {
                  called.phred.clear();
                } else {
                  std::copy_n(phred, stretch.size(), &called.phred[stretch.start]);
                }
              });
  EXPECT_EQ(next, sequences.n);
  return called;
}

MethodOptions options_of(const std::string& name, int species, std::mt19937& random) {
  MethodOptions options = test::random_options(name, species, random);
  History history{20000, 1, {}};
  for (int s = 0; s < species; ++s) {
    history.joins.push_back({200000.0 * (s + 1), s + 1, 0, 50000.0});
  }
  options.history = history;
  return options;
}

// The device must make the method's own calls, in tiles of 1, 3 and many groups.
void check_device(const std::string& name, int species, const std::vector<std::size_t>& lengths,
                  const std::function<std::unique_ptr<CallKernels>()>& open, std::mt19937& random) {
  const auto options = options_of(name, species, random);
  const auto method = make_method(options);
  std::vector<Sequences> genome;
  std::vector<Called> calls;
  for (const std::size_t n : lengths) {
    genome.emplace_back(species, n, random);
    calls.push_back(called_slowly(*method, genome.back()));
  }
  for (const bool with_phred : {true, false}) {
    const std::size_t table = species <= kMostTabulated ? 2 * number_of_patterns(species) : 0;
    const std::size_t group = 128 * static_cast<std::size_t>(species + 1 + with_phred);
    for (const std::size_t limit : {table + 2 * group, table + 7 * group, std::size_t{0}}) {
      const Caller caller(make_method(options), on_gpus({0}, limit), with_phred,
                          one_device(open()));
      const auto by = caller.device_callers(static_cast<std::int64_t>(lengths.back()));
      for (std::size_t i = 0; i < genome.size(); ++i) {
        Called expected = calls[i];
        if (!with_phred) expected.phred.clear();
        for (const auto form : kForms) {
          ASSERT_TRUE(called_on(*by.at(0), genome[i], form) == expected)
              << name << ", " << species << " species, " << genome[i].n << " positions, packed "
              << (form == SequenceForm::kPacked) << ", limit " << limit;
        }
      }
    }
  }
}

TEST(DeviceCalling, IsThatOfEveryMethod) {
  std::mt19937 random(41);
  const auto fake = [] { return std::make_unique<FakeKernels>(); };
  for (int species = 1; species <= 20; ++species) {
    for (const std::string name : {"voting", "parsimony", "likelihood", "coalescent"}) {
      if (name == "voting" ? species < 2 : species > kMostTabulated) continue;
      if (name == "likelihood" && species > 5) continue;  // slow to tabulate
      if (name == "coalescent" && species > 3) continue;
      check_device(name, species, {1, 15, 16, 17, 127, 128, 129, 1001}, fake, random);
    }
  }
}

#ifdef ANCIFY_HAVE_CUDA
#ifdef ANCIFY_CUDA_ON_HOST
constexpr std::size_t kManyPositions = 5003;  // so many that each of two blocks takes several turns
#else
constexpr std::size_t kManyPositions = 100001;
#endif

TEST(DeviceCalling, OnAGpuIsThatOfEveryMethod) {
  const Gpus gpus = available_gpus(1);
  if (gpus.usable.empty()) GTEST_SKIP() << "no GPU here: " << gpus.problem;
  std::mt19937 random(42);
  const auto open = [&] {
    return std::move(open_call_devices(on_gpus({gpus.usable.front().number})).front());
  };
  for (const int species : {2, 3, 4, 5, 6, 7, 8, 9, 20}) {
    for (const std::string name : {"voting", "parsimony"}) {
      if (name == "parsimony" && species > kMostTabulated) continue;
      check_device(name, species, {1, 17, 129, kManyPositions}, open, random);
    }
  }
}
#endif

TEST(DeviceCalling, HasNoPositionsToCall) {
  auto kernels = std::make_unique<FakeKernels>();
  FakeKernels& fake = *kernels;
  const Caller caller(std::make_unique<VotingMethod>(Voting{1, 1, 1, 1}), on_gpus(), false,
                      one_device(std::move(kernels)));
  JobControl control;
  std::mt19937 random(43);
  const Sequences none(2, 0, random);
  call_sequences(caller, none.sources(SequenceForm::kCharacters), 0, nullptr, nullptr, control);
  EXPECT_EQ(fake.tiles, 0);
  EXPECT_EQ(fake.fake.taken(), 0U);  // a job leaves no memory allocated
}

TEST(DeviceCalling, MethodsWithoutATableStayOnTheCpu) {
  std::mt19937 random(44);
  const auto options = options_of("parsimony", 9, random);
  const Caller caller(make_method(options), on_gpus(), false,
                      one_device(std::make_unique<FakeKernels>()));
  EXPECT_TRUE(caller.device_callers(1000).empty());
  const Sequences sequences(9, 1000, random);
  JobControl control;
  std::string calls(1000, '?');
  call_sequences(caller, sequences.sources(SequenceForm::kCharacters), 1000, &calls[0], nullptr,
                 control);
  EXPECT_EQ(calls, called_slowly(*make_method(options), sequences).calls);
}

// Tiles are smaller or larger than a stretch that the host calls at once.
TEST(DeviceCalling, GivesPosteriorsToo) {
  std::mt19937 random(45);
  const auto options = options_of("likelihood", 3, random);
  for (const std::size_t n : {std::size_t{1000}, 2 * Caller::stretch() + 1000}) {
    const Sequences sequences(3, n, random);
    for (const auto form : {SequenceForm::kCharacters, SequenceForm::kPacked}) {
      std::vector<double> found[2];
      for (const bool on_device : {false, true}) {
        Backend backend = on_device ? on_gpus({0}, n == 1000 ? 3000 : 0) : Backend();
        backend.threads = 3;
        const Caller caller(
            make_method(options), backend, false,
            on_device ? one_device(std::make_unique<FakeKernels>()) : CallDevices());
        JobControl control;
        std::string calls(n, '?');
        found[on_device].assign(4 * n, -1);
        call_sequences(caller, sequences.sources(form), n, &calls[0], found[on_device].data(),
                       control);
        EXPECT_EQ(control.done(), n);
      }
      EXPECT_EQ(std::memcmp(found[0].data(), found[1].data(), found[0].size() * sizeof(double)), 0);
    }
  }
}

TEST(DeviceCalling, TooLittleMemoryIsAnErrorWithTheNumbers) {
  const auto message = [](std::size_t memory, std::size_t limit) {
    const Caller caller(std::make_unique<VotingMethod>(Voting{1, 1, 1, 1}), on_gpus({0}, limit),
                        false, one_device(std::make_unique<FakeKernels>(memory)));
    return message_of<DeviceError>([&] { caller.device_callers(1000); });
  };
  EXPECT_NE(message(500, 0).find("fake:0 has too little memory: the job needs at least 818 bytes; "
                                 "500 bytes are free and it may use 469"),
            std::string::npos)
      << message(500, 0);
  EXPECT_NE(message(5000, 20).find("5000 bytes are free and it may use 20"), std::string::npos);
  EXPECT_EQ(message(5000, 0), "no error of the expected type");
}

// Three devices that take chromosomes in turn.
class ThreeDevices {
 public:
  explicit ThreeDevices(bool with_phred = true) {
    std::mt19937 random(46);
    CallDevices devices;
    for (int d = 0; d < 3; ++d) {
      auto kernels =
          std::make_unique<FakeKernels>(std::size_t{1} << 20, "fake:" + std::to_string(d));
      fakes.push_back(kernels.get());
      devices.push_back(std::move(kernels));
    }
    const auto options = options_of("likelihood", 3, random);
    caller.emplace(make_method(options), on_gpus({0, 1, 2}, 20000), with_phred, std::move(devices));
    on_cpu.emplace(make_method(options), Backend(), with_phred);
    for (const std::size_t n : {5000, 1, 20000, 777, 128, 9000, 3, 4000}) {
      genome.emplace_back(3, n, random);
    }
  }

  std::vector<ChromosomeSequences> chromosomes() const {
    std::vector<ChromosomeSequences> all;
    for (std::size_t c = 0; c < genome.size(); ++c) {
      all.push_back({"chr" + std::to_string(c), static_cast<std::int64_t>(genome[c].n),
                     [this, c] { return genome[c].sources(SequenceForm::kCharacters); }});
    }
    return all;
  }

  std::vector<FakeKernels*> fakes;
  std::optional<Caller> caller;
  std::optional<Caller> on_cpu;
  std::vector<Sequences> genome;
};

TEST(SeveralDevices, TakeChromosomesInTurnAndGiveTheSameFiles) {
  const ThreeDevices three;
  const TempDir dir;
  JobControl control;
  const auto counts =
      call_chromosomes(*three.caller, three.chromosomes(), dir.file("gpu"), control);
  JobControl cpu_control;
  const auto expected =
      call_chromosomes(*three.on_cpu, three.chromosomes(), dir.file("cpu"), cpu_control);
  EXPECT_EQ(control.done(), control.expected());
  for (std::size_t c = 0; c < three.genome.size(); ++c) {
    for (const std::string& file :
         {"/chr" + std::to_string(c) + ".fa", "/posterior/chr" + std::to_string(c) + ".phred"}) {
      EXPECT_TRUE(test::read_file(dir.file("gpu" + file)) ==
                  test::read_file(dir.file("cpu" + file)));
    }
    EXPECT_EQ(counts[c].high, expected[c].high);
    EXPECT_EQ(counts[c].missing, expected[c].missing);
  }
  // Tiles have (20000 - 250) / (2 * 128 * 5) = 15 groups, 1920 positions.
  const auto tiles = [&](std::initializer_list<std::size_t> all) {
    int sum = 0;
    for (const std::size_t c : all) sum += static_cast<int>((three.genome[c].n + 1919) / 1920);
    return sum;
  };
  EXPECT_EQ(three.fakes[0]->tiles, tiles({0, 3, 6}));
  EXPECT_EQ(three.fakes[1]->tiles, tiles({1, 4, 7}));
  EXPECT_EQ(three.fakes[2]->tiles, tiles({2, 5}));
  for (const auto* fake : three.fakes) EXPECT_EQ(fake->threads.size(), 1U);
}

TEST(SeveralDevices, ShareSequencesInMemory) {
  const ThreeDevices three(false);
  for (const auto& sequences : three.genome) {
    std::string calls[2];
    std::vector<double> posteriors[2];
    for (const bool on_devices : {false, true}) {
      JobControl control;
      calls[on_devices].assign(sequences.n, '?');
      posteriors[on_devices].assign(4 * sequences.n, -1);
      for (auto* fake : three.fakes) fake->tiles = 0;
      call_sequences(on_devices ? *three.caller : *three.on_cpu,
                     sequences.sources(SequenceForm::kPacked), sequences.n, &calls[on_devices][0],
                     posteriors[on_devices].data(), control);
      EXPECT_EQ(control.done(), sequences.n);
    }
    EXPECT_EQ(calls[0], calls[1]);
    EXPECT_EQ(std::memcmp(posteriors[0].data(), posteriors[1].data(), 32 * sequences.n), 0);
    // Shares have whole groups.
    const std::size_t share = ((sequences.n + 127) / 128 + 2) / 3 * 128;
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(three.fakes[d]->tiles > 0, d * share < sequences.n) << sequences.n;
    }
  }
}

TEST(SeveralDevices, AnErrorOnOneStopsAllAndLeavesNoFile) {
  const int uploads_of_the_table = 2;  // calls: the upload, and the wait for it
  for (const int failing : {1, 2, uploads_of_the_table + 1, uploads_of_the_table + 2}) {
    const ThreeDevices three;
    three.fakes[1]->fake.failing_call = failing;
    // The error needs time to stop the others, and nothing shows when it has reached them.
    const auto wait_for_failure = [&] {
      for (int k = 0; k < 1000 && !three.fakes[1]->fake.failed; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      std::this_thread::sleep_for(std::chrono::seconds(1));
    };
    // One device waits in its second chromosome, which has one tile, and another in its first. So
    // only one chromosome is called before the failure, and its files wait for the next.
    three.fakes[0]->before_tile = [&] {
      if (three.fakes[0]->tiles == 3) wait_for_failure();
    };
    three.fakes[2]->before_tile = wait_for_failure;
    const TempDir dir;
    JobControl control;
    const auto message = message_of<DeviceError>(
        [&] { call_chromosomes(*three.caller, three.chromosomes(), dir.file("out"), control); });
    EXPECT_NE(message.find("fake:1 failed"), std::string::npos);
    EXPECT_TRUE(dir.has_nothing_in("out/posterior"));
    EXPECT_LE(dir.entries(), 2U);
    EXPECT_LE(three.fakes[0]->tiles, 4) << "the third chromosome was begun";
    for (const auto* fake : three.fakes) EXPECT_EQ(fake->fake.taken(), 0U);
  }
}

TEST(SeveralDevices, AreInterruptedBetweenTiles) {
  const ThreeDevices three;
  const TempDir dir;
  JobControl control;
  control.request_stop();
  EXPECT_THROW(call_chromosomes(*three.caller, three.chromosomes(), dir.file("out"), control),
               Interrupted);
  for (const auto* fake : three.fakes) EXPECT_EQ(fake->tiles, 0);
}

}  // namespace
}  // namespace ancify
