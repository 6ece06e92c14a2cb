// Checks calls and posteriors of whole chromosomes by every method, from files and packed memory.
#include "core/ancestry/calling/methods.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/calling/pattern_caller.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_store.h"
#include "support.h"
#include "trees.h"
#include "whole_stretch.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

constexpr int kSpecies = 3;  // species of the model in the fixtures

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const auto& method : calling_methods()) names.push_back(method.name);
  return names;
}

MethodOptions options_of(const std::string& name) {
  std::mt19937 random(1);
  MethodOptions options;
  options.name = name;
  options.voting = {2, 1, 1, 1};
  options.tree = Tree(test::random_nodes(kSpecies, true, random), kSpecies);
  options.rates = test::random_rates(random);
  options.history =
      History{20000, 1, {{200000, 1, 0, 50000}, {400000, 2, 0, 60000}, {1000000, 3, 0, 80000}}};
  options.thresholds = {0.5, 0.4};  // so that the model makes calls of all four kinds
  options.model_path = std::string(ANCIFY_SOURCE_DIR) + "/tests/testthat/fixtures/ml_model_nan.lgb";
  return options;
}

struct Genome {
  std::vector<Chromosome> chromosomes;
  std::vector<std::vector<std::string>> species;  // of each chromosome
};

// A chromosome longer than one of the pieces that threads share.
constexpr std::int64_t kPieces = 4 * static_cast<std::int64_t>(Caller::stretch()) + 10007;

// Species mostly agree, as in a genome. Some regions have no data in any species.
Genome random_genome(std::mt19937& random, std::int64_t longest = kPieces) {
  Genome genome;
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{129}, longest}) {
    genome.chromosomes.push_back({"chr" + std::to_string(length), length});
    std::vector<std::string> species(kSpecies, std::string(static_cast<std::size_t>(length), 'N'));
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
      if (i / 200 % 7 == 3) continue;
      const char usual = "ACGTacgt"[random() % 8];
      for (auto& bases : species) bases[i] = random() % 3 == 0 ? "ACGTN-R"[random() % 7] : usual;
    }
    genome.species.push_back(species);
  }
  return genome;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const auto& text : texts) pointers.push_back(text.data());
  return pointers;
}

struct Called {
  std::string calls;
  std::string phred;
  std::vector<double> posteriors;  // of A, then of C, ...
};

// The oracle: a method calls position by position, or a model calls everything at once.
Called call_slowly(const MethodOptions& options, const std::vector<std::string>& species) {
  const std::size_t n = species.front().size();
  Called called{std::string(n, '?'), std::string(n, '?'), std::vector<double>(n * kBases, NAN)};
  if (options.name == "ml") {
    const auto bases = pointers_to(species);
    const Stretch all = test::whole_stretch(bases.data(), SequenceForm::kCharacters, n);
    const MlCaller ml(options.model_path, 2, 1, options.thresholds);
    ml.call(all, SimdLevel::kScalar, &called.calls[0],
            reinterpret_cast<std::uint8_t*>(&called.phred[0]));
    ml.posteriors(all, SimdLevel::kScalar, called.posteriors.data(), n);
    return called;
  }
  const auto method = make_method(options);
  std::map<std::array<int, kSpecies>, SiteCall> known;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<int, kSpecies> states;
    for (std::size_t s = 0; s < kSpecies; ++s) states[s] = base_code(species[s][i]);
    if (known.count(states) == 0) known[states] = method->call(states.data());
    const SiteCall& site = known[states];
    called.calls[i] = site.call;
    called.phred[i] = static_cast<char>(error_phred(site));
    for (std::size_t base = 0; base < kBases && site.posterior; ++base) {
      called.posteriors[base * n + i] = (*site.posterior)[base];
    }
  }
  return called;
}

Backend cpu(int threads, SimdLevel simd) {
  Backend backend;
  backend.threads = threads;
  backend.simd = simd;
  return backend;
}

// The genome in the two forms that runs have: files, or packed memory.
class Kept {
 public:
  Kept(const Genome& genome, const TempDir& dir) : genome_(genome) {
    for (std::size_t c = 0; c < genome.chromosomes.size(); ++c) {
      const std::string& name = genome.chromosomes[c].name;
      packed_.emplace_back();
      for (std::size_t s = 0; s < kSpecies; ++s) {
        const std::string& bases = genome.species[c][s];
        folders_.push_back(dir.file("species" + std::to_string(s)));
        std::filesystem::create_directories(folders_.back());
        dir.write("species" + std::to_string(s) + "/" + name + ".fa", ">" + name + "\n" + bases);
        packed_[c].emplace_back(packed_size(bases.size()), '\xff');
        pack_bases(bases.data(), bases.size(), 0, &packed_[c].back()[0], SimdLevel::kScalar);
      }
    }
  }

  std::vector<ChromosomeSequences> chromosomes(bool in_files) const {
    std::vector<ChromosomeSequences> all;
    for (std::size_t c = 0; c < genome_.chromosomes.size(); ++c) {
      const auto& [name, length] = genome_.chromosomes[c];
      all.push_back({name, length, [this, c, in_files] { return open(c, in_files); }});
    }
    return all;
  }

 private:
  SequenceSources open(std::size_t c, bool in_files) const {
    const auto& [name, length] = genome_.chromosomes[c];
    SequenceSources sources;
    for (std::size_t s = 0; s < kSpecies; ++s) {
      sources.push_back(in_files ? file_source(sequence_path(folders_[s], name), name, length)
                                 : memory_source(packed_[c][s].data(), SequenceForm::kPacked));
    }
    return sources;
  }

  const Genome& genome_;
  std::vector<std::string> folders_;
  std::vector<std::vector<std::string>> packed_;
};

// A method at these levels, by one thread and by three, with and without errors, from files and
// memory
void expect_calls(const std::string& name, const Genome& genome,
                  const std::vector<SimdLevel>& levels) {
  const TempDir dir;
  const Kept kept(genome, dir);
  const auto options = options_of(name);
  std::vector<Called> expected;
  for (const auto& species : genome.species) expected.push_back(call_slowly(options, species));
  for (const auto level : levels) {
    for (const int threads : {1, 3}) {
      for (const bool with_phred : {true, false}) {
        const Caller caller = make_caller(options, cpu(threads, level), with_phred);
        for (const bool in_files : {true, false}) {
          std::filesystem::remove_all(dir.file("out"));
          JobControl control;
          std::mutex mutex;
          std::map<std::size_t, CalledChromosome> told;
          const auto counts =
              call_chromosomes(caller, kept.chromosomes(in_files), dir.file("out"), control,
                               [&](std::size_t c, const CalledChromosome& called) {
                                 std::lock_guard<std::mutex> lock(mutex);
                                 EXPECT_TRUE(told.emplace(c, called).second);
                               });
          EXPECT_EQ(told.size(), expected.size());
          EXPECT_EQ(control.done(), control.expected());
          for (std::size_t c = 0; c < expected.size(); ++c) {
            const std::string& chromosome = genome.chromosomes[c].name;
            ASSERT_TRUE(read_file(dir.file("out/" + chromosome + ".fa")) ==
                        ">" + chromosome + "\n" + expected[c].calls + "\n")
                << name << ", " << simd_name(level) << ", " << threads << " threads";
            const std::string phred = dir.file("out/posterior/" + chromosome + ".phred");
            ASSERT_EQ(std::filesystem::exists(phred), with_phred);
            ASSERT_TRUE(!with_phred || read_file(phred) == expected[c].phred) << name;
            EXPECT_EQ(told[c].calls,
                      checksum_of_file(dir.file("out/" + chromosome + ".fa"), TaskContext()));
            EXPECT_EQ(told[c].phred,
                      with_phred ? checksum_of_file(phred, TaskContext()) : FileChecksum());
            EXPECT_EQ(told[c].phred.identity, with_phred ? InputFile(phred).identity() : "");
            EXPECT_EQ(told[c].counts.high, counts[c].high);
            const auto high = std::count_if(expected[c].calls.begin(), expected[c].calls.end(),
                                            [](char b) { return b < 'Z' && b != 'N'; });
            EXPECT_EQ(counts[c].high, high);
          }
        }
      }
    }
  }
  // The genome must lead to high, low and missing calls, or the test would show little.
  const std::string& calls = expected.back().calls;
  for (const char c : {'A', 'N'}) EXPECT_NE(calls.find(c), std::string::npos) << name;
  EXPECT_NE(calls.find_first_of("acgtn"), std::string::npos) << name;
}

// Levels differ within a vector, so that a short genome shows all of them.
TEST(EveryMethod, CallsTheSameByEveryWay) {
  std::mt19937 random(21);
  const Genome few = random_genome(random, 10007);
  const Genome many = random_genome(random);
  for (const std::string& name : names_of_methods()) {
    expect_calls(name, few, test::simd_levels());
    expect_calls(name, many, {best_simd_level()});
  }
}

void expect_posteriors(const std::string& name, const std::vector<std::string>& species,
                       const std::vector<SimdLevel>& levels) {
  const std::size_t n = species.front().size();
  SequenceSources sources;
  for (const auto& bases : species) {
    sources.push_back(memory_source(bases.data(), SequenceForm::kCharacters));
  }
  const auto options = options_of(name);
  const Called expected = call_slowly(options, species);
  for (const auto level : levels) {
    for (const int threads : {1, 3}) {
      Called found{std::string(n, '?'), "", std::vector<double>(n * kBases, -1)};
      JobControl control;
      call_sequences(make_caller(options, cpu(threads, level), false), sources, n, &found.calls[0],
                     found.posteriors.data(), control);
      ASSERT_TRUE(found.calls == expected.calls) << name;
      for (std::size_t i = 0; i < n * kBases; ++i) {
        const double p = expected.posteriors[i];
        ASSERT_TRUE(found.posteriors[i] == p || (std::isnan(found.posteriors[i]) && std::isnan(p)))
            << name << ", " << i;
      }
    }
  }
}

TEST(EveryMethod, GivesPosteriorsOfSequencesInMemory) {
  std::mt19937 random(22);
  const auto few = random_genome(random, 10007).species.back();
  const auto many = random_genome(random).species.back();
  for (const std::string& name : names_of_methods()) {
    expect_posteriors(name, few, test::simd_levels());
    expect_posteriors(name, many, {best_simd_level()});
  }
}

class Broken : public SequenceSource {
 public:
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t, std::size_t, char*) const override {
    throw FileError("broken", "is broken");
  }
};

// Each file in `folder` equals that in `good`. So none is half-written or has a temporary name.
void expect_only_whole_files(const std::string& folder, const std::string& good) {
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string same = good + entry.path().string().substr(folder.size());
    ASSERT_TRUE(std::filesystem::exists(same)) << entry.path();
    EXPECT_TRUE(read_file(entry.path()) == read_file(same)) << entry.path();
  }
}

TEST(EveryMethod, WritesOnlyWholeFiles) {
  const TempDir dir;
  std::mt19937 random(23);
  const Genome genome = random_genome(random);
  const Kept kept(genome, dir);
  for (const std::string name : {"likelihood", "ml"}) {
    const auto caller = make_caller(options_of(name), cpu(2, best_simd_level()), true);
    auto chromosomes = kept.chromosomes(true);
    chromosomes.push_back({"broken", 10, [] {
                             SequenceSources sources;
                             for (int s = 0; s < kSpecies; ++s) {
                               sources.push_back(std::make_unique<Broken>());
                             }
                             return sources;
                           }});
    JobControl control;
    call_chromosomes(caller, kept.chromosomes(true), dir.file("good"), control);
    EXPECT_THROW(call_chromosomes(caller, chromosomes, dir.file("out"), control), FileError);
    expect_only_whole_files(dir.file("out"), dir.file("good"));

    // The broken chromosome alone leaves no file and neither of the two folders.
    std::filesystem::remove_all(dir.file("out"));
    chromosomes.erase(chromosomes.begin(), chromosomes.end() - 1);
    EXPECT_THROW(call_chromosomes(caller, chromosomes, dir.file("out"), control), FileError);
    EXPECT_FALSE(std::filesystem::exists(dir.file("out")));

    std::filesystem::create_directories(dir.file("out/posterior/chr129.phred"));
    EXPECT_THROW(call_chromosomes(caller, kept.chromosomes(false), dir.file("out"), control),
                 FileError);
    EXPECT_FALSE(std::filesystem::exists(dir.file("out/chr129.fa")));
    expect_only_whole_files(dir.file("out"), dir.file("good"));
    std::filesystem::remove_all(dir.file("out"));
  }
}

TEST(EveryMethod, TellsWhatDevicesDo) {
  for (const auto& method : calling_methods()) {
    const auto* const make = std::get_if<MakePatternMethod>(&method.make);
    if (make == nullptr) continue;  // a model, which takes any number of species
    auto options = options_of(method.name);
    const PatternCaller few((*make)(options, JobControl()), true);
    EXPECT_TRUE(few.on_devices(true)) << method.name;
    if (method.name == "coalescent") continue;  // takes fewer species than a table
    options.voting = {kMostTabulated, 1, 1, 1};
    std::mt19937 random(1);
    options.tree = Tree(test::random_nodes(kMostTabulated + 1, true, random), kMostTabulated + 1);
    const PatternCaller many((*make)(options, JobControl()), true);
    EXPECT_EQ(many.on_devices(true).has_value(), method.on_devices == OnDevices::kAlways)
        << method.name;
  }
}

// Two methods that need nothing but a row: one by a position, one by the position before it.
class FirstBase : public Method {
 public:
  int species() const override { return kSpecies; }
  SiteCall call(const int* states) const override {
    return {states[0] == kMissing ? 'N' : upper_base(states[0]), {}};
  }
};

class BaseBefore : public StretchCaller {
 public:
  int species() const override { return kSpecies; }
  std::int64_t reach() const override { return 1; }
  void call(const Stretch& stretch, SimdLevel /*simd*/, char* calls,
            std::uint8_t* /*phred*/) const override {
    for (std::int64_t i = stretch.start; i < stretch.end; ++i) {
      *calls++ = i == 0 ? 'N' : upper_base(base_code(stretch.species[0][i - 1 - stretch.first]));
    }
  }
  void posteriors(const Stretch& /*stretch*/, SimdLevel /*simd*/, double* /*out*/,
                  std::size_t /*pitch*/) const override {}
  std::optional<DeviceMethod> on_devices(bool /*with_phred*/) const override {
    return std::nullopt;
  }
};

TEST(Methods, AreAddedByARow) {
  const std::vector<CallingMethod> toys = {
      {"first", MakePatternMethod([](const MethodOptions&, const JobControl&) {
         return std::make_unique<FirstBase>();
       })},
      {"before", MakeStretchCaller([](const MethodOptions&, const JobControl&) {
         return std::make_unique<BaseBefore>();
       })}};
  const TempDir dir;
  std::mt19937 random(24);
  const Genome genome = random_genome(random);
  const Kept kept(genome, dir);
  for (const std::string name : {"first", "before"}) {
    MethodOptions options;
    options.name = name;
    const auto caller = make_caller(options, cpu(2, best_simd_level()), false, JobControl(), toys);
    JobControl control;
    call_chromosomes(caller, kept.chromosomes(true), dir.file(name), control);
    const std::string& bases = genome.species.back().front();
    std::string expected;
    for (const char base : bases) expected += upper_base(base_code(base));
    if (name == "before") expected = "N" + expected.substr(0, expected.size() - 1);
    const std::string& chromosome = genome.chromosomes.back().name;
    EXPECT_TRUE(read_file(dir.file(name + "/" + chromosome + ".fa")) ==
                ">" + chromosome + "\n" + expected + "\n");
  }
}

TEST(EveryMethod, MlSaysWhatItNeeds) {
  auto options = options_of("ml");
  options.model_path = "/nowhere/model";
  EXPECT_NE(message_of<FileError>([&] {
              make_caller(options, cpu(1, SimdLevel::kScalar), false);
            }).find("/nowhere/model"),
            std::string::npos);
  options = options_of("ml");
  options.thresholds = {0.4, 0.5};
  EXPECT_THROW(make_caller(options, cpu(1, SimdLevel::kScalar), false), InputError);
  options.name = "m";
  EXPECT_NE(message_of<InputError>([&] {
              make_caller(options, cpu(1, SimdLevel::kScalar), false);
            }).find(", \"ml\""),
            std::string::npos);
}

}  // namespace
}  // namespace ancify
