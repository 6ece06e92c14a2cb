// Checks calling by votes against plain counts.
#include "core/ancestry/calling/calling.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <random>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_store.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

// The oracle: votes counted by letter. The most frequent bases; N if there are none.
std::string consensus_slowly(const std::string& bases, int fewest) {
  std::array<int, 256> votes = {};
  for (const char c : bases) ++votes[static_cast<unsigned char>(std::toupper(c))];
  std::string best = "N";
  int most = fewest - 1;
  for (const char base : {'A', 'C', 'G', 'T'}) {
    const int n = votes[static_cast<unsigned char>(base)];
    if (n > most) best.clear();
    if (n >= most && n >= fewest) best += base;
    most = std::max(most, n);
  }
  return best;
}

char call_slowly(char near, char far) {
  if (near == far) return near;
  if (far == 'N') return static_cast<char>(std::tolower(near));
  if (near == 'N') return static_cast<char>(std::tolower(far));
  return 'n';
}

char call_slowly(const std::string& inner, const std::string& outer, const Voting& voting) {
  const std::string near = consensus_slowly(inner, voting.min_inner);
  const std::string far = consensus_slowly(outer, voting.min_outer);
  const char first = call_slowly(near.front(), far.front());
  if (voting.ties == Ties::kAlphabet) return first;
  for (const char a : near) {
    for (const char b : far) {
      if (call_slowly(a, b) != first) return 'n';
    }
  }
  return first;
}

struct Sequences {
  std::vector<std::string> species;
  std::vector<const char*> pointers;
};

Sequences random_sequences(int species, std::size_t n, std::mt19937& random) {
  Sequences sequences;
  const std::string characters = "AAACCGTacgtN-nR.*\x01\xff";
  for (int s = 0; s < species; ++s) {
    std::string bases(n, '\0');
    for (char& c : bases) c = characters[random() % characters.size()];
    sequences.species.push_back(bases);
  }
  for (const auto& bases : sequences.species) sequences.pointers.push_back(bases.data());
  return sequences;
}

std::string call_all_slowly(const Sequences& sequences, const Voting& voting) {
  std::string calls;
  for (std::size_t i = 0; i < sequences.species.front().size(); ++i) {
    std::string inner;
    std::string outer;
    for (int s = 0; s < voting.species(); ++s) {
      (s < voting.n_inner ? inner : outer) += sequences.species[static_cast<std::size_t>(s)][i];
    }
    calls += call_slowly(inner, outer, voting);
  }
  return calls;
}

Backend cpu(int threads, SimdLevel simd = best_simd_level()) {
  Backend backend;
  backend.threads = threads;
  backend.simd = simd;
  return backend;
}

Caller voting_caller(const Voting& voting, const Backend& backend) {
  return Caller(std::make_unique<VotingMethod>(voting), backend);
}

std::string call_with(const Caller& caller, const Sequences& sequences) {
  SequenceSources sources;
  for (const char* bases : sequences.pointers) {
    sources.push_back(memory_source(bases, SequenceForm::kCharacters));
  }
  JobControl control;
  std::string calls(sequences.species.front().size(), '?');
  call_sequences(caller, sources, calls.size(), &calls[0], nullptr, control);
  EXPECT_EQ(control.done(), control.expected());
  return calls;
}

std::string call_packed(const Caller& caller, const Sequences& sequences, SimdLevel level) {
  std::vector<std::string> packed;
  SequenceSources sources;
  const std::size_t n = sequences.species.front().size();
  for (const auto& bases : sequences.species) {
    packed.emplace_back(packed_size(n), '\xff');
    pack_bases(bases.data(), n, 0, &packed.back()[0], level);
  }
  for (const auto& bases : packed) {
    sources.push_back(memory_source(bases.data(), SequenceForm::kPacked));
  }
  JobControl control;
  std::string calls(n, '?');
  call_sequences(caller, sources, n, &calls[0], nullptr, control);
  return calls;
}

ChromosomeSequences from_files(const std::string& name, std::int64_t length,
                               const std::vector<std::string>& paths) {
  return {name, length, [=] {
            SequenceSources sources;
            for (const auto& path : paths) sources.push_back(file_source(path, name, length));
            return sources;
          }};
}

// Up to eight species are called by table, more by counting. Tests both sides of the limit. A
// caller serves all lengths, because its table takes longer than the calls.
TEST(Calling, IsThatOfTheOracle) {
  std::mt19937 random(11);
  for (const auto& [n_inner, n_outer] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 3}, {3, 3}, {4, 4}, {5, 4}, {12, 8}}) {
    for (int fewest = 1; fewest <= 3; ++fewest) {
      const Voting voting{n_inner, n_outer, fewest, 4 - fewest,
                          fewest == 2 ? Ties::kAlphabet : Ties::kOpen};
      std::vector<Sequences> inputs;
      std::vector<std::string> expected;
      for (const std::size_t n : {0, 1, 63, 64, 65, 127, 129, 4095, 4097}) {
        inputs.push_back(random_sequences(voting.species(), n, random));
        expected.push_back(call_all_slowly(inputs.back(), voting));
      }
      for (const auto level : test::simd_levels()) {
        const Caller one = voting_caller(voting, cpu(1, level));
        const Caller two = voting_caller(voting, cpu(2, level));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          ASSERT_EQ(call_with(one, inputs[i]), expected[i])
              << n_inner << "+" << n_outer << ", " << expected[i].size() << " positions, "
              << simd_name(level);
          ASSERT_EQ(call_packed(two, inputs[i], level), expected[i])
              << n_inner << "+" << n_outer << ", " << expected[i].size() << " packed, "
              << simd_name(level);
        }
      }
    }
  }
}

TEST(Calling, CallsAcrossChunks) {
  std::mt19937 random(5);
  const Voting voting{2, 1, 1, 1};
  const std::size_t n = 13 * voting_caller(voting, cpu(1)).stretch() + 3;  // four pieces
  const Sequences sequences = random_sequences(3, n, random);
  const std::string expected = call_all_slowly(sequences, voting);
  for (const int threads : {1, 2, 8}) {
    EXPECT_TRUE(call_with(voting_caller(voting, cpu(threads)), sequences) == expected);
  }
}

TEST(Calling, RefusesAnEmptyTierAndMinimaBelowOne) {
  EXPECT_THROW(voting_caller({0, 1, 1, 1}, cpu(1)), InputError);
  EXPECT_THROW(voting_caller({1, 0, 1, 1}, cpu(1)), InputError);
  EXPECT_THROW(voting_caller({1, 1, 0, 1}, cpu(1)), InputError);
  EXPECT_THROW(voting_caller({1, 1, 1, 0}, cpu(1)), InputError);
}

TEST(Calling, FromFilesGivesFilesAndCounts) {
  TempDir dir;
  std::mt19937 random(2);
  const Voting voting{2, 2, 1, 2};
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{600000}}) {
    const Sequences sequences = random_sequences(4, n, random);
    std::vector<std::string> paths;
    for (int s = 0; s < 4; ++s) {
      paths.push_back(dir.write("s" + std::to_string(s), ">chr1\n" + sequences.species[s] + "\n"));
    }
    const std::string expected = call_all_slowly(sequences, voting);
    const auto number = [&](const char* set) {
      return std::count_if(expected.begin(), expected.end(),
                           [&](char c) { return std::string(set).find(c) != std::string::npos; });
    };
    for (const int threads : {1, 2}) {
      JobControl control;
      const auto chromosome = from_files("chr1", static_cast<std::int64_t>(n), paths);
      const auto counts = call_chromosomes(voting_caller(voting, cpu(threads)), {chromosome},
                                           dir.file("calls"), control)
                              .front();
      EXPECT_TRUE(read_file(dir.file("calls/chr1.fa")) == ">chr1\n" + expected + "\n");
      EXPECT_EQ(counts.high, number("ACGT"));
      EXPECT_EQ(counts.low, number("acgt"));
      EXPECT_EQ(counts.unresolved, number("n"));
      EXPECT_EQ(counts.missing, number("N"));
      EXPECT_EQ(control.done(), control.expected());
    }
  }
}

TEST(Calling, LooksAtAllInputsBeforeItWrites) {
  TempDir dir;
  const std::string good = dir.write("good", ">chr1\nACGT\n");
  const std::string other = dir.write("other", ">chr2\nACG\n");
  JobControl control;
  EXPECT_THROW(
      call_chromosomes(voting_caller({1, 1, 1, 1}, cpu(1)),
                       {from_files("chr1", 4, {good, good}), from_files("chr2", 4, {other, other})},
                       dir.path(), control),
      FormatError);
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(CountCalls, CountsEachKind) {
  std::mt19937 random(4);
  for (const std::size_t n : {0, 1, 127, 128, 129, 100000}) {
    std::string calls(n, '\0');
    CallCounts expected;
    for (char& c : calls) {
      c = "ACGTacgtnN"[random() % 10];
      ++(c == 'N'   ? expected.missing
         : c == 'n' ? expected.unresolved
         : c > 'Z'  ? expected.low
                    : expected.high);
    }
    for (const auto level : test::simd_levels()) {
      const CallCounts counts = count_calls(calls.data(), n, level);
      EXPECT_EQ(counts.high, expected.high);
      EXPECT_EQ(counts.low, expected.low);
      EXPECT_EQ(counts.unresolved, expected.unresolved);
      EXPECT_EQ(counts.missing, expected.missing);
    }
  }
}

TEST(Packed, KeepsNeighboursWhereStretchesMeet) {
  std::mt19937 random(6);
  std::string bases(1000, 'N');
  std::string packed(packed_size(bases.size()), '\0');
  pack_bases(bases.data(), bases.size(), 0, &packed[0], SimdLevel::kScalar);
  for (int round = 0; round < 200; ++round) {
    const std::size_t at = random() % bases.size();
    const std::size_t n = random() % (bases.size() - at);
    for (std::size_t i = 0; i < n; ++i) {
      bases[at + i] = random() % 4 > 0 ? "ACGTacgt-N"[random() % 10] : static_cast<char>(random());
    }
    const auto levels = test::simd_levels();
    pack_bases(&bases[at], n, at, &packed[0], levels[round % levels.size()]);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      ASSERT_EQ(packed_code(packed.data(), i), base_code(bases[i]));
    }
  }
}

BackendWish wish(const std::string& kind, std::vector<int> devices = {}) {
  BackendWish wish;
  wish.kind = kind;
  wish.devices = std::move(devices);
  wish.threads = 3;
  wish.simd = "scalar";
  return wish;
}

const std::string kScalar = std::string(simd_name(SimdLevel::kScalar));

// Cards of compute capabilities such as 75, some of which can run a build for 7.5, 8.0 and 9.0.
Gpus gpus_of(const std::vector<int>& capabilities, int per_card = 1) {
  std::vector<Gpu> cards;
  for (const int c : capabilities) {
    const int number = static_cast<int>(cards.size());
    cards.push_back({number, "Card " + std::to_string(number), 1000, c / 10, c % 10});
  }
  return usable_gpus(cards, "75 80 90", per_card);
}

std::vector<int> numbers(const Gpus& gpus) {
  std::vector<int> all;
  for (const auto& gpu : gpus.usable) all.push_back(gpu.number);
  return all;
}

TEST(Backend, IsTheCpuUnlessAGpuIsNamed) {
  const auto untouched = []() -> Gpus { throw DeviceError("a GPU was touched"); };
  for (const char* kind : {"auto", "cpu"}) {
    const Backend backend = choose_backend(wish(kind), untouched);
    EXPECT_EQ(backend.kind, BackendKind::kCpu);
    EXPECT_EQ(backend.description(), "CPU backend (" + kScalar + ", 3 threads)");
  }
  const auto none = [] { return Gpus{{}, "no driver"}; };
  const auto two = [] { return gpus_of({80, 90}); };
  EXPECT_EQ(choose_backend(wish("gpu"), two).description(),
            "GPU backend (2 devices: cuda:0, cuda:1)");
  EXPECT_EQ(choose_backend(wish("gpu", {1}), two).description(), "GPU backend (1 device: cuda:1)");
  EXPECT_EQ(message_of<DeviceError>([&] { choose_backend(wish("gpu"), none); }), "no driver");
  EXPECT_NE(message_of<DeviceError>([&] {
              choose_backend(wish("gpu", {0, 2}), two);
            }).find("GPU 2 cannot be used here. Usable GPUs: 0, 1"),
            std::string::npos);
  BackendWish odd = wish("cpu");
  odd.simd = "mmx";
  EXPECT_THROW(choose_backend(odd), InputError);
  EXPECT_THROW(choose_backend(wish("tpu")), InputError);
}

TEST(Backend, SeveralDevicesCanBeOfOneCard) {
  BackendWish three = wish("gpu");
  three.gpus_per_card = 3;
  const Backend backend = choose_backend(three, [] { return gpus_of({90}, 3); });
  EXPECT_EQ(backend.description(), "GPU backend (3 devices: cuda:0, cuda:1, cuda:2)");
  EXPECT_EQ(backend.gpus_per_card, 3);
  EXPECT_EQ(numbers(gpus_of({70, 80}, 2)), (std::vector<int>{2, 3}));
}

TEST(Backend, ACardThatTheBuildHasNoCodeForIsLeftOutAndSaysSo) {
  for (const int c : {75, 80, 86, 89, 90, 100, 121}) {
    EXPECT_EQ(numbers(gpus_of({c})).size(), 1U) << c;
    EXPECT_EQ(gpus_of({c}).problem, "");
  }
  for (const int c : {37, 60, 70, 72}) EXPECT_TRUE(gpus_of({c}).usable.empty()) << c;
  // Code for 10.0 does not run on 11.0, and neither does code for 12.0 and later.
  EXPECT_FALSE(runs_on("75 100 120", 11, 0));
  EXPECT_TRUE(runs_on("75 100 120", 10, 3));
  EXPECT_FALSE(runs_on("", 9, 0));
  const Gpus mixed = gpus_of({70, 80});
  EXPECT_EQ(numbers(mixed), std::vector<int>{1});
  EXPECT_NE(mixed.problem.find("cuda:0 (Card 0) has compute capability 7.0, but this build's code "
                               "is for 7.5, 8.0, 9.0 and later"),
            std::string::npos)
      << mixed.problem;
  EXPECT_NE(message_of<DeviceError>([&] {
              choose_backend(wish("gpu", {0}), [&] { return mixed; });
            }).find("Usable GPUs: 1. cuda:0 (Card 0) has"),
            std::string::npos);
}

TEST(Backend, SaysWhyThereIsNoGpu) {
  const Gpus gpus = available_gpus(1);
  if (!gpus.usable.empty()) GTEST_SKIP() << "a GPU is here";
#ifdef ANCIFY_HAVE_CUDA
  EXPECT_NE(gpus.problem.find("GPU"), std::string::npos) << gpus.problem;
#else
  EXPECT_NE(gpus.problem.find("has no GPU code"), std::string::npos) << gpus.problem;
#endif
  EXPECT_EQ(message_of<DeviceError>([] { choose_backend(wish("gpu")); }), gpus.problem);
}

}  // namespace
}  // namespace ancify
