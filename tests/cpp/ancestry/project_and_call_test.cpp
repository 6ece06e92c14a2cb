// Checks projection and calling in one run, on the fake device too.
#include "core/ancestry/calling/project_and_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "core/ancestry/calling/methods.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/exec/errors.h"
#include "core/genome/packed.h"
#include "fake_kernels.h"
#include "random_models.h"
#include "support.h"
#include "trees.h"

namespace ancify {
namespace {

using test::FakeKernels;
using test::message_of;
using test::TempDir;

enum class Order { kSorted, kSortedChromosomes, kAny };

// Blocks in order with gaps between them, with chromosomes in their own or in any order; or blocks
// anywhere that may overlap.
std::string random_axt(std::vector<Chromosome> chromosomes, Order order, std::mt19937& random) {
  std::vector<std::string> blocks;
  if (order == Order::kSortedChromosomes) {
    std::shuffle(chromosomes.begin(), chromosomes.end(), random);
  }
  for (const auto& [name, length] : chromosomes) {
    const auto most = static_cast<unsigned>(std::max<std::int64_t>(length / 8, 1));
    std::int64_t next = 1;
    for (int k = 0; k < 12; ++k) {
      const std::int64_t start = order == Order::kAny
                                     ? 1 + static_cast<std::int64_t>(random() % length)
                                     : next + random() % most;
      const std::int64_t end = start + random() % most;
      if (end > length) continue;
      next = end + 1;
      std::string focal;
      std::string outgroup;
      for (std::int64_t i = start; i <= end;) {
        const bool gap = random() % 20 == 0;
        focal += gap ? '-' : 'a';
        outgroup += "AAAAAAAACGTacgtN-"[(random() >> 8) % 17];
        i += gap ? 0 : 1;
      }
      blocks.push_back("0 " + name + " " + std::to_string(start) + " " + std::to_string(end) +
                       " q 1 2 + " + std::to_string(random() % 9) + "\n" + focal + "\n" + outgroup +
                       "\n\n");
    }
  }
  if (order == Order::kAny) std::shuffle(blocks.begin(), blocks.end(), random);
  return std::accumulate(blocks.begin(), blocks.end(), std::string("# blocks\n"));
}

// The contents of all files below a folder, by path.
std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().string().substr(folder.size())] = test::read_file(entry.path().string());
  }
  return files;
}

struct Devices {
  int n = 1;
  std::size_t memory = 0;  // bytes to use on each, or 0 for all
  int threads = 1;
};

// Alignments of four species, two of which share a file, and runs on them.
class Inputs {
 public:
  Inputs(std::vector<Chromosome> chromosomes, Order order, unsigned seed)
      : chromosomes(std::move(chromosomes)), random(seed) {
    for (const std::string name : {"a", "b", "c"}) {
      const std::string axt = random_axt(this->chromosomes, order, random);
      outgroups.push_back({name, dir.write(name + ".axt", axt)});
    }
    outgroups.push_back({"also b", outgroups[1].file});
    const auto options = test::random_options("likelihood", species(), random);
    method = [options] { return make_method(options); };
  }

  int species() const { return static_cast<int>(outgroups.size()); }

  Caller on_cpu(bool with_phred = true, int threads = 1) const {
    Backend backend;
    backend.threads = threads;
    if (model) return {model(), backend, with_phred};
    return {method(), backend, with_phred};
  }
  // fakes[d] is device d for as long as the caller exists.
  Caller on(const Devices& devices, bool with_phred = true) {
    Backend backend;
    backend.kind = BackendKind::kGpu;
    backend.threads = devices.threads;
    backend.gpu_memory = devices.memory;
    CallDevices opened;
    fakes.clear();
    for (int d = 0; d < devices.n; ++d) {
      backend.devices.push_back(d);
      auto kernels =
          std::make_unique<FakeKernels>(std::size_t{1} << 26, "fake:" + std::to_string(d));
      fakes.push_back(kernels.get());
      opened.push_back(std::move(kernels));
    }
    if (model) return {model(), backend, with_phred, std::move(opened)};
    return {method(), backend, with_phred, std::move(opened)};
  }

  // The files of a run that projects all outgroups into files, and then calls from these.
  std::map<std::string, std::string> one_after_the_other(const Caller& caller, bool kept) {
    std::filesystem::remove_all(dir.file("out"));
    std::vector<std::string> folders;
    std::vector<Alignment> alignments;
    for (const auto& [species, file, name_in_file, folder] : outgroups) {
      folders.push_back(dir.file("out/projected/" + species));
      alignments.push_back(
          {species, file, std::make_unique<FileStore>(folders.back(), chromosomes), name_in_file});
    }
    JobControl control;
    project_alignments(alignments, chromosomes, options, 1, control);
    std::vector<ChromosomeSequences> sequences;
    for (const auto& [name, length] : chromosomes) {
      sequences.push_back({name, length, [&, name = name, length = length] {
                             SequenceSources sources;
                             for (const auto& folder : folders) {
                               sources.push_back(
                                   file_source(sequence_path(folder, name), name, length));
                             }
                             return sources;
                           }});
    }
    counts = call_chromosomes(caller, sequences, dir.file("out/calls"), control);
    if (!kept) std::filesystem::remove_all(dir.file("out/projected"));
    return files();
  }

  // Runs, and returns all files of the run.
  std::map<std::string, std::string> run(const Caller& caller, bool kept) {
    std::filesystem::remove_all(dir.file("out"));
    auto alignments = outgroups;
    for (auto& alignment : alignments) {
      if (kept) alignment.folder = dir.file("out/projected/" + alignment.species);
    }
    JobControl control;
    if (stopped) control.request_stop();
    const auto result = project_and_call(alignments, chromosomes, options, caller,
                                         dir.file("out/calls"), control, {}, limits);
    EXPECT_EQ(control.done(), control.expected());
    counts = result.counts;
    log.clear();
    for (const auto& line : control.take_log()) log += line + "\n";
    return files();
  }
  std::map<std::string, std::string> files() const { return files_in(dir.file("out")); }

  TempDir dir;
  std::vector<Chromosome> chromosomes;
  std::mt19937 random;
  std::vector<OutgroupAlignment> outgroups;
  std::function<std::unique_ptr<const Method>()> method;
  std::function<std::unique_ptr<const MlCaller>()> model;  // replaces the method if it is set
  std::vector<FakeKernels*> fakes;
  bool stopped = false;
  ProjectionOptions options;
  WindowLimits limits;
  std::vector<CallCounts> counts;
  std::string log;
};

const std::vector<Chromosome> kSome = {{"one", 5000}, {"two", 1},     {"three", 20000},
                                       {"four", 777}, {"five", 9000}, {"six", 128}};

// The bytes of tiles and table on a device that calls alone, with errors.
std::size_t tiles_and_table(std::size_t longest, std::size_t species) {
  const std::size_t groups = (longest + 127) / 128;
  std::size_t patterns = 1;
  for (std::size_t s = 0; s < species; ++s) patterns *= 5;
  return 2 * groups * 128 * (species + 2) + 2 * patterns;
}

TEST(ProjectAndCall, IsTheSameOnDevicesWhateverFitsTheirMemory) {
  Inputs inputs(kSome, Order::kAny, 81);
  const std::size_t calling = tiles_and_table(20000, 4);
  for (const bool kept : {false, true}) {
    for (const int n : {1, 3}) {
      const bool with_phred = kept == (n == 1);
      const auto expected = inputs.one_after_the_other(inputs.on_cpu(with_phred), kept);
      const auto counts = inputs.counts;
      EXPECT_EQ(expected.size(), kSome.size() * (1 + with_phred + 4 * kept));
      for (const std::size_t memory :
           {std::size_t{9000}, calling, calling + 30000, std::size_t{1} << 25}) {
        const Caller caller = inputs.on({n, memory, 4 - n}, with_phred);
        EXPECT_TRUE(inputs.run(caller, kept) == expected)
            << n << " devices of " << memory << " bytes, kept " << kept;
        for (std::size_t c = 0; c < counts.size(); ++c) {
          EXPECT_EQ(inputs.counts[c].high, counts[c].high);
          EXPECT_EQ(inputs.counts[c].missing, counts[c].missing);
        }
        for (const auto* fake : inputs.fakes) {
          EXPECT_LE(fake->fake.most_on_device, memory);
          EXPECT_EQ(fake->fake.taken(), 0U);
        }
      }
    }
  }
}

std::vector<Chromosome> random_chromosomes(std::mt19937& random) {
  std::vector<Chromosome> chromosomes;
  const std::size_t n = 1 + random() % 6;
  for (std::size_t c = 0; c < n; ++c) {
    const auto length = 1 + static_cast<std::int64_t>(random() % 3000);
    chromosomes.push_back({"chr" + std::to_string(c), length});
  }
  return chromosomes;
}

// Small windows, chunks and memory make every state of a window and each way between them occur.
TEST(ProjectAndCall, IsTheSameForAnyOrderOfBlocksChunkWindowAndMemory) {
  std::mt19937 random(91);
  int again = 0;
  int once = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    const auto order = static_cast<Order>(seed % 3);
    Inputs inputs(random_chromosomes(random), order, seed);
    if (seed % 2 == 0) {
      const auto trees = test::random_forest(3, 5, 4 + 9, inputs.random);
      inputs.model = [trees] {
        return std::make_unique<MlCaller>(trees, 3, 1, Thresholds{0.7, 0.4});
      };
    }
    const bool kept = random() % 2 == 0;
    const auto expected = inputs.one_after_the_other(inputs.on_cpu(), kept);
    inputs.options.chunk_size = 1 + random() % 2000;
    inputs.limits.window = 128 << random() % 4;
    inputs.limits.memory = random() % 2 == 0 ? 1'000'000 : 0;
    const int threads = 1 + static_cast<int>(random() % 3);
    const bool on_devices = random() % 4 == 0;
    const Caller caller = on_devices ? inputs.on({threads}) : inputs.on_cpu(true, threads);
    EXPECT_TRUE(inputs.run(caller, kept) == expected) << seed;
    const bool read_again = inputs.log.find("again") != inputs.log.npos;
    (read_again ? again : once) += 1;
    const bool has_room = inputs.limits.memory == 1'000'000;
    EXPECT_FALSE(read_again && has_room && order != Order::kAny) << inputs.log;
  }
  EXPECT_GT(again, 20);
  EXPECT_GT(once, 20);
}

TEST(ProjectAndCall, TellsWhyItReadsAgain) {
  const std::vector<Chromosome> chromosomes = {{"one", 3000}, {"two", 2000}};
  Inputs inputs(chromosomes, Order::kSorted, 92);
  inputs.limits.window = 128;
  inputs.options.chunk_size = 100;
  inputs.run(inputs.on_cpu(), false);
  EXPECT_EQ(inputs.log.find("again"), std::string::npos);
  const auto block = [](const std::string& name, int start) {
    return "0 " + name + " " + std::to_string(start) + " " + std::to_string(start + 9) +
           " q 1 2 +\nacgtacgtac\nACGTACGTAC\n\n";
  };
  // The last block is late: all others have passed it too.
  const std::string sorted = block("one", 10) + block("one", 2000) + block("two", 1500);
  for (auto& outgroup : inputs.outgroups) outgroup.file = inputs.dir.write("sorted.axt", sorted);
  inputs.outgroups[2].file = inputs.dir.write("late.axt", sorted + block("one", 300));
  inputs.run(inputs.on_cpu(), false);
  EXPECT_NE(inputs.log.find("Sort these alignments by chromosome and position, and they are read "
                            "only once: 'c'\nReading all alignments again for a part of 'one'\n"),
            std::string::npos)
      << inputs.log;
  // In another order, all of a chromosome waits.
  inputs.outgroups[2].file =
      inputs.dir.write("other.axt", block("two", 1500) + block("one", 10) + block("one", 2000));
  inputs.run(inputs.on_cpu(), false);
  EXPECT_EQ(inputs.log.find("again"), std::string::npos);
  inputs.limits.memory = 200;
  inputs.run(inputs.on_cpu(), false);
  EXPECT_NE(inputs.log.find("`memory` (1024 bytes) does not hold all"), std::string::npos);
  EXPECT_NE(inputs.log.find("Reading all alignments again for 4 parts of 'one'"), std::string::npos)
      << inputs.log;
}

// Each outgroup lacks some of the short chromosomes between the long ones.
TEST(ProjectAndCall, ReadsSortedFilesOnceIfTheyLackShortChromosomes) {
  std::vector<Chromosome> chromosomes;
  for (int c = 0; c < 20; ++c) {
    chromosomes.push_back({"chr" + std::to_string(c), c % 5 == 0 ? 20'000 : 300});
  }
  std::mt19937 random(94);
  for (unsigned seed = 0; seed < 5; ++seed) {
    Inputs inputs(chromosomes, Order::kSorted, seed);
    for (std::size_t i = 0; i < inputs.outgroups.size(); ++i) {
      std::vector<Chromosome> some;
      for (const auto& chromosome : chromosomes) {
        if (chromosome.length > 300 || random() % 2 == 0) some.push_back(chromosome);
      }
      inputs.outgroups[i].file = inputs.dir.write(std::to_string(i) + ".axt",
                                                  random_axt(some, Order::kSorted, inputs.random));
    }
    const auto expected = inputs.one_after_the_other(inputs.on_cpu(), false);
    inputs.limits.window = 1024;
    inputs.limits.memory = 24'000;  // less than a long chromosome of three outgroups
    inputs.options.chunk_size = 200;
    EXPECT_TRUE(inputs.run(inputs.on_cpu(), false) == expected) << seed;
    EXPECT_EQ(inputs.log.find("again"), std::string::npos) << inputs.log;
  }
}

// A species that lacks rows before the end of a window gets N there, which is not late.
TEST(ProjectAndCall, ReadsSpeciesThatLackRowsOnce) {
  Inputs inputs({{"one", 4000}, {"two", 300}}, Order::kSorted, 96);
  std::mt19937 random(97);
  const auto row = [](const std::string& source, int start, std::int64_t length) {
    return "s " + source + " " + std::to_string(start) + " 10 + " + std::to_string(length) +
           " ACGTACGTAC\n";
  };
  for (std::size_t i = 0; i < inputs.outgroups.size(); ++i) {
    inputs.outgroups[i].name_in_file = "s" + std::to_string(i);
  }
  std::string maf = "##maf version=1\n";
  for (const auto& [name, length] : inputs.chromosomes) {
    for (int start = 0; start + 10 <= length; start += 10 + static_cast<int>(random() % 20)) {
      maf += "a score=1\n" + row("hg." + name, start, length);
      for (const auto& outgroup : inputs.outgroups) {
        if (random() % 8 == 0) maf += row(outgroup.name_in_file + ".chr", start, 9000);
      }
      maf += "\n";
    }
  }
  const std::string path = inputs.dir.write("all.maf", maf);
  for (auto& outgroup : inputs.outgroups) outgroup.file = path;
  inputs.options.focal_name = "hg";
  for (const auto& chromosome : inputs.chromosomes) {
    inputs.options.focal_chromosomes.push_back(chromosome.name);
  }
  const auto expected = inputs.one_after_the_other(inputs.on_cpu(), true);
  inputs.limits.window = 128;
  inputs.options.chunk_size = 100;
  EXPECT_TRUE(inputs.run(inputs.on_cpu(), true) == expected);
  EXPECT_EQ(inputs.log.find("again"), std::string::npos) << inputs.log;
}

TEST(ProjectAndCall, LeavesAFileThatHasComeMeanwhile) {
  Inputs inputs({{"one", 3000}, {"two", 2000}}, Order::kSorted, 95);
  const std::string path = inputs.dir.file("out/two.fa");
  JobControl control;
  const RunListener listener = {[&](std::size_t, const ProjectionReport&, const auto&) {
                                  inputs.dir.write("out/two.fa", "mine");
                                },
                                {}};
  EXPECT_NE(message_of<FileError>([&] {
              project_and_call(inputs.outgroups, inputs.chromosomes, {}, inputs.on_cpu(false),
                               inputs.dir.file("out"), control, listener);
            }).find("has come since the run began"),
            std::string::npos);
  EXPECT_EQ(test::read_file(path), "mine");
}

TEST(ProjectAndCall, GivesCallsTheirNamesWhenNoBlockCanChangeThem) {
  Inputs inputs({{"one", 3000}, {"two", 2000}}, Order::kSorted, 93);
  inputs.limits.window = 128;
  inputs.options.chunk_size = 100;
  inputs.dir.write("c.axt", test::read_file(inputs.outgroups[2].file) + "\n?\n");
  EXPECT_THROW(inputs.run(inputs.on_cpu(), false), FormatError);
  EXPECT_TRUE(inputs.files().empty());
}

TEST(ProjectAndCall, EachBaseGoesToADeviceOnce) {
  Inputs inputs(kSome, Order::kSorted, 83);
  const Caller caller = inputs.on({3});
  inputs.run(caller, false);
  std::size_t uploaded = 0;
  for (const auto* fake : inputs.fakes) uploaded += fake->fake.uploaded - 2 * 625;  // the table
  std::size_t packed = 0;
  for (const auto& [name, length] : kSome) packed += packed_size(static_cast<std::size_t>(length));
  EXPECT_EQ(uploaded, packed * static_cast<std::size_t>(inputs.species()));
}

// The chromosome takes several buffers, and pieces overlap others that are still being copied.
TEST(ProjectAndCall, KeepsTheOrderOfBlocksThatOverlap) {
  Inputs inputs({{"long", 2'500'000}, {"next", 300'000}}, Order::kAny, 84);
  const auto expected = inputs.one_after_the_other(inputs.on_cpu(false), false);
  for (const unsigned mode : {0U, 1U, 2U}) {
    const Caller caller = inputs.on({2, 0, 3}, false);
    std::atomic<unsigned> turn{0};
    for (auto* fake : inputs.fakes) {
      fake->fake.eager = [&] { return mode == 2 || (mode == 1 && ++turn % 3 == 0); };
    }
    EXPECT_TRUE(inputs.run(caller, false) == expected) << mode;
  }
}

TEST(ProjectAndCall, AFailureAnywhereLeavesNoCallsAndNothingGoingOn) {
  Inputs inputs({{"one", 3000}, {"two", 9000}}, Order::kAny, 85);
  for (const bool kept : {false, true}) {
    for (const int threads : {1, 3}) {
      int calls = 1;
      for (int failing = 0; failing <= calls; failing += threads) {
        const Caller caller = inputs.on({2, 0, threads});
        auto& card = inputs.fakes[1]->fake;
        card.failing_call = failing;
        if (failing == 0) {
          inputs.run(caller, kept);
          calls = card.calls;
          continue;
        }
        EXPECT_NE(message_of<DeviceError>([&] { inputs.run(caller, kept); }).find("fake:1 failed"),
                  std::string::npos);
        for (const auto* fake : inputs.fakes) EXPECT_EQ(fake->fake.taken(), 0U);
        // Only whole projected files remain.
        for (const auto& [name, text] : inputs.files()) {
          EXPECT_TRUE(kept && name.rfind("/projected/", 0) == 0 && text.front() == '>') << name;
          EXPECT_EQ(name.substr(name.size() - 3), ".fa");
        }
      }
    }
  }
}

TEST(ProjectAndCall, MemoryThatIsNotThereAfterAllIsDoneWithoutOrAnErrorBeforeAnyFileIsRead) {
  Inputs inputs(kSome, Order::kAny, 86);
  const auto expected = inputs.run(inputs.on_cpu(), false);
  auto missing = inputs.outgroups;
  for (auto& outgroup : missing) outgroup.file = inputs.dir.file("missing.axt");
  int allocations = 1;
  int errors = 0;
  for (int failing = 0; failing <= allocations; ++failing) {
    const Caller caller = inputs.on({2});
    auto& card = inputs.fakes[1]->fake;
    card.failing_allocation = failing;
    try {
      EXPECT_TRUE(inputs.run(caller, false) == expected) << failing;
    } catch (const DeviceError& error) {
      ++errors;
      card.allocations = 0;
      JobControl control;
      EXPECT_THROW(project_and_call(missing, kSome, {}, caller, inputs.dir.file("o"), control),
                   DeviceError);
    }
    if (failing == 0) allocations = card.allocations;
    for (const auto* fake : inputs.fakes) EXPECT_EQ(fake->fake.taken(), 0U);
  }
  EXPECT_EQ(errors, 1);  // the table

  // Too little memory for a tile.
  JobControl control;
  EXPECT_NE(
      message_of<DeviceError>([&] {
        project_and_call(missing, kSome, {}, inputs.on({1, 1500}), inputs.dir.file("o"), control);
      }).find("too little memory"),
      std::string::npos);
}

TEST(ProjectAndCall, AnErrorInAFileLeavesNothing) {
  Inputs inputs({{"long", 2'500'000}}, Order::kSorted, 87);
  const std::string text = test::read_file(inputs.outgroups[2].file);
  inputs.dir.write("c.axt", text.substr(0, text.size() * 3 / 4) + "\n?\n");
  for (const bool kept : {false, true}) {
    for (const int threads : {1, 3}) {
      const Caller caller = inputs.on({2, 0, threads});
      EXPECT_NE(message_of<FormatError>([&] { inputs.run(caller, kept); }).find("c.axt"),
                std::string::npos);
      for (const auto* fake : inputs.fakes) EXPECT_EQ(fake->fake.taken(), 0U);
      for (const auto& [name, content] : inputs.files()) {
        EXPECT_TRUE(kept &&
                    (name.find("/projected/a/") == 0 || name.find("b/long.fa") != name.npos))
            << name;
      }
    }
  }
}

TEST(ProjectAndCall, IsInterrupted) {
  Inputs inputs(kSome, Order::kAny, 88);
  inputs.stopped = true;
  EXPECT_THROW(inputs.run(inputs.on({3, 0, 3}), true), Interrupted);
  EXPECT_TRUE(inputs.files().empty());
}

TEST(ProjectAndCall, MethodsWithoutCodeForDevicesCallOnTheCpu) {
  Inputs inputs(kSome, Order::kAny, 89);
  while (inputs.species() < 9) inputs.outgroups.push_back(inputs.outgroups.front());
  const auto options = test::random_options("parsimony", 9, inputs.random);
  inputs.method = [&] { return make_method(options); };
  const auto expected = inputs.run(inputs.on_cpu(false), false);
  EXPECT_TRUE(inputs.run(inputs.on({2}, false), false) == expected);
}

// Neighbouring positions may come from another tile, or from beyond the border of a device's share.
TEST(ProjectAndCall, ModelsSeeTheSameAroundAPositionWhereverItIs) {
  Inputs inputs(kSome, Order::kAny, 90);
  const auto trees = test::random_forest(3, 15, 4 + 9, inputs.random);
  inputs.model = [&] { return std::make_unique<MlCaller>(trees, 3, 1, Thresholds{0.7, 0.4}); };
  const auto expected = inputs.run(inputs.on_cpu(), false);
  for (const std::size_t memory : {std::size_t{30000}, std::size_t{300000}, std::size_t{1} << 25}) {
    EXPECT_TRUE(inputs.run(inputs.on({1, memory}), false) == expected) << memory;
    EXPECT_TRUE(inputs.run(inputs.on({3, memory}), false) == expected) << memory;
  }

  std::string bases(20000, 'A');
  for (char& base : bases) base = "ACGTacgtN-"[inputs.random() % 10];
  const auto called = [&](const Caller& caller) {
    SequenceSources sources;
    for (int s = 0; s < 4; ++s) {
      sources.push_back(memory_source(bases.data() + s * 1000, SequenceForm::kCharacters));
    }
    std::string calls(17000, '?');
    JobControl control;
    call_sequences(caller, sources, calls.size(), &calls[0], nullptr, control);
    return calls;
  };
  const std::string on_cpu = called(inputs.on_cpu(false));
  EXPECT_EQ(called(inputs.on({3}, false)), on_cpu);
  EXPECT_EQ(called(inputs.on({3, 30000}, false)), on_cpu);
}

}  // namespace
}  // namespace ancify
