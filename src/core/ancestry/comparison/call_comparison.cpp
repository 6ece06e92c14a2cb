// Counts the agreement of several runs' calls, by window and pair of runs.
#include "core/ancestry/comparison/call_comparison.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "core/ancestry/calling/call_counts.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"

namespace ancify {

namespace {

// States below this are bases.
constexpr std::size_t kCalled = std::size_t{2} * kBases;

constexpr std::int64_t kStretch = 1 << 14;
constexpr std::int64_t kPiece = 128 * kStretch;

// The state of a letter that is not a call.
constexpr std::uint8_t kNoState = kCallStates;

std::uint8_t state_of(char call) {
  if (!is_call(call)) return kNoState;
  switch (confidence_of(call)) {
    case Confidence::kHigh:
      return base_code(call);
    case Confidence::kLow:
      return static_cast<std::uint8_t>(kBases + base_code(call));
    case Confidence::kUnresolved:
      return kCalled;
    default:
      return kCalled + 1;
  }
}

std::array<std::uint8_t, 256> all_states(OtherLetters others) {
  std::array<std::uint8_t, 256> states{};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const char letter = static_cast<char>(i);
    const bool is_missing = !is_call(letter) && others == OtherLetters::kMissing;
    states[i] = state_of(is_missing ? 'N' : letter);
  }
  return states;
}

bool is_called(std::size_t state) { return state < kCalled; }

CallComparison nothing_counted(std::size_t runs, std::size_t windows) {
  CallComparison none;
  none.pairs.resize(number_of_pairs(runs) * kCallPairs);
  none.called.resize(std::size_t{1} << runs);
  none.both.resize(number_of_pairs(runs) * windows);
  none.differ.resize(number_of_pairs(runs) * windows);
  return none;
}

void add_to(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& counts,
            std::size_t from = 0) {
  for (std::size_t i = 0; i < counts.size(); ++i) sum[from + i] += counts[i];
}

// Counts the positions of one window.
class WindowCount {
 public:
  WindowCount(std::size_t runs, OtherLetters others)
      : state_of_(all_states(others)),
        runs_(runs),
        states_(runs * kStretch),
        called_by_(kStretch) {}

  // `calls`: n positions of each run, at most kStretch. `chromosome` is for messages.
  void count(const std::vector<const char*>& calls, std::size_t n, const std::string& chromosome,
             CallComparison& counts) {
    std::fill_n(called_by_.begin(), n, std::uint16_t{0});
    for (std::size_t run = 0; run < runs_; ++run) {
      std::uint8_t* const out = &states_[run * kStretch];
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = state_of_[static_cast<unsigned char>(calls[run][i])];
        called_by_[i] = static_cast<std::uint16_t>(called_by_[i] | (is_called(out[i]) << run));
      }
      if (std::memchr(out, kNoState, n) != nullptr) {
        throw InputError("the sequence of '" + chromosome + "' in run " + std::to_string(run + 1) +
                         " contains letters that are not calls (ACGTacgtnN)");
      }
    }
    for (std::size_t i = 0; i < n; ++i) ++counts.called[called_by_[i]];
    std::int64_t* pair = counts.pairs.data();
    for (std::size_t a = 0; a < runs_; ++a) {
      for (std::size_t b = a + 1; b < runs_; ++b, pair += kCallPairs) {
        const std::uint8_t* const first = &states_[a * kStretch];
        const std::uint8_t* const second = &states_[b * kStretch];
        for (std::size_t i = 0; i < n; ++i) ++pair[first[i] * kCallStates + second[i]];
      }
    }
  }

 private:
  std::array<std::uint8_t, 256> state_of_;  // each letter
  std::size_t runs_;
  std::vector<std::uint8_t> states_;
  std::vector<std::uint16_t> called_by_;
};

// Fills in `both` and `differ` from the counts of each pair of runs.
void sum_up_window(CallComparison& counts) {
  for (std::size_t pair = 0; pair < counts.both.size(); ++pair) {
    for (std::size_t cell = 0; cell < kCallPairs; ++cell) {
      const std::size_t first = cell / kCallStates;
      const std::size_t second = cell % kCallStates;
      if (!is_called(first) || !is_called(second)) continue;
      const std::int64_t n = counts.pairs[pair * kCallPairs + cell];
      counts.both[pair] += n;
      if (first % kBases != second % kBases) counts.differ[pair] += n;
    }
  }
}

struct Piece {
  std::size_t chromosome;
  std::int64_t start;
  std::int64_t end;
};

// A chromosome's counts, to which several threads add.
class ChromosomeSum {
 public:
  ChromosomeSum(std::size_t runs, std::size_t windows) : sum_(nothing_counted(runs, windows)) {}

  void add(const CallComparison& counts, std::size_t window) {
    const std::lock_guard<std::mutex> lock(mutex_);
    add_to(sum_.pairs, counts.pairs);
    add_to(sum_.called, counts.called);
    add_to(sum_.both, counts.both, window * counts.both.size());
    add_to(sum_.differ, counts.differ, window * counts.differ.size());
  }
  CallComparison take() { return std::move(sum_); }

 private:
  std::mutex mutex_;
  CallComparison sum_;
};

void compare_piece(const SequenceSources& runs, const std::string& chromosome, const Piece& piece,
                   std::int64_t window, OtherLetters others, ChromosomeSum& sum,
                   const TaskContext& context, JobControl& control) {
  WindowCount counter(runs.size(), others);
  std::vector<char> buffer(runs.size() * kStretch);
  std::vector<const char*> calls(runs.size());
  for (std::int64_t at = piece.start; at < piece.end;) {
    const std::int64_t end = std::min(piece.end, at / window * window + window);
    const std::int64_t index = at / window;
    CallComparison counts = nothing_counted(runs.size(), 1);
    while (at < end) {
      context.throw_if_stopped();
      const auto n = static_cast<std::size_t>(std::min(kStretch, end - at));
      for (std::size_t run = 0; run < runs.size(); ++run) {
        calls[run] = runs[run]->bases(at, n, &buffer[run * kStretch]);
      }
      counter.count(calls, n, chromosome, counts);
      control.advance(static_cast<std::int64_t>(n));
      at += static_cast<std::int64_t>(n);
    }
    sum_up_window(counts);
    sum.add(counts, static_cast<std::size_t>(index));
  }
}

}  // namespace

std::vector<CallComparison> compare_calls(const std::vector<ChromosomeSequences>& chromosomes,
                                          std::int64_t window, const Backend& backend,
                                          JobControl& control, OtherLetters others) {
  std::vector<Piece> pieces;
  std::deque<ChromosomeSum> sums;
  for (std::size_t i = 0; i < chromosomes.size(); ++i) {
    const std::int64_t length = chromosomes[i].length;
    const std::size_t runs = chromosomes[i].open().size();
    if (runs < 2 || runs > kMostRuns) {
      throw InputError("from 2 to " + std::to_string(kMostRuns) + " runs can be compared, not " +
                       std::to_string(runs));
    }
    sums.emplace_back(runs, static_cast<std::size_t>((length + window - 1) / window));
    for (std::int64_t start = 0; start < length; start += kPiece) {
      pieces.push_back({i, start, std::min(start + kPiece, length)});
    }
    control.expect(length);
  }
  run_tasks(control, backend.threads, static_cast<std::int64_t>(pieces.size()),
            [&](std::int64_t i, const TaskContext& context) {
              const Piece& piece = pieces[static_cast<std::size_t>(i)];
              const auto& chromosome = chromosomes[piece.chromosome];
              compare_piece(chromosome.open(), chromosome.name, piece, window, others,
                            sums[piece.chromosome], context, control);
            });
  std::vector<CallComparison> result;
  result.reserve(sums.size());
  for (auto& sum : sums) result.push_back(sum.take());
  return result;
}

}  // namespace ancify
