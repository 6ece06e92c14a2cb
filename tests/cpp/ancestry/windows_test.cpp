// Checks the states of windows against their table, and the positions that readers have passed.
#include "core/ancestry/calling/windows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/ancestry/calling/reading_order.h"

namespace ancify {
namespace {

const std::vector<Chromosome> kTwo = {{"one", 300}, {"two", 128}, {"three", 129}};

TEST(Windows, CoverEachChromosome) {
  const Windows windows(kTwo, 128, false);
  ASSERT_EQ(windows.size(), 6U);
  const std::vector<std::int64_t> starts = {0, 128, 256, 0, 0, 128};
  const std::vector<std::int64_t> ends = {128, 256, 300, 128, 128, 129};
  const std::vector<std::size_t> chromosomes = {0, 0, 0, 1, 2, 2};
  for (std::size_t w = 0; w < 6; ++w) {
    EXPECT_EQ(windows.start(w), starts[w]);
    EXPECT_EQ(windows.end(w), ends[w]);
    EXPECT_EQ(windows.chromosome_of(w), chromosomes[w]);
    EXPECT_EQ(windows.at(chromosomes[w], ends[w] - 1), w);
    EXPECT_EQ(windows.needs(w), ends[w]);
  }
}

// A text of states, such as "wc-f": waiting, called, put off, final.
std::string text_of(const Windows& windows) {
  std::string text;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    text += "wc-f"[static_cast<std::size_t>(windows.state(w))];
  }
  return text;
}

// All windows in one state.
Windows all_in(WindowState state, bool with_neighbours) {
  static const std::vector<Chromosome> one = {{"one", 5 * 128}};
  Windows windows(one, 128, with_neighbours);
  if (state == WindowState::kWaiting) return windows;
  for (std::size_t w = 0; w < 5; ++w) {
    windows.call(w);
    if (state == WindowState::kPutOff) windows.put_off(w);
  }
  if (state == WindowState::kFinal) windows.end_reading();
  return windows;
}

TEST(Windows, GoFromStateToStateAsInTheTable) {
  struct Row {
    std::string event;
    std::function<void(Windows&)> happens;
    std::vector<std::string> alone;            // by state before
    std::vector<std::string> with_neighbours;  // likewise
  };
  const auto next = [](Windows& windows) {
    const auto left = windows.end_reading();
    if (!left.empty()) windows.choose(left, 2, [](std::size_t) { return 1; });
  };
  const std::vector<Row> rows = {
      {"a base comes late",
       [](Windows& windows) { windows.put_off(2); },
       {"ww-ww", "cc-cc", "-----", "fffff"},
       {"w---w", "c---c", "-----", "fffff"}},
      {"memory is short",
       [](Windows& windows) { windows.give_up(2); },
       {"ww-ww", "ccccc", "-----", "fffff"},
       {"w---w", "ccccc", "-----", "fffff"}},
      {"all files have ended",
       [](Windows& windows) { windows.end_reading(); },
       {"wwwww", "fffff", "-----", "fffff"},
       {"wwwww", "fffff", "-----", "fffff"}},
      {"the next reading, with room for two windows",
       next,
       {"wwwww", "fffff", "ww---", "fffff"},
       {"wwwww", "fffff", "w----", "fffff"}},
  };
  for (const Row& row : rows) {
    for (const bool with_neighbours : {false, true}) {
      for (std::size_t state = 0; state < 4; ++state) {
        Windows windows = all_in(static_cast<WindowState>(state), with_neighbours);
        row.happens(windows);
        EXPECT_EQ(text_of(windows), (with_neighbours ? row.with_neighbours : row.alone)[state])
            << row.event << " " << state << with_neighbours;
      }
    }
  }
}

TEST(Windows, KeepBasesThatCallsWaitFor) {
  for (const bool with_neighbours : {false, true}) {
    Windows windows(kTwo, 128, with_neighbours);
    EXPECT_EQ(windows.needs(0), with_neighbours ? 256 : 128);
    EXPECT_EQ(windows.needs(2), 300);
    windows.call(0);
    EXPECT_EQ(windows.is_kept(0), with_neighbours);
    EXPECT_TRUE(windows.is_late(0));
    EXPECT_EQ(windows.is_late(1), with_neighbours);
    EXPECT_FALSE(windows.is_late(2));
    windows.call(1);
    EXPECT_FALSE(windows.is_kept(0));
    // Neighbours are on the same chromosome.
    windows.call(3);
    EXPECT_FALSE(windows.is_kept(3));
    EXPECT_FALSE(windows.is_late(4));
  }
}

TEST(Windows, OneIsReadAgainHoweverLittleTheMemory) {
  Windows windows = all_in(WindowState::kPutOff, true);
  const auto cost = [](std::size_t) { return 100; };
  EXPECT_EQ(windows.choose(windows.end_reading(), 0, cost), std::vector<std::size_t>({0}));
  windows.call(0);
  EXPECT_EQ(windows.choose(windows.end_reading(), 399, cost), std::vector<std::size_t>({1}));
  windows.call(1);
  EXPECT_EQ(windows.choose(windows.end_reading(), 400, cost), std::vector<std::size_t>({2, 3, 4}));
}

class Orders : public testing::Test {
 protected:
  Orders() : order(2, kTwo, 128) {}

  void block(std::size_t reader, std::size_t chromosome, std::int64_t position) {
    passages[reader].begin_block(chromosome, position);
    order.move(reader, passages[reader]);
  }
  std::vector<std::int64_t> passed() const {
    return {order.passed(0), order.passed(1), order.passed(2)};
  }
  bool is_behind(std::size_t reader) const {
    return order.has_turn(passages[reader], order.next_turn());
  }

  ReadingOrder order;
  Passage passages[2];
};

TEST_F(Orders, PassPositionsBeforeTheLastBlockOfAll) {
  using Passed = std::vector<std::int64_t>;
  EXPECT_EQ(passed(), Passed({0, 0, 0}));
  block(0, 0, 200);
  EXPECT_EQ(passed(), Passed({0, 0, 0}));
  block(1, 0, 140);
  EXPECT_EQ(passed(), Passed({140, 0, 0}));
  EXPECT_EQ(order.take_moved(), std::vector<std::size_t>({0, 0}));
  block(0, 2, 7);
  EXPECT_EQ(passed(), Passed({140, 0, 0}));
  block(1, 2, 9);
  EXPECT_EQ(passed(), Passed({300, 0, 7}));
  // Chromosome 1 may still come.
  order.end(0);
  EXPECT_EQ(passed(), Passed({300, 0, 9}));
  order.end(1);
  EXPECT_EQ(passed(), Passed({300, 128, 129}));
  EXPECT_EQ(order.take_moved().size(), 3U);
}

TEST_F(Orders, PassNothingOfAChromosomeWithManyLateBlocksBeforeTheEnd) {
  block(0, 0, 200);
  block(1, 0, 200);
  block(1, 1, 0);
  for (int late = 0; late < 3; ++late) order.note_late(1, 0);
  EXPECT_EQ(order.passed(0), 200);
  order.note_late(1, 0);
  EXPECT_EQ(order.passed(0), 0);
  order.end(1);
  EXPECT_EQ(order.passed(0), 200);
}

TEST_F(Orders, PassNoMoreThanTheirPlaceAfterAStrayBlockElsewhere) {
  block(0, 0, 200);
  block(1, 0, 130);
  passages[1].begin_block(2, 5);
  block(1, 0, 150);
  EXPECT_EQ(order.passed(0), 150);
  EXPECT_EQ(order.passed(2), 0);
}

TEST_F(Orders, LetReadersGoOnTogether) {
  EXPECT_TRUE(is_behind(0) && is_behind(1));
  block(0, 0, 0);
  EXPECT_FALSE(is_behind(0));
  EXPECT_TRUE(is_behind(1));
  block(1, 0, 127);
  EXPECT_TRUE(is_behind(0) && is_behind(1));
  block(1, 0, 128);
  EXPECT_TRUE(is_behind(0));
  EXPECT_FALSE(is_behind(1));
  order.end(0);
  EXPECT_TRUE(is_behind(1));
}

TEST_F(Orders, LetReadersOnAShortChromosomeCatchUp) {
  block(0, 0, 0);
  block(1, 1, 0);  // which has 128 positions, and the other 300
  EXPECT_FALSE(is_behind(0));
  EXPECT_TRUE(is_behind(1));
  block(1, 0, 0);
  EXPECT_TRUE(is_behind(0) && is_behind(1));
  block(0, 0, 299);
  block(1, 0, 299);
  block(1, 1, 0);
  EXPECT_TRUE(is_behind(0));  // at the end of its chromosome
}

}  // namespace
}  // namespace ancify
