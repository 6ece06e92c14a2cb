// k-mers against a plain map: sorting, super-k-mers, partitions on disk, databases.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "core/exec/errors.h"
#include "core/kmers/counter.h"
#include "core/kmers/set_operations.h"
#include "plain_kmers.h"
#include "support.h"

namespace ancify {
namespace {

using test::complement_of;
using test::count_plainly;
using test::Counts;
using test::counts_of;
using test::message_of;
using test::pieces_of;
using test::random_text;
using test::read_file;
using test::some_text;
using test::TempDir;

KmerDatabase count(const std::string& text, int k, const KmerWork& work, std::size_t piece) {
  JobControl control;
  KmerSettings settings;
  settings.k = k;
  return count_kmers(pieces_of(text, piece), settings, work, control);
}

TEST(KmerCounter, CountsAsAPlainMapDoes) {
  TempDir dir;
  const std::string text = some_text(1);
  for (const int k : {1, 4, 7, 12, 13, 24, 31, 32, 33, 63, 64}) {
    const Counts expected = count_plainly(text, k);
    for (const int threads : {1, 3}) {
      for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 28}) {
        const KmerWork work = {memory, dir.path(), "", threads};
        EXPECT_EQ(counts_of(count(text, k, work, text.size())), expected) << k;
        EXPECT_EQ(counts_of(count(text, k, work, 17)), expected) << k;
      }
    }
  }
  EXPECT_EQ(dir.entries(), 0);
}

TEST(KmerCounter, WritesTheSameBytesInFilesByAllWays) {
  TempDir dir;
  const std::string text = some_text(2);
  for (const int k : {9, 25, 50}) {
    std::string first;
    for (const int threads : {1, 3}) {
      for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 28}) {
        const std::string stem = dir.file("x");
        EXPECT_EQ(counts_of(count(text, k, {memory, dir.path(), stem, threads}, 1000)),
                  count_plainly(text, k));
        const std::string bytes = read_file(stem + ".kmc_pre") + read_file(stem + ".kmc_suf");
        if (first.empty()) first = bytes;
        EXPECT_EQ(bytes, first) << k;
      }
    }
  }
  EXPECT_EQ(dir.entries(), 2);
}

template <class Key>
void expect_bases(const std::string& text) {
  const int k = static_cast<int>(text.size());
  RollingKey<Key> rolling(k);
  for (const char c : text) rolling.add(base_code(c));
  const Key key = rolling.forward();
  EXPECT_EQ(key_text(key, k), text);
  EXPECT_EQ(key_text(reverse_complement(key, k), k), complement_of(text));
  EXPECT_TRUE(canonical_key(key, k) == rolling.canonical());
  EXPECT_TRUE(RollingKey<Key>(k, key).canonical() == rolling.canonical());
  std::array<char, sizeof(Key)> bytes;
  put_bases(bytes.data(), key, text.size());
  EXPECT_TRUE(first_bases<Key>(bytes.data(), text.size()) == key);
  EXPECT_EQ(bytes[0] >> 6 & 3, base_code(text[0]));
}

TEST(Packing, TurnsAndPacksBasesAsTextsDo) {
  for (std::size_t k = 1; k <= 64; ++k) {
    const std::string text = random_text(k, static_cast<unsigned>(k), "ACGT");
    if (k <= 32) expect_bases<ShortKey>(text);
    expect_bases<LongKey>(text);
  }
}

// A tile that is smaller than a part is sorted by itself.
TEST(TileCounter, AddsTiles) {
  std::mt19937_64 random(3);
  for (const std::size_t tile : {std::size_t{1}, std::size_t{7}, std::size_t{100000}}) {
    TileCounter<ShortKey> counter(20, tile);
    std::map<ShortKey, std::uint32_t> expected;
    for (int i = 0; i < 5000; ++i) {
      const ShortKey key = random() % 900 << 30;
      counter.add(key);
      ++expected[key];
    }
    const auto counts = counter.finish();
    ASSERT_EQ(counts.size(), expected.size());
    auto at = expected.begin();
    for (const auto& [key, n] : counts) {
      EXPECT_EQ(key, at->first);
      EXPECT_EQ(n, (at++)->second);
    }
  }
}

TEST(RadixSort, SortsAnyNumberOfKeys) {
  std::mt19937_64 random(4);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{70000}}) {
    std::vector<LongKey> keys(n);
    for (LongKey& key : keys) {
      key = LongKey{random()} << 46 | random() >> 18;
      if (random() % 2 == 0) key >>= 64;  // many keys that start with the same bits
    }
    std::vector<LongKey> expected = keys;
    std::sort(expected.begin(), expected.end());
    std::vector<LongKey> spare;
    radix_sort(keys, spare, 110);
    EXPECT_TRUE(keys == expected) << n;
  }
}

TEST(KmerCounts, AreTheMostThatTheyCanBeWhereTheyWouldBeMore) {
  EXPECT_EQ(saturated(std::uint64_t{1} << 40), kMostCount);
  const std::vector<Counted<ShortKey>> most = {{3, kMostCount - 1}};
  EXPECT_EQ(add_counts(most, most).front().count, kMostCount);
}

TEST(KmerCounter, SaysThatTheDiskIsFull) {
  const KmerWork work = {1, "/nowhere", "", 2};
  EXPECT_NE(message_of<FileError>([&] { count(some_text(5), 25, work, 1000); }).find("/nowhere"),
            std::string::npos);
}

}  // namespace
}  // namespace ancify
