// Tests tiles that several threads make and read.
#include "core/formats/genotype/tile_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

namespace ancify {
namespace {

TileCache::Bytes tile_of(std::int64_t number, std::size_t size) {
  return TileCache::Bytes(size, static_cast<std::uint8_t>(number));
}

// A thread that the system holds up may ask for a tile again that others have left behind, unless
// the cache keeps all of them.
TEST(TileCache, MakesEachTileOnceInAPassOfThreads) {
  constexpr std::int64_t tiles = 40;
  constexpr std::int64_t readers = 7;
  for (const int threads : {1, 2, 5}) {
    TileCache cache(threads == 1 ? 100 : tiles * 100);
    std::array<std::atomic<int>, tiles> made = {};
    JobControl control;
    run_tasks(control, threads, tiles * readers, [&](std::int64_t i, const TaskContext&) {
      const std::int64_t number = i / readers;
      const auto tile = cache.get(number, [&] {
        ++made[static_cast<std::size_t>(number)];
        return tile_of(number, 100);
      });
      ASSERT_EQ(*tile.get(), tile_of(number, 100));
    });
    for (const auto& times : made) EXPECT_EQ(times, 1);
  }
}

TEST(TileCache, KeepsTheTilesUsedLast) {
  TileCache cache(300);
  int made = 0;
  const auto get = [&](std::int64_t number, std::size_t size = 100) {
    const auto make = [&] {
      ++made;
      return tile_of(number, size);
    };
    EXPECT_EQ(*cache.get(number, make).get(), tile_of(number, size));
    return made;
  };
  for (const std::int64_t number : {0, 1, 2}) get(number);
  EXPECT_EQ(get(0), 3);
  EXPECT_EQ(get(3), 4);  // instead of 1
  EXPECT_EQ(get(0), 4);
  EXPECT_EQ(get(2), 4);
  EXPECT_EQ(get(1), 5);       // instead of 3
  EXPECT_EQ(get(9, 999), 6);  // instead of all
  EXPECT_EQ(get(9, 999), 6);
  EXPECT_EQ(get(2), 7);
}

TEST(TileCache, TriesAgainAfterAnError) {
  TileCache cache(300);
  const auto failing = cache.get(1, []() -> TileCache::Bytes { throw InputError("bad"); });
  EXPECT_THROW(failing.get(), InputError);
  EXPECT_EQ(*cache.get(1, [] { return tile_of(1, 10); }).get(), tile_of(1, 10));
}

}  // namespace
}  // namespace ancify
