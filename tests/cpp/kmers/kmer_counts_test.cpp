// k-mers against a plain map: sorting, super-k-mers, partitions on disk, databases.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/exec/errors.h"
#include "core/kmers/counter.h"
#include "core/kmers/set_operations.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

std::string random_text(std::size_t n, unsigned seed, std::string_view letters) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < n) text += letters[random() % letters.size()];
  return text;
}

// Repeats, long runs of one base, and other letters.
std::string some_text(unsigned seed) {
  const std::string unit = random_text(300, seed, "ACGT");
  return unit + "N" + random_text(2000, seed + 1, "ACGTACGTACGTacgtN") + unit +
         std::string(700, 'A') + unit + random_text(3000, seed + 2, "ACGT");
}

std::string complement_of(const std::string& kmer) {
  std::string other(kmer.rbegin(), kmer.rend());
  for (char& c : other) c = upper_base(3 - base_code(c));
  return other;
}

using Counts = std::map<std::string, std::uint32_t>;

Counts count_plainly(const std::string& text, int k) {
  Counts counts;
  for (std::size_t i = 0; i + static_cast<std::size_t>(k) <= text.size(); ++i) {
    std::string kmer = text.substr(i, static_cast<std::size_t>(k));
    bool known = true;
    for (char& c : kmer) {
      known = known && base_code(c) != kMissing;
      c = upper_base(base_code(c));
    }
    if (known) ++counts[std::min(kmer, complement_of(kmer))];
  }
  return counts;
}

Counts counts_of(const KmerDatabase& database) {
  Counts counts;
  with_key(database.header().k, [&](auto key) {
    for (KmerCursor<decltype(key)> at(database); at.valid(); at.next()) {
      counts[key_text(at.key(), database.header().k)] = at.count();
    }
  });
  return counts;
}

KmerDatabase count(const std::string& text, int k, const KmerWork& work, std::size_t piece) {
  JobControl control;
  KmerSettings settings;
  settings.k = k;
  const PassSequences pass = [&](const SequencePasser& passer, const TaskContext&) {
    passer.begin();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      passer.bases(std::string_view(text).substr(at, piece));
    }
  };
  return count_kmers(pass, settings, work, control);
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
      if (random() % 2 == 0) key >>= 64;  // many that begin alike
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
