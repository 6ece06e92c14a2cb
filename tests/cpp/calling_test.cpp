#include "core/ancestry/calling.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <random>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/packed.h"
#include "core/io/sequence_store.h"
#include "support.h"

namespace ancify {
namespace {

using test::read_file;
using test::TempDir;

// The oracle: votes counted in a map.
char consensus_slowly(const std::string& bases, int fewest) {
  std::map<char, int> votes;
  for (const char c : bases) ++votes[static_cast<char>(std::toupper(c))];
  char best = 'N';
  int most = fewest - 1;
  for (const char base : {'A', 'C', 'G', 'T'}) {
    if (votes[base] > most) {
      best = base;
      most = votes[base];
    }
  }
  return best;
}

char call_slowly(const std::string& inner, const std::string& outer, const Voting& voting) {
  const char near = consensus_slowly(inner, voting.min_inner);
  const char far = consensus_slowly(outer, voting.min_outer);
  if (near == far) return near;
  if (far == 'N') return static_cast<char>(std::tolower(near));
  if (near == 'N') return static_cast<char>(std::tolower(far));
  return 'n';
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

std::string call_with(const Voting& voting, const Sequences& sequences, const Backend& backend) {
  SequenceSources sources;
  for (const char* bases : sequences.pointers) {
    sources.push_back(memory_source(bases, SequenceForm::kCharacters));
  }
  JobControl control;
  std::string calls(sequences.species.front().size(), '?');
  call_sequences(Caller(voting, backend), sources, calls.size(), &calls[0], nullptr, control);
  EXPECT_EQ(control.done(), control.expected());
  return calls;
}

std::string call_packed(const Voting& voting, const Sequences& sequences, const Backend& backend) {
  std::vector<std::string> packed;
  SequenceSources sources;
  const std::size_t n = sequences.species.front().size();
  for (const auto& bases : sequences.species) {
    packed.emplace_back(packed_size(n), '\xff');
    pack_bases(bases.data(), n, 0, &packed.back()[0], backend.simd);
  }
  for (const auto& bases : packed) {
    sources.push_back(memory_source(bases.data(), SequenceForm::kPacked));
  }
  JobControl control;
  std::string calls(n, '?');
  call_sequences(Caller(voting, backend), sources, n, &calls[0], nullptr, control);
  return calls;
}

ChromosomeToCall from_files(const std::string& name, std::int64_t length,
                            const std::vector<std::string>& paths) {
  return {name, length, [=] {
            SequenceSources sources;
            for (const auto& path : paths) sources.push_back(file_source(path, name, length));
            return sources;
          }};
}

// Up to eight species by table, more by counting: both sides of the border.
TEST(Calling, IsThatOfTheOracle) {
  std::mt19937 random(11);
  for (const auto& [n_inner, n_outer] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 3}, {3, 3}, {4, 4}, {5, 4}, {12, 8}}) {
    for (int fewest = 1; fewest <= 3; ++fewest) {
      const Voting voting{n_inner, n_outer, fewest, 4 - fewest};
      for (const std::size_t n : {0, 1, 63, 64, 65, 127, 129, 4095, 4097, 20000}) {
        const Sequences sequences = random_sequences(voting.species(), n, random);
        const std::string expected = call_all_slowly(sequences, voting);
        for (const auto level : test::simd_levels()) {
          for (const int threads : {1, 2}) {
            ASSERT_EQ(call_with(voting, sequences, cpu(threads, level)), expected)
                << n_inner << "+" << n_outer << ", " << n << " positions, " << simd_name(level);
            ASSERT_EQ(call_packed(voting, sequences, cpu(threads, level)), expected)
                << n_inner << "+" << n_outer << ", " << n << " packed, " << simd_name(level);
          }
        }
      }
    }
  }
}

TEST(Calling, CallsAcrossChunks) {
  std::mt19937 random(5);
  const Voting voting{2, 1, 1, 1};
  const std::size_t n = 35 * Caller(voting, cpu(1)).stretch() + 3;
  const Sequences sequences = random_sequences(3, n, random);
  const std::string expected = call_all_slowly(sequences, voting);
  for (const int threads : {1, 2, 8}) {
    EXPECT_TRUE(call_with(voting, sequences, cpu(threads)) == expected);
  }
}

TEST(Calling, RefusesAnEmptyTierAndMinimaBelowOne) {
  EXPECT_THROW(Caller({0, 1, 1, 1}, cpu(1)), InputError);
  EXPECT_THROW(Caller({1, 0, 1, 1}, cpu(1)), InputError);
  EXPECT_THROW(Caller({1, 1, 0, 1}, cpu(1)), InputError);
  EXPECT_THROW(Caller({1, 1, 1, 0}, cpu(1)), InputError);
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
      const auto counts =
          call_chromosomes(Caller(voting, cpu(threads)), {chromosome}, dir.file("calls"), control)
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
      call_chromosomes(Caller({1, 1, 1, 1}, cpu(1)),
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
    for (std::size_t i = 0; i < n; ++i) bases[at + i] = "ACGTacgt-N"[random() % 10];
    const auto levels = test::simd_levels();
    pack_bases(&bases[at], n, at, &packed[0], levels[round % levels.size()]);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      ASSERT_EQ(packed_code(packed.data(), i), base_code(bases[i]));
    }
  }
}

#ifdef ANCIFY_HAVE_CUDA
TEST(Calling, OnAGpuIsThatOfTheOracle) {
  Backend gpu;
  try {
    gpu = choose_backend("gpu", {}, 1);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << "no GPU here: " << error.what();
  }
  std::mt19937 random(13);
  for (const auto& voting : {Voting{1, 1, 1, 1}, Voting{2, 2, 1, 2}, Voting{12, 8, 3, 2}}) {
    for (const std::size_t n : {0, 1, 100000}) {
      const Sequences sequences = random_sequences(voting.species(), n, random);
      EXPECT_TRUE(call_with(voting, sequences, gpu) == call_all_slowly(sequences, voting));
    }
  }
}
#endif

TEST(Backend, IsTheCpuUnlessAGpuIsNamed) {
  for (const char* wanted : {"auto", "cpu"}) {
    const Backend backend = choose_backend(wanted, {}, 3);
    EXPECT_EQ(backend.kind, BackendKind::kCpu);
    EXPECT_EQ(backend.description(),
              std::string("CPU backend (") + simd_name(best_simd_level()) + ", 3 threads)");
  }
  EXPECT_EQ(choose_backend("cpu", {}, 1, "scalar").description(),
            std::string("CPU backend (") + simd_name(SimdLevel::kScalar) + ", 1 thread)");
  EXPECT_THROW(choose_backend("cpu", {}, 1, "mmx"), InputError);
  EXPECT_THROW(choose_backend("tpu", {}, 1), InputError);
}

#ifndef ANCIFY_HAVE_CUDA
TEST(Backend, SaysThatThisBuildHasNoGpuCode) {
  EXPECT_THROW(choose_backend("gpu", {}, 1), DeviceError);
}
#endif

}  // namespace
}  // namespace ancify
