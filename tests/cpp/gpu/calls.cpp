// Calls on a GPU: the CPU's bytes, and the speed of the kernels beside a copy on the same card.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ancestry/random_models.h"
#include "ancestry/trees.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/device_trees.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/phylogeny/likelihood.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "core/genome/packed.h"
#include "core/genome/stretch.h"
#include "driver.h"

namespace ancify::test {
namespace {

constexpr SequenceForm kForms[] = {SequenceForm::kCharacters, SequenceForm::kPacked};

// Repeats the same `period` positions, so that any length needs little memory.
class PeriodicSource : public SequenceSource {
 public:
  PeriodicSource(const std::string& bases, SequenceForm form, std::size_t period)
      : bases_(bases), form_(form), period_(period) {}
  SequenceForm form() const override { return form_; }
  const char* bases(std::int64_t start, std::size_t n, char* buffer) const override {
    const std::size_t shrunk = form_ == SequenceForm::kPacked ? 2 : 1;
    const std::size_t bytes = form_ == SequenceForm::kPacked ? packed_size(n) : n;
    const std::size_t all = period_ / shrunk;
    std::size_t at = static_cast<std::size_t>(start) / shrunk % all;
    for (std::size_t done = 0; done < bytes; at = 0) {
      const std::size_t here = std::min(all - at, bytes - done);
      std::memcpy(buffer + done, &bases_[at], here);
      done += here;
    }
    return buffer;
  }

 private:
  const std::string& bases_;
  SequenceForm form_;
  std::size_t period_;
};

// Any characters, of species that mostly agree, as in a genome, or are independent.
class Genome {
 public:
  Genome(int species, std::size_t period, bool similar, std::mt19937& random) : period_(period) {
    std::string usual(period, 'A');
    for (char& c : usual) c = "ACGTacgtN"[random() % 9];
    for (int s = 0; s < species; ++s) {
      characters_.push_back(usual);
      for (char& c : characters_.back()) {
        if (!similar || random() % 8 == 0) c = static_cast<char>(random());
      }
      packed_.emplace_back(packed_size(period), '\xff');
      pack_bases(characters_.back().data(), period, 0, &packed_.back()[0], SimdLevel::kScalar);
    }
  }
  SequenceSources sources(SequenceForm form) const {
    SequenceSources sources;
    for (const auto& bases : form == SequenceForm::kPacked ? packed_ : characters_) {
      sources.push_back(std::make_unique<PeriodicSource>(bases, form, period_));
    }
    return sources;
  }
  int state(std::size_t species, std::int64_t position) const {
    return base_code(characters_[species][static_cast<std::size_t>(position) % period_]);
  }

 private:
  std::size_t period_;  // a multiple of kPackedGroup
  std::vector<std::string> characters_;
  std::vector<std::string> packed_;
};

// Gives each pattern a call and an error of its own, so that mixed-up patterns are found.
class AnyTable : public Method {
 public:
  explicit AnyTable(int species) : species_(species) {}
  int species() const override { return species_; }
  SiteCall call(const int* states) const override {
    unsigned hash = 1;
    for (int s = 0; s < species_; ++s)
      hash = (hash ^ static_cast<unsigned>(states[s])) * 2654435761U;
    const double p = 0.25 + 0.7 * (hash >> 8 & 0xffff) / 0x10000;
    return {"ACGTacgtnN" [(hash >> 24) % 10], Posterior { p, 1 - p, 0, 0 }};
  }

 private:
  int species_;
};

// A method and, if it is tabulated, its tables without and with errors.
class TestedMethod {
 public:
  TestedMethod(std::string name, std::unique_ptr<Method> method)
      : name_(std::move(name)), method_(std::move(method)) {
    if (method_->species() > kMostTabulated) return;
    for (const bool with_phred : {false, true}) tables_[with_phred].emplace(*method_, with_phred);
  }
  const std::string& name() const { return name_; }
  const Method& method() const { return *method_; }
  const CallTable* table(bool with_phred) const {
    return tables_[with_phred] ? &*tables_[with_phred] : nullptr;
  }
  // On a device: a call and an error for each pattern
  std::size_t table_bytes() const {
    return tables_[0] ? 2 * tables_[0]->calls().bytes().size() : 0;
  }

 private:
  std::string name_;
  std::unique_ptr<Method> method_;
  std::optional<CallTable> tables_[2];
};

class CallChecks {
 public:
  CallChecks(Checks& checks, CallKernels& kernels) : checks_(checks), kernels_(kernels) {}

  // Calls n positions on the device, and compares each with a table of all patterns, or with the
  // method itself.
  void call(const TestedMethod& tested, const Voting& voting, bool with_phred, const Genome& genome,
            std::int64_t n, std::size_t memory_limit) {
    const Method& method = tested.method();
    const CallTable* const table = tested.table(with_phred);
    for (const auto form : kForms) {
      std::int64_t next = 0;
      std::int64_t wrong = 0;
      std::vector<int> states(static_cast<std::size_t>(method.species()));
      const auto look = [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
        if (stretch.start != next || (phred != nullptr) != with_phred) ++wrong;
        next = stretch.end;
        for (std::int64_t i = stretch.start; i < stretch.end; ++i) {
          for (std::size_t s = 0; s < states.size(); ++s) states[s] = genome.state(s, i);
          const auto at = static_cast<std::size_t>(i - stretch.start);
          char expected = 0;
          std::uint8_t error = 0;
          if (table != nullptr) {
            std::size_t pattern = 0;
            for (std::size_t s = states.size(); s-- > 0;) pattern = pattern * kStates + states[s];
            expected = table->calls().bytes()[pattern];
            if (with_phred) error = static_cast<std::uint8_t>(table->phred()->bytes()[pattern]);
          } else {
            const SiteCall site = method.call(states.data());
            expected = site.call;
            error = error_phred(site);
          }
          if (calls[at] != expected || (with_phred && phred[at] != error)) ++wrong;
        }
      };
      const auto on_device = table != nullptr ? by_table(*table, method.species(), with_phred)
                                              : by_vote(voting, with_phred);
      DeviceCaller caller(kernels_, on_device, n, memory_limit);
      caller.call(genome.sources(form), n, TaskContext(), look);
      checks_.expect(wrong == 0 && next == n,
                     tested.name() + ", " + std::to_string(method.species()) + " species, " +
                         std::to_string(n) + " positions, " +
                         (form == SequenceForm::kPacked ? "packed: " : "characters: ") +
                         std::to_string(wrong) + " positions differ, " + std::to_string(next) +
                         " called");
    }
  }

  // Calls n positions by a model on the device. The CPU calls the positions at the ends of each
  // tile, or all positions of a short tile.
  void call_by_model(const MlCaller& ml, bool with_phred, const Genome& genome, std::int64_t n,
                     std::size_t memory_limit) {
    constexpr std::int64_t most = 1 << 12;
    const SequenceSources characters = genome.sources(SequenceForm::kCharacters);
    StretchReader reader(characters, n, kFeatureReach);
    for (const auto form : kForms) {
      std::int64_t next = 0;
      std::int64_t wrong = 0;
      std::string expected(most, '?');
      std::vector<std::uint8_t> errors(most);
      const auto look = [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
        if (stretch.start != next || (phred != nullptr) != with_phred) ++wrong;
        next = stretch.end;
        const std::int64_t last = std::max(stretch.start, (stretch.end - most + 127) / 128 * 128);
        for (const std::int64_t start : {stretch.start, last}) {
          const Stretch part = reader.read(start, std::min(start + most, stretch.end));
          ml.call(part, best_simd_level(), &expected[0], errors.data());
          const auto at = static_cast<std::size_t>(start - stretch.start);
          if (std::memcmp(calls + at, expected.data(), part.size()) != 0) ++wrong;
          if (with_phred && std::memcmp(phred + at, errors.data(), part.size()) != 0) ++wrong;
        }
      };
      DeviceCaller caller(kernels_, *ml.on_devices(with_phred), n, memory_limit);
      caller.call(genome.sources(form), n, TaskContext(), look);
      checks_.expect(wrong == 0 && next == n, "a model of " +
                                                  std::to_string(ml.trees().forest().trees.size()) +
                                                  " trees, " + std::to_string(ml.species()) +
                                                  " species, " + std::to_string(n) + " positions");
    }
  }

 private:
  Checks& checks_;
  CallKernels& kernels_;
};

// On the host two blocks take several turns at them.
std::int64_t many_positions(Extent extent) { return extent == Extent::kSmall ? 5003 : 1000003; }

// Limits of memory beside tables or trees: with little memory, tiles have few positions. Kernels on
// the host call many positions once: some in many tiles, more in one.
std::vector<std::size_t> limits(Extent extent, std::int64_t n, std::size_t tables) {
  const std::size_t little = tables + (extent == Extent::kSmall ? 1 << 14 : 1 << 20);
  if (extent != Extent::kSmall || n < 4097) return {little, 0};
  return {n == 4097 ? little : 0};
}

void check_methods(CallChecks& checks, Extent extent, std::mt19937& random) {
  const std::vector<std::int64_t> lengths = {0,   1,   15,  16,   17,
                                             127, 128, 129, 4097, many_positions(extent)};
  for (int species = 1; species <= 20; ++species) {
    const Voting voting{species - species / 2, species / 2, 1, 2};
    std::deque<TestedMethod> methods;
    if (species >= 2) methods.emplace_back("voting", std::make_unique<VotingMethod>(voting));
    if (species <= kMostTabulated) {
      const Tree tree(random_nodes(species, true, random), species);
      methods.emplace_back("any table", std::make_unique<AnyTable>(species));
      methods.emplace_back("parsimony", std::make_unique<Parsimony>(tree));
      if (species <= 5) {
        methods.emplace_back("likelihood",
                             std::make_unique<Likelihood>(
                                 tree, SubstitutionModel(random_rates(random)), Thresholds()));
      }
    }
    if (species == 3) {
      const ancify::History history{
          20000, 2, {{2e5, 1, 0, 5e4}, {4e5, 2, 0, 6e4}, {1e6, 3, 0, 8e4}}};
      methods.emplace_back("coalescent", std::make_unique<CoalescentMethod>(
                                             history, mutation_model(random_rates(random), 1.25e-8),
                                             Thresholds(), JobControl()));
    }
    for (const bool similar : {true, false}) {
      if (extent == Extent::kSmall && similar == (species % 2 == 0)) continue;
      const Genome genome(species, 128 * 997, similar, random);
      for (const auto& method : methods) {
        for (const std::int64_t n : lengths) {
          for (const std::size_t limit : limits(extent, n, method.table_bytes())) {
            for (const bool with_phred : {false, true}) {
              checks.call(method, voting, with_phred, genome, n, limit);
            }
          }
        }
      }
    }
  }
}

std::unique_ptr<MlCaller> random_model(int species, int rounds, std::size_t leaves,
                                       std::mt19937& random) {
  return std::make_unique<MlCaller>(random_forest(rounds, leaves, species + 9, random),
                                    species - species / 2, species / 2, Thresholds());
}

// Checks trees that fit the shared memory of a block, and larger ones.
void check_models(CallChecks& checks, Extent extent, std::mt19937& random) {
  const std::vector<std::int64_t> lengths = {0,   1,   49,  50,  51,   100,
                                             101, 127, 128, 129, 4097, many_positions(extent)};
  for (int species = 2; species <= 20; species += extent == Extent::kSmall ? 3 : 1) {
    const Genome genome(species, 128 * 997, species % 2 == 0, random);
    for (const std::size_t leaves : {1, 2, 31, 63, 2000}) {
      if (leaves > 31 && extent != Extent::kAll) continue;
      // Large trees take the CPU long, so there are fewer.
      const auto ml = random_model(species,
                                   leaves == 2     ? 5
                                   : leaves < 2000 ? 50
                                                   : 2,
                                   leaves, random);
      const std::size_t trees = DeviceTrees(*ml).bytes().size();
      for (const std::int64_t n : lengths) {
        for (const std::size_t limit : limits(extent, n, trees)) {
          for (const bool with_phred : {false, true}) {
            checks.call_by_model(*ml, with_phred, genome, n, limit);
          }
        }
      }
    }
  }
}

void check_long(CallChecks& checks, std::mt19937& random) {
  const Genome genome(2, 128 * 997, true, random);
  const Voting voting{1, 1, 1, 1};
  checks.call({"2^31 + 5 positions", std::make_unique<VotingMethod>(voting)}, voting, false, genome,
              (std::int64_t{1} << 31) + 5, 0);
  checks.call_by_model(*random_model(2, 3, 15, random), false, genome, (std::int64_t{1} << 31) + 5,
                       0);
}

void check_errors(Checks& checks, CallKernels& kernels) {
  std::string message;
  try {
    const CallTable table(AnyTable(3), true);
    DeviceCaller(kernels, by_table(table, 3, true), 1000, 1);
  } catch (const DeviceError& error) {
    message = error.what();
  }
  checks.expect(message.find("too little memory") != std::string::npos, "no error of memory");
  checks.expect(kernels.device().allocate(std::size_t{1} << 50, MemoryKind::kDevice) == nullptr,
                "2^50 bytes were had");
}

DeviceCallers callers_on(const CallDevices& devices, const CallTable& table, std::int64_t longest,
                         std::size_t memory_limit) {
  DeviceCallers callers;
  for (const auto& device : devices) {
    callers.push_back(
        std::make_unique<DeviceCaller>(*device, by_table(table, 4, true), longest, memory_limit));
  }
  return callers;
}

void check_three(Checks& checks, const Backend& backend, Extent extent, std::mt19937& random) {
  const std::int64_t n = many_positions(extent);
  const CallDevices devices = watched(open_call_devices(three_devices(backend)));
  const CallTable table(AnyTable(4), true);
  const Genome genome(4, 128 * 997, true, random);
  std::vector<std::string> called(12);
  JobControl control;
  const DeviceCallers callers = callers_on(devices, table, n, 1 << 22);
  run_in_lanes(control, 3, 3, 12, [&](std::int64_t i, const TaskContext& context) {
    auto& out = called[static_cast<std::size_t>(i)];
    callers[static_cast<std::size_t>(i % 3)]->call(
        genome.sources(SequenceForm::kCharacters), n, context,
        [&](const Stretch& stretch, const char* calls, const std::uint8_t*) {
          out.append(calls, stretch.size());
        });
  });
  for (const auto& calls : called) {
    checks.expect(calls.size() == static_cast<std::size_t>(n) && calls == called[0],
                  "three devices differ");
  }
}

// ---- Speed --------------------------------------------------------------------------------------

constexpr std::size_t kPositions = 248000000 / kPackedGroup * kPackedGroup;  // human chromosome 1

class Timing {
 public:
  Timing(CallKernels& kernels, std::size_t bytes)
      : kernels_(kernels), pool_(kernels.device()), in_(pool_, bytes), out_(pool_, bytes) {
    if (in_.refused() || out_.refused()) {
      throw_too_little_memory(pool_, 2 * bytes, memory_budget(pool_, 0));
    }
    // Species agree as in a genome, so that the same entries of a table are looked up often.
    std::vector<char> bases(bytes);
    unsigned state = 1;
    for (std::size_t i = 0; i < bytes; ++i) {
      if (i % kPositions == 0) state = 1;
      state = state * 1664525 + 1013904223;
      const bool own = (state >> 20 ^ i / kPositions * 37) % 16 == 0;
      bases[i] = "ACGT"[(state >> 28 ^ (own ? i / kPositions : 0)) & 3];
    }
    kernels.device().upload(in_.data(), bases.data(), bytes, 0);
    kernels.device().wait(0);
  }

  void by_table(const char* what, int species, bool packed, bool with_phred) {
    std::size_t patterns = 1;
    for (int s = 0; s < species; ++s) patterns *= kStates;
    std::vector<std::uint16_t> entries(patterns);
    for (std::size_t i = 0; i < patterns; ++i) entries[i] = static_cast<std::uint16_t>(i * 40503);
    Device& device = kernels_.device();
    const DeviceArray<std::uint16_t> table(pool_, patterns);
    device.upload(table.data(), entries.data(), patterns, 0);
    const CallTile tile = make_tile(species, packed, with_phred);
    print(what, tile, [&] { kernels_.begin(CallByTable{tile, table.data(), patterns}, 0); });
  }

  void by_vote(const char* what, int species) {
    const CallTile tile = make_tile(species, false, false);
    const Voting voting{species - species / 2, species / 2, 1, 1};
    print(what, tile, [&] { kernels_.begin(CallByVote{tile, voting}, 0); });
  }

  void by_trees(const char* what, int species, int rounds, std::size_t leaves) {
    std::mt19937 random(1);
    const MlCaller ml(random_forest(rounds, leaves, species + 9, random), species - species / 2,
                      species / 2, Thresholds());
    const DeviceTrees trees(ml);
    Device& device = kernels_.device();
    const DeviceArray<char> memory(pool_, trees.bytes().size());
    device.upload(memory.data(), trees.bytes().data(), trees.bytes().size(), 0);
    const CallTile tile = make_tile(species, false, true);
    const TileAround around = {tile, 0, 0, kPositions};
    print(what, tile, [&] { kernels_.begin(CallByTrees{around, trees.at(memory.data())}, 0); });
  }

 private:
  CallTile make_tile(int species, bool packed, bool with_phred) const {
    return {in_.data(),
            packed ? kPositions / 2 : kPositions,
            species,
            packed,
            kPositions,
            out_.data(),
            with_phred ? reinterpret_cast<std::uint8_t*>(out_.data()) + kPositions : nullptr};
  }

  void print(const char* what, const CallTile& tile, const std::function<void()>& begin) {
    Device& device = kernels_.device();
    const std::size_t moved = tile.pitch * static_cast<std::size_t>(tile.species) +
                              kPositions * (tile.phred != nullptr ? 2 : 1);
    const double took = seconds(device, begin);
    // A copy of half the bytes reads one half of `moved` and writes the other.
    const double copied =
        seconds(device, [&] { device.copy(out_.data(), in_.data(), moved / 2, 0); });
    std::printf("%-40s %8.3f ms %8.1f GB/s   a copy %8.3f ms %8.1f GB/s   of its speed %.2f\n",
                what, 1e3 * took, 1e-9 * static_cast<double>(moved) / took, 1e3 * copied,
                1e-9 * static_cast<double>(moved) / copied, copied / took);
  }

  CallKernels& kernels_;
  MemoryPool pool_;
  DeviceArray<char> in_;
  DeviceArray<char> out_;
};

// A sequence of one character, in ordinary memory.
class SameSource : public SequenceSource {
 public:
  explicit SameSource(const std::vector<char>& bases) : bases_(bases) {}
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t start, std::size_t, char*) const override {
    return &bases_[start];
  }

 private:
  const std::vector<char>& bases_;
};

void time_from_host(CallKernels& kernels) {
  constexpr int species = 4;
  const VotingMethod method(Voting{2, 2, 1, 1});
  const CallTable table(method, false);
  const std::vector<char> bases(kPositions, 'A');
  SequenceSources sources;
  for (int s = 0; s < species; ++s) sources.push_back(std::make_unique<SameSource>(bases));
  DeviceCaller caller(kernels, by_table(table, species, false), kPositions, 0);
  const double took = seconds(kernels.device(), [&] {
    caller.call(sources, kPositions, TaskContext(),
                [](const Stretch&, const char*, const std::uint8_t*) {});
  });
  std::printf("%-40s %8.3f ms %8.1f GB/s\n", "4 species from the host's memory and back",
              1e3 * took, 1e-9 * kPositions * (species + 1) / took);
}

}  // namespace

void check_calls(Checks& checks, const Backend& backend, Extent extent) {
  const CallDevices devices = watched(open_call_devices(backend));
  CallKernels& kernels = *devices.front();
  CallChecks calls(checks, kernels);
  std::mt19937 random(1);
  check_errors(checks, kernels);
  check_methods(calls, extent, random);
  check_models(calls, extent, random);
  check_three(checks, backend, extent, random);
  if (extent == Extent::kAll) check_long(calls, random);
  checks.expect_all_begun<CallOperation>();
}

void time_calls(const Backend& backend) {
  const CallDevices devices = open_call_devices(backend);
  CallKernels& kernels = *devices.front();
  std::printf("calls of %zu positions\n", kPositions);
  {
    Timing timing(kernels, 12 * kPositions);
    timing.by_table("table, 4 species", 4, false, false);
    timing.by_table("table, 4 species, with errors", 4, false, true);
    timing.by_table("table, 4 species, packed", 4, true, false);
    timing.by_table("table, 2 species", 2, false, false);
    timing.by_table("table, 6 species", 6, false, false);
    timing.by_table("table, 8 species, through L2", 8, false, false);
    timing.by_vote("voting, 12 species", 12);
    timing.by_trees("20 trees of 7 leaves, 4 species", 4, 5, 7);
    timing.by_trees("800 trees of 63 leaves, 4 species", 4, 200, 63);
  }
  time_from_host(kernels);
}

}  // namespace ancify::test
