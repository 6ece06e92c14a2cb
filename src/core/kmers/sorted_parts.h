// Makes a database of k-mers that lie in parts of their first bases.
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

// How k-mers are counted, and which of them are kept.
struct KmerSettings {
  int k = 0;
  bool canonical = true;
  std::uint32_t min_count = 1;
  std::uint32_t max_count = kMostCount;
};

// What a job may use, and where its result goes.
struct KmerWork {
  std::size_t memory = 0;  // bytes
  std::string scratch;     // a folder for what does not fit in memory
  std::string out;         // the stem of the database's files; empty: in memory
  int threads = 1;
};

// The parts of k-mers whose first `bases` bases are equal, and what is known of all of them.
class KmerParts {
 public:
  KmerParts(const KmerSettings& settings, int bases, std::size_t memory, const std::string& folder)
      : settings_(settings), bases_(bases), parts_(std::size_t{1} << (2 * bases), memory, folder) {}

  // Whether k-mers with this count are wanted.
  bool wants(std::uint32_t count) const {
    return count >= settings_.min_count && count <= settings_.max_count;
  }
  // Adds k-mers in their order, of which some may not be wanted.
  template <class Key>
  void add(const std::vector<Counted<Key>>& entries) {
    std::uint32_t most = 0;
    for (auto at = entries.begin(); at != entries.end();) {
      const std::size_t part = part_of(at->key);
      Block block;
      const auto end = std::find_if(at, entries.end(),
                                    [&](const auto& entry) { return part_of(entry.key) != part; });
      block.reserve(static_cast<std::size_t>(end - at) * kEntry<Key>);
      for (; at != end; ++at) {
        if (!wants(at->count)) continue;
        most = std::max(most, at->count);
        put(block, at->key);
        put(block, at->count);
      }
      if (!block.empty()) parts_.append(part, std::move(block));
    }
    note_count(most);
  }
  // Sorts each part, and writes all in order. `are_sorted`: the parts are in order already.
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
                std::vector<Counted<Key>> entries;
                entries.reserve(static_cast<std::size_t>(first[part + 1] - first[part]));
                parts_.take(part, [&](const char* block, std::size_t size) {
                  for (std::size_t at = 0; at < size; at += kEntry<Key>) {
                    Counted<Key> entry;
                    std::memcpy(&entry.key, block + at, sizeof entry.key);
                    std::memcpy(&entry.count, block + at + sizeof entry.key, sizeof entry.count);
                    entries.push_back(entry);
                  }
                });
                std::vector<Counted<Key>> spare;
                if (!are_sorted) radix_sort(entries, spare, 2 * (settings_.k - bases_));
                writer.write(first[part], entries.data(), entries.size());
              });
    return writer.finish(TaskContext(control));
  }

 private:
  template <class Key>
  std::size_t part_of(Key key) const {
    return static_cast<std::size_t>(key >> (2 * (settings_.k - bases_)));
  }
  template <class Value>
  static void put(Block& block, Value value) {
    const auto* const bytes = reinterpret_cast<const char*>(&value);
    block.insert(block.end(), bytes, bytes + sizeof value);
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
