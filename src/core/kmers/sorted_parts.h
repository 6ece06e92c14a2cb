// Makes a database of k-mers that were partitioned by their first bases.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/threads.h"
#include "core/kmers/kmc_files.h"
#include "core/kmers/partitions.h"
#include "core/kmers/sorted_counts.h"

namespace ancify {

// Settings for counting and keeping k-mers.
struct KmerSettings {
  int k = 0;
  bool canonical = true;
  std::uint32_t min_count = 1;
  std::uint32_t max_count = kMostCount;
};

// A job's resources and its output.
struct KmerWork {
  std::size_t memory = 0;  // bytes
  std::string scratch;     // a folder for data that do not fit in memory
  std::string out;         // the stem of the database's files; empty: in memory
  int threads = 1;
};

// Parts of k-mers that share their first `bases` bases, and totals over all parts.
class KmerParts {
 public:
  KmerParts(const KmerSettings& settings, int bases, std::size_t memory, const std::string& folder)
      : settings_(settings), bases_(bases), parts_(std::size_t{1} << (2 * bases), memory, folder) {}

  // True if a count is within the settings' limits.
  bool wants(std::uint32_t count) const {
    return count >= settings_.min_count && count <= settings_.max_count;
  }
  // Adds sorted k-mers; counts outside the limits are dropped.
  template <class Key>
  void add(const std::vector<Counted<Key>>& entries) {
    add(entries.data(), entries.size());
  }
  template <class Key>
  void add(const Counted<Key>* entries, std::size_t n) {
    std::uint32_t most = 0;
    for (const Counted<Key>* at = entries; at != entries + n;) {
      const std::size_t part = part_of(at->key);
      const auto* const end = std::find_if(
          at, entries + n, [&](const auto& entry) { return part_of(entry.key) != part; });
      Block block(static_cast<std::size_t>(end - at) * kEntry<Key>);
      char* to = block.data();
      for (; at != end; ++at) {
        if (!wants(at->count)) continue;
        most = std::max(most, at->count);
        std::memcpy(to, &at->key, sizeof at->key);
        std::memcpy(to + sizeof at->key, &at->count, sizeof at->count);
        to += kEntry<Key>;
      }
      block.resize(static_cast<std::size_t>(to - block.data()));
      if (!block.empty()) parts_.append(part, std::move(block));
    }
    note_count(most);
  }
  // Sorts each part, and writes all in order. `are_sorted`: the parts are already sorted.
  template <class Key>
  KmerDatabase write(const KmerWork& work, bool are_sorted, JobControl& control) {
    std::vector<std::uint64_t> first(parts_.size() + 1);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      first[i + 1] = first[i] + parts_.bytes(i) / kEntry<Key>;
    }
    KmerHeader header;
    header.k = settings_.k;
    header.canonical = settings_.canonical;
    header.count_bytes = bytes_of_count(most_);
    header.prefix = prefix_length(settings_.k);
    header.min_count = settings_.min_count;
    header.max_count = settings_.max_count;
    header.size = first.back();
    KmerWriter writer(header, work.out);
    run_tasks(control, work.threads, static_cast<std::int64_t>(parts_.size()),
              [&](std::int64_t i, const TaskContext&) {
                const auto part = static_cast<std::size_t>(i);
                if (are_sorted) {
                  write_blocks<Key>(part, first[part], writer);
                } else {
                  write_sorted<Key>(part, first[part + 1] - first[part], first[part], writer);
                }
              });
    return writer.finish(TaskContext(control));
  }

 private:
  // Adds a block's k-mers to the entries.
  template <class Key>
  static void read_block(const char* block, std::size_t size, std::vector<Counted<Key>>& entries) {
    const std::size_t before = entries.size();
    entries.resize(before + size / kEntry<Key>);
    for (auto entry = entries.begin() + static_cast<std::ptrdiff_t>(before); entry != entries.end();
         ++entry, block += kEntry<Key>) {
      std::memcpy(&entry->key, block, sizeof entry->key);
      std::memcpy(&entry->count, block + sizeof entry->key, sizeof entry->count);
    }
  }
  // A sorted part is written block by block, which fit the processor's cache.
  template <class Key>
  void write_blocks(std::size_t part, std::uint64_t first, KmerWriter& writer) {
    std::vector<Counted<Key>> entries;
    parts_.take(part, [&](const char* block, std::size_t size) {
      entries.clear();
      read_block(block, size, entries);
      writer.write(first, entries.data(), entries.size());
      first += entries.size();
    });
  }
  template <class Key>
  void write_sorted(std::size_t part, std::size_t n, std::uint64_t first, KmerWriter& writer) {
    std::vector<Counted<Key>> entries;
    entries.reserve(n);
    parts_.take(part,
                [&](const char* block, std::size_t size) { read_block(block, size, entries); });
    std::vector<Counted<Key>> spare;
    radix_sort(entries, spare, 2 * (settings_.k - bases_));
    writer.write(first, entries.data(), entries.size());
  }
  template <class Key>
  std::size_t part_of(Key key) const {
    return static_cast<std::size_t>(key >> (2 * (settings_.k - bases_)));
  }
  void note_count(std::uint32_t count) {
    for (std::uint32_t most = most_; most < count && !most_.compare_exchange_weak(most, count);) {
    }
  }

  template <class Key>
  static constexpr std::size_t kEntry = sizeof(Key) + sizeof(std::uint32_t);

  KmerSettings settings_;
  int bases_;
  Partitions parts_;
  std::atomic<std::uint32_t> most_{0};
};

}  // namespace ancify
