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
      : database_(database), header_(database.header()), at_(first), end_(end) {
    const auto& starts = database.starts();
    prefix_ = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), first) -
                                       starts.begin());
    next();
  }
  explicit KmerCursor(const KmerDatabase& database)
      : KmerCursor(database, 0, database.header().size) {}

  // Whether there is a k-mer at the cursor.
  bool valid() const { return valid_; }
  Key key() const { return now_.key; }
  std::uint32_t count() const { return now_.count; }
  const Counted<Key>& entry() const { return now_; }
  // Goes to the next k-mer. FormatError if it is not behind the one before.
  void next() {
    if (at_ == end_) {
      valid_ = false;
      return;
    }
    if (left_ == 0) fill();
    // prefix_ is one above the prefix of the k-mer.
    while (database_.starts()[prefix_] <= at_) ++prefix_;
    const Key key = (static_cast<Key>(prefix_ - 1) << (8 * suffix_)) | suffix();
    if (valid_ && key <= now_.key) database_.fail("the k-mers are not in order");
    std::uint32_t count;
    std::memcpy(&count, record_ + suffix_, sizeof count);
    now_ = {key, count & count_mask_};
    if (now_.count == 0) database_.fail("a k-mer has the count 0");
    valid_ = true;
    record_ += header_.record_bytes();
    --left_;
    ++at_;
  }

 private:
  void fill() {
    constexpr std::uint64_t most = 1 << 15;
    left_ = static_cast<std::size_t>(std::min(end_ - at_, most));
    record_ = database_.records(at_, left_, buffer_);
  }
  Key suffix() const {
    if (suffix_ == 0) return 0;
    if constexpr (sizeof(Key) == sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, record_, sizeof word);
      return __builtin_bswap64(word) >> (64 - 8 * suffix_);
    } else {
      Key key = 0;
      for (std::size_t i = 0; i < suffix_; ++i) {
        key = key << 8 | static_cast<std::uint8_t>(record_[i]);
      }
      return key;
    }
  }

  const KmerDatabase& database_;
  const KmerHeader header_;
  const std::size_t suffix_ = header_.suffix_bytes();
  const std::uint32_t count_mask_ = kMostCount >>
                                    (32 - 8 * static_cast<unsigned>(header_.count_bytes));
  std::uint64_t at_;
  std::uint64_t end_;
  std::size_t prefix_ = 0;
  std::vector<char> buffer_;
  const char* record_ = nullptr;
  std::size_t left_ = 0;  // records in the buffer
  Counted<Key> now_{};
  bool valid_ = false;
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
  const std::size_t suffix = header_.suffix_bytes();
  std::vector<char> bytes(n * header_.record_bytes());
  char* to = bytes.data();
  for (std::size_t i = 0; i < n; ++i) {
    const auto [key, count] = entries[i];
    ++starts_[static_cast<std::size_t>(suffix == 0 ? key : key >> (8 * suffix))];
    for (std::size_t j = suffix; j-- > 0;) *to++ = static_cast<char>(key >> (8 * j));
    for (int j = 0; j < header_.count_bytes; ++j) *to++ = static_cast<char>(count >> (8 * j));
  }
  put(first, bytes);
}

}  // namespace ancify
