// Databases of k-mers: KMC's files, sorted or in bins, and sorted records in memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/file.h"
#include "core/kmers/packing.h"
#include "core/kmers/sorted_counts.h"

namespace ancify {

// A database's header.
struct KmerHeader {
  int k = 0;
  bool canonical = true;
  int count_bytes = 1;  // per record, at most 8; 0: each count is 1
  int prefix = 1;       // bases indexed by the table of starts; records hold the others
  std::uint32_t min_count = 1;
  std::uint32_t max_count = kMostCount;
  std::uint64_t size = 0;  // k-mers

  std::size_t suffix_bytes() const { return static_cast<std::size_t>(k - prefix) / 4; }
  std::size_t record_bytes() const {
    return suffix_bytes() + static_cast<std::size_t>(count_bytes);
  }
};

// The prefix of written databases: k minus it is a multiple of four.
int prefix_length(int k);
// Bytes that a count needs.
int bytes_of_count(std::uint32_t count);

// An open database. Any number of threads may read it at once.
class KmerDatabase {
 public:
  // Opens <stem>.kmc_pre and <stem>.kmc_suf. FormatError if they are damaged.
  static KmerDatabase open(const std::string& stem, const InputIdentities& inputs = {});
  // A database in memory. `starts`: the start of each prefix, and the end. `records`: followed by
  // kSlack bytes.
  KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts, std::vector<char> records);

  const KmerHeader& header() const { return header_; }
  // Each prefix's index of its first k-mer, and the end.
  const std::vector<std::uint64_t>& starts() const { return starts_; }
  // The number of bins, each of which is sorted. 0: all records are sorted.
  std::size_t bins() const { return bins_; }
  // The first records of the prefixes from `first` to `end` in a bin: end - first + 1 indices.
  void read_places(std::size_t bin, std::size_t first, std::size_t end,
                   std::vector<std::uint64_t>& places) const;
  // n records from `first` on, in memory or read into `buffer`. kSlack bytes after them are
  // readable.
  const char* records(std::uint64_t first, std::size_t n, std::vector<char>& buffer) const;
  static constexpr std::size_t kSlack = 16;
  // Throws a FormatError that names the records' file.
  [[noreturn]] void fail(const std::string& problem) const;
  // FileError if the files have changed.
  void check_unchanged() const;

 private:
  KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts, std::size_t bins,
               InputFile prefixes, InputFile suffixes);

  KmerHeader header_;
  std::vector<std::uint64_t> starts_;
  std::size_t bins_ = 0;
  std::vector<char> records_;
  std::optional<InputFile> prefixes_;
  std::optional<InputFile> suffixes_;
};

// Reads the k-mers of a range in order. In a database in bins the range begins with a prefix.
template <class Key>
class KmerCursor {
 public:
  KmerCursor(const KmerDatabase& database, std::uint64_t first, std::uint64_t end)
      : database_(database), at_(first), end_(end) {
    const auto& starts = database.starts();
    prefix_ = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), first) -
                                       starts.begin());
    fill();
  }
  explicit KmerCursor(const KmerDatabase& database)
      : KmerCursor(database, 0, database.header().size) {}
  KmerCursor(const KmerCursor&) = delete;
  KmerCursor& operator=(const KmerCursor&) = delete;

  // False at the end.
  bool valid() const { return now_ != last_; }
  Key key() const { return now_->key; }
  std::uint32_t count() const { return now_->count; }
  const Counted<Key>& entry() const { return *now_; }
  // Moves to the next k-mer. FormatError if the following k-mers are not sorted.
  void next() { go_to(now_ + 1); }

  // The k-mers that were read ahead, from the cursor on.
  static constexpr std::size_t kAhead = 1 << 12;
  const Counted<Key>* begin() const { return now_; }
  const Counted<Key>* end() const { return last_; }
  // Moves to one of them, or to their end. FormatError as above.
  void go_to(const Counted<Key>* entry) {
    now_ = entry;
    if (now_ == last_) fill();
  }

 private:
  // Reads k-mers ahead.
  void fill() {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(end_ - at_, kAhead));
    const Key before = entries_.empty() ? 0 : entries_.back().key;
    const bool is_first = entries_.empty();
    entries_.resize(n);
    now_ = entries_.data();
    last_ = now_ + n;
    if (n == 0) return;
    if (database_.bins() > 0) {
      take_from_bins();
    } else {
      read();
    }
    bool in_order = is_first || before < now_->key;
    bool counted = now_->count > 0;
    for (std::size_t i = 1; i < n; ++i) {
      in_order &= entries_[i - 1].key < entries_[i].key;
      counted &= entries_[i].count > 0;
    }
    if (!counted) database_.fail("a k-mer has the count 0");
    if (!in_order) database_.fail("the k-mers are not in order");
  }

  void read() {
    const char* record = database_.records(at_, entries_.size(), buffer_);
    for (Counted<Key>& entry : entries_) {
      while (database_.starts()[prefix_] <= at_) ++prefix_;
      entry = parse(record, prefix_ - 1);
      record += database_.header().record_bytes();
      ++at_;
    }
  }

  void take_from_bins() {
    for (Counted<Key>& entry : entries_) {
      if (taken_ == sorted_.size()) read_bins();
      entry = sorted_[taken_++];
      ++at_;
    }
  }
  // Reads whole prefixes from all bins, and sorts their k-mers.
  void read_bins() {
    constexpr std::uint64_t at_once = 1 << 17;
    const auto& starts = database_.starts();
    while (starts[prefix_] <= at_) ++prefix_;
    const std::size_t first = prefix_ - 1;
    while (starts[prefix_] < end_ && starts[prefix_ + 1] - starts[first] <= at_once) ++prefix_;
    sorted_.clear();
    taken_ = 0;
    for (std::size_t bin = 0; bin < database_.bins(); ++bin) read_bin(bin, first, prefix_);
    if (sorted_.size() != starts[prefix_] - starts[first]) database_.fail("the file has changed");
    radix_sort(sorted_, spare_, 2 * database_.header().k);
  }
  void read_bin(std::size_t bin, std::size_t first, std::size_t end) {
    database_.read_places(bin, first, end, places_);
    const auto n = static_cast<std::size_t>(places_.back() - places_.front());
    if (n == 0) return;
    const char* record = database_.records(places_.front(), n, buffer_);
    for (std::size_t i = 0; i + 1 < places_.size(); ++i) {
      for (std::uint64_t at = places_[i]; at < places_[i + 1]; ++at) {
        sorted_.push_back(parse(record, first + i));
        record += database_.header().record_bytes();
      }
    }
  }

  Counted<Key> parse(const char* record, std::size_t prefix) const {
    const KmerHeader& header = database_.header();
    const std::size_t suffix = header.suffix_bytes();
    Key key = prefix;
    if (suffix > 0) key = key << (8 * suffix) | first_bases<Key>(record, 4 * suffix);
    if (header.count_bytes == 0) return {key, 1};
    std::uint64_t count;
    std::memcpy(&count, record + suffix, sizeof count);
    return {key, saturated(count & (~std::uint64_t{0} >> (64 - 8 * header.count_bytes)))};
  }

  const KmerDatabase& database_;
  std::uint64_t at_;  // the first k-mer not yet read
  std::uint64_t end_;
  std::size_t prefix_ = 0;  // one above the last read k-mer's
  std::vector<char> buffer_;
  std::vector<Counted<Key>> entries_;
  const Counted<Key>* now_ = nullptr;
  const Counted<Key>* last_ = nullptr;
  // In a database in bins: the k-mers of some prefixes, and the number taken.
  std::vector<Counted<Key>> sorted_;
  std::vector<Counted<Key>> spare_;
  std::vector<std::uint64_t> places_;
  std::size_t taken_ = 0;
};

// Writes a database to <stem>.kmc_pre and <stem>.kmc_suf or, if `stem` is empty, to memory.
class KmerWriter {
 public:
  // `header` must give the number of k-mers. FileError if they do not fit.
  KmerWriter(const KmerHeader& header, const std::string& stem);
  // Writes n k-mers from index `first` on. Threads may write at once if they share no prefix.
  template <class Key>
  void write(std::uint64_t first, const Counted<Key>* entries, std::size_t n);
  // Call it after all k-mers were written. Returns the open database. FileError if another writer
  // has replaced it.
  KmerDatabase finish(const TaskContext& context);
  // Like finish(), but leaves the files closed. They appear as by commit_set(), with <stem>.kmc_pre
  // as the key.
  void commit(const TaskContext& context);

 private:
  void put(std::uint64_t first, const std::vector<char>& bytes);
  std::string prefix_file() const;
  // Replaces the number of k-mers of each prefix by its start; returns the end.
  std::uint64_t sum_starts();

  KmerHeader header_;
  std::string stem_;
  std::vector<std::uint64_t> starts_;  // k-mers of each prefix, until finish()
  std::vector<char> records_;          // in memory
  std::optional<OutputFile> suffixes_;
  std::optional<OutputFile> prefixes_;  // from commit() on
};

template <class Key>
void KmerWriter::write(std::uint64_t first, const Counted<Key>* entries, std::size_t n) {
  if (n == 0) return;
  const std::size_t suffix = header_.suffix_bytes();
  std::vector<char> bytes(n * header_.record_bytes() + KmerDatabase::kSlack);
  char* to = bytes.data();
  const auto prefix_of = [&](Key key) {
    return static_cast<std::size_t>(suffix > 0 ? key >> (8 * suffix) : key);
  };
  // A prefix's k-mers are adjacent and belong to one thread, so a register counts them.
  std::size_t prefix = prefix_of(entries->key);
  std::uint64_t with_prefix = 0;
  for (const Counted<Key>* entry = entries; entry != entries + n; ++entry) {
    if (prefix_of(entry->key) != prefix) {
      starts_[prefix] += std::exchange(with_prefix, 0);
      prefix = prefix_of(entry->key);
    }
    ++with_prefix;
    if (suffix > 0) put_bases(to, entry->key, 4 * suffix);
    std::memcpy(to + suffix, &entry->count, sizeof entry->count);
    to += header_.record_bytes();
  }
  starts_[prefix] += with_prefix;
  bytes.resize(n * header_.record_bytes());
  put(first, bytes);
}

}  // namespace ancify
