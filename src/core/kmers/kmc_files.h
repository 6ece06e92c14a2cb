// Databases of k-mers: KMC's sorted files, and the same bytes in memory.
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

namespace ancify {

// What a database says of itself.
struct KmerHeader {
  int k = 0;
  bool canonical = true;
  int count_bytes = 1;
  int prefix = 1;  // bases that the table of starts has; the others are a record's
  std::uint32_t min_count = 1;
  std::uint32_t max_count = kMostCount;
  std::uint64_t size = 0;  // k-mers

  std::size_t suffix_bytes() const { return static_cast<std::size_t>(k - prefix) / 4; }
  std::size_t record_bytes() const {
    return suffix_bytes() + static_cast<std::size_t>(count_bytes);
  }
};

// The prefix of databases that are written here. k less it is a multiple of four.
int prefix_length(int k);
// The bytes that hold a count.
int bytes_of_count(std::uint32_t count);

// A database that is open. Any number of threads may read it at once.
class KmerDatabase {
 public:
  // Opens <stem>.kmc_pre and <stem>.kmc_suf. FormatError if they are damaged, or not sorted.
  static KmerDatabase open(const std::string& stem, const InputIdentities& inputs = {});
  // A database in memory. `starts`: of each prefix, and the end. `records`: with kSlack bytes more.
  KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts, std::vector<char> records);

  const KmerHeader& header() const { return header_; }
  // The numbers of the first k-mers of each prefix, and the end.
  const std::vector<std::uint64_t>& starts() const { return starts_; }
  // n records from `first` on: in memory, or read into `buffer`. They may be read beyond by kSlack
  // bytes.
  const char* records(std::uint64_t first, std::size_t n, std::vector<char>& buffer) const;
  static constexpr std::size_t kSlack = 16;
  // FormatError of the records' file.
  [[noreturn]] void fail(const std::string& problem) const;
  // FileError if the files have changed.
  void check_unchanged() const;

 private:
  KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts, InputFile file)
      : header_(header), starts_(std::move(starts)), file_(std::move(file)) {}

  KmerHeader header_;
  std::vector<std::uint64_t> starts_;
  std::vector<char> records_;
  std::optional<InputFile> file_;
};

// Reads the k-mers of a range in order.
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

  // Whether there is a k-mer at the cursor.
  bool valid() const { return now_ != last_; }
  Key key() const { return now_->key; }
  std::uint32_t count() const { return now_->count; }
  const Counted<Key>& entry() const { return *now_; }
  // Goes to the next k-mer. FormatError if those that follow are not in order.
  void next() { go_to(now_ + 1); }

  // The k-mers that were read ahead, from the cursor's on.
  static constexpr std::size_t kAhead = 1 << 12;
  const Counted<Key>* begin() const { return now_; }
  const Counted<Key>* end() const { return last_; }
  // Goes to one of them, or to their end. FormatError as above.
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
    read();
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
    const KmerHeader& header = database_.header();
    const std::size_t suffix = header.suffix_bytes();
    const std::uint32_t count_mask = kMostCount >> (32 - 8 * header.count_bytes);
    const char* record = database_.records(at_, entries_.size(), buffer_);
    for (Counted<Key>& entry : entries_) {
      // prefix_ is one above the prefix of the k-mer.
      while (database_.starts()[prefix_] <= at_) ++prefix_;
      std::uint32_t count;
      std::memcpy(&count, record + suffix, sizeof count);
      entry.key = prefix_ - 1;
      if (suffix > 0) {
        entry.key = entry.key << (8 * suffix) | first_bases<Key>(record, 4 * suffix);
      }
      entry.count = count & count_mask;
      record += header.record_bytes();
      ++at_;
    }
  }

  const KmerDatabase& database_;
  std::uint64_t at_;  // the k-mer behind those that were read
  std::uint64_t end_;
  std::size_t prefix_ = 0;
  std::vector<char> buffer_;
  std::vector<Counted<Key>> entries_;
  const Counted<Key>* now_ = nullptr;
  const Counted<Key>* last_ = nullptr;
};

// Writes a database: to <stem>.kmc_pre and <stem>.kmc_suf, or, if `stem` is empty, in memory.
class KmerWriter {
 public:
  // `header` must have the number of k-mers. FileError if there is no room for them.
  KmerWriter(const KmerHeader& header, const std::string& stem);
  // Writes n k-mers, the first of which has the number `first`. Threads may write at once if no
  // prefix is in the k-mers of two.
  template <class Key>
  void write(std::uint64_t first, const Counted<Key>* entries, std::size_t n);
  // Once all are written. The files appear both or not at all. Returns the open database.
  KmerDatabase finish(const TaskContext& context);

 private:
  void put(std::uint64_t first, const std::vector<char>& bytes);
  std::string prefix_file() const;

  KmerHeader header_;
  std::string stem_;
  std::vector<std::uint64_t> starts_;  // k-mers of each prefix, until finish()
  std::vector<char> records_;          // in memory
  std::optional<OutputFile> suffixes_;
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
  // K-mers of a prefix are neighbours: they are counted in a register. No other thread has them.
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
