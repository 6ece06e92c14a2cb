// Reads the files of KMC databases, and writes sorted ones.
#include "core/kmers/kmc_files.h"

#include <string_view>
#include <utility>

#include "core/io/file_set.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

constexpr std::string_view kPrefixMark = "KMCP";
constexpr std::string_view kSuffixMark = "KMCS";
constexpr std::size_t kMark = 4;
constexpr std::size_t kHeader = 64;       // bytes; the version is at the end
constexpr std::size_t kLongest = 68;      // in a database in bins: also the signatures' length
constexpr std::size_t kTail = 4 + kMark;  // after the header: its length and the mark
constexpr int kMostPrefix = 15;           // KMC's maximum; the file holds the table's size
constexpr std::uint32_t kSorted = 0;      // versions
constexpr std::uint32_t kInBins = 0x200;

std::string prefix_path(const std::string& stem) { return stem + ".kmc_pre"; }
std::string suffix_path(const std::string& stem) { return stem + ".kmc_suf"; }

// ---- The header ------------------------------------------------------------------------------

// Offsets in a sorted database's header. In a database in bins, values from kMinAt on follow
// kSignatureBytes later.
enum HeaderOffset : std::size_t {
  kKAt = 0,
  kModeAt = 4,
  kCountBytesAt = 8,
  kPrefixAt = 12,
  kSignatureAt = 16,
  kMinAt = 16,
  kMaxAt = 20,
  kSizeAt = 24,
  kOneStrandAt = 32,
  kMaxHighAt = 33  // the high half of the largest count, in a sorted database
};
constexpr std::size_t kSignatureBytes = 4;

std::string header_bytes(const KmerHeader& header) {
  std::string bytes(kHeader, '\0');
  put_little_endian(static_cast<std::uint32_t>(header.k), &bytes[kKAt]);
  put_little_endian(static_cast<std::uint32_t>(header.count_bytes), &bytes[kCountBytesAt]);
  put_little_endian(static_cast<std::uint32_t>(header.prefix), &bytes[kPrefixAt]);
  put_little_endian(header.min_count, &bytes[kMinAt]);
  put_little_endian(header.max_count, &bytes[kMaxAt]);
  put_little_endian(header.size, &bytes[kSizeAt]);
  bytes[kOneStrandAt] = header.canonical ? 0 : 1;
  return bytes;
}

// Throws if a value of the header is out of bounds.
std::uint32_t checked(std::uint32_t value, std::uint32_t least, std::uint32_t most,
                      const char* what, const std::string& path) {
  if (value < least || value > most) {
    throw FormatError(path, 0,
                      std::string("its ") + what + " is " + std::to_string(value) + ", but only " +
                          std::to_string(least) + " to " + std::to_string(most) + " can be read");
  }
  return value;
}

// The layout that <stem>.kmc_pre declares.
struct PrefixFile {
  KmerHeader header;
  int signature = 0;     // bases of the signatures that choose bins; 0: sorted
  std::size_t bins = 0;  // 0: sorted

  std::size_t header_size() const { return signature > 0 ? kLongest : kHeader; }
  // The number of consecutive tables of starts.
  std::uint64_t tables() const { return std::max<std::uint64_t>(bins, 1); }
  std::uint64_t starts_of_table() const { return std::uint64_t{1} << (2 * header.prefix); }
  // Bytes other than starts. In bins, one integer and the bin of each signature follow all starts.
  std::uint64_t other_bytes() const {
    const std::uint64_t map =
        signature > 0 ? 8 + 4 * ((std::uint64_t{1} << (2 * signature)) + 1) : 0;
    return kMark + map + header_size() + kTail;
  }
};

PrefixFile parse_header(const char* bytes, bool in_bins, const std::string& path) {
  const std::size_t later = in_bins ? kSignatureBytes : 0;
  const auto number = [&](std::size_t at) { return little_endian<std::uint32_t>(bytes + at); };
  PrefixFile file;
  KmerHeader& header = file.header;
  header.k = static_cast<int>(checked(number(kKAt), 1, kMostK, "k", path));
  if (number(kModeAt) != 0) {
    throw FormatError(path, 0, "its k-mers have qualities: count them without KMC's option -q");
  }
  header.count_bytes = static_cast<int>(
      checked(number(kCountBytesAt), 0, sizeof(std::uint64_t), "number of bytes of a count", path));
  const auto most = static_cast<std::uint32_t>(std::min(header.k, kMostPrefix));
  header.prefix = static_cast<int>(checked(number(kPrefixAt), 1, most, "prefix length", path));
  if ((header.k - header.prefix) % 4 != 0) {
    throw FormatError(path, 0, "its k and prefix length do not differ by a multiple of 4");
  }
  if (in_bins) {
    file.signature =
        static_cast<int>(checked(number(kSignatureAt), 1, 11, "length of signatures", path));
  }
  header.min_count = number(kMinAt + later);
  header.max_count = number(kMaxAt + later);
  if (!in_bins && number(kMaxHighAt) > 0) header.max_count = kMostCount;
  header.size = little_endian<std::uint64_t>(bytes + kSizeAt + later);
  header.canonical = bytes[kOneStrandAt + later] == 0;
  return file;
}

// Bytes of a file at `offset`; a negative one counts from the end.
std::string bytes_at(const InputFile& file, std::int64_t offset, std::size_t n) {
  std::string bytes(n, '\0');
  file.read_at(&bytes[0], n, offset < 0 ? file.size() + offset : offset);
  return bytes;
}

[[noreturn]] void throw_damaged(const std::string& path, const std::string& problem) {
  throw FormatError(path, 0, problem + ". Copy or count the database again");
}

void check_marks(const InputFile& file, std::string_view mark, std::size_t least) {
  const auto n = static_cast<std::int64_t>(kMark);
  if (file.size() < static_cast<std::int64_t>(least) || bytes_at(file, 0, kMark) != mark) {
    throw FormatError(file.path(), 0, "it is not a file of a KMC database");
  }
  if (bytes_at(file, -n, kMark) != mark) throw_damaged(file.path(), "the file was cut short");
}

PrefixFile read_header(const InputFile& file) {
  check_marks(file, kPrefixMark, kMark + kHeader + kTail);
  const auto end = static_cast<std::int64_t>(kLongest + kTail);
  const std::string bytes = bytes_at(file, -end, kLongest + kTail);
  const auto version = little_endian<std::uint32_t>(bytes.data() + kLongest - 4);
  const auto length = little_endian<std::uint32_t>(bytes.data() + kLongest);
  const bool in_bins = version == kInBins;
  if ((version != kSorted && !in_bins) || length != (in_bins ? kLongest : kHeader)) {
    throw_damaged(file.path(), "the header is not one of a KMC database");
  }
  PrefixFile found = parse_header(bytes.data() + kLongest - length, in_bins, file.path());
  const auto size = static_cast<std::uint64_t>(file.size());
  const std::uint64_t table = 8 * found.starts_of_table();
  const std::uint64_t others = found.other_bytes();
  const bool fits = size > others && (size - others) % table == 0;
  if (!fits || (!in_bins && size - others != table)) {
    throw_damaged(file.path(), "the file has " + std::to_string(size) + " bytes, not " +
                                   std::to_string(others + table));
  }
  if (in_bins) found.bins = static_cast<std::size_t>((size - others) / table);
  return found;
}

// The starts of each prefix in all bins together, and the end.
std::vector<std::uint64_t> read_starts(const InputFile& file, const PrefixFile& shape) {
  const auto prefixes = static_cast<std::size_t>(shape.starts_of_table());
  std::vector<std::uint64_t> starts(prefixes + 1);
  std::vector<std::uint64_t> table(prefixes + 1);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < shape.tables(); ++i) {
    const bool is_last = i + 1 == shape.tables();
    // Each table ends at the next one's start. A sorted database's table has no final entry.
    const std::size_t there = prefixes + (is_last && shape.bins == 0 ? 0 : 1);
    file.read_at(reinterpret_cast<char*>(table.data()), 8 * there,
                 static_cast<std::int64_t>(kMark + i * 8 * prefixes));
    if (is_last) table.back() = shape.header.size;
    if (table.front() != before || !std::is_sorted(table.begin(), table.end()) ||
        table.back() > shape.header.size) {
      throw_damaged(file.path(), "the numbers of its prefixes are not in order");
    }
    for (std::size_t j = 0; j < prefixes; ++j) starts[j + 1] += table[j + 1] - table[j];
    before = table.back();
  }
  for (std::size_t j = 0; j < prefixes; ++j) starts[j + 1] += starts[j];
  return starts;
}

}  // namespace

int prefix_length(int k) {
  if (k <= 4) return k;
  // Sorting goes by the first five bases, so a prefix has five or more.
  return (k - 1) % 4 + (k <= 8 ? 1 : 5);
}

int bytes_of_count(std::uint32_t count) {
  int bytes = 1;
  while (count >>= 8) ++bytes;
  return bytes;
}

// ---- Reading -----------------------------------------------------------------------------------

KmerDatabase KmerDatabase::open(const std::string& stem, const InputIdentities& inputs) {
  InputFile prefixes(prefix_path(stem), inputs);
  const PrefixFile shape = read_header(prefixes);
  auto starts = read_starts(prefixes, shape);
  InputFile suffixes(suffix_path(stem), inputs);
  check_marks(suffixes, kSuffixMark, 2 * kMark);
  const KmerHeader& header = shape.header;
  const auto size = static_cast<std::uint64_t>(suffixes.size()) - 2 * kMark;
  const std::uint64_t record = header.record_bytes();
  // If records hold neither bases nor counts, each prefix has at most one k-mer.
  const bool fits = record == 0 ? size == 0 && header.size <= shape.starts_of_table()
                                : size % record == 0 && size / record == header.size;
  if (!fits) {
    throw_damaged(suffixes.path(), "the file has no room for " + std::to_string(header.size) +
                                       " k-mers of " + std::to_string(record) + " bytes");
  }
  prefixes.check_unchanged();
  return {header, std::move(starts), shape.bins, std::move(prefixes), std::move(suffixes)};
}

KmerDatabase::KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts,
                           std::vector<char> records)
    : header_(header), starts_(std::move(starts)), records_(std::move(records)) {}

KmerDatabase::KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts, std::size_t bins,
                           InputFile prefixes, InputFile suffixes)
    : header_(header),
      starts_(std::move(starts)),
      bins_(bins),
      prefixes_(std::move(prefixes)),
      suffixes_(std::move(suffixes)) {}

void KmerDatabase::read_places(std::size_t bin, std::size_t first, std::size_t end,
                               std::vector<std::uint64_t>& places) const {
  places.resize(end - first + 1);
  const std::size_t at = bin * (starts_.size() - 1) + first;
  prefixes_->read_at(reinterpret_cast<char*>(places.data()), 8 * places.size(),
                     static_cast<std::int64_t>(kMark + 8 * at));
  if (bin + 1 == bins_ && end + 1 == starts_.size()) places.back() = header_.size;
  if (!std::is_sorted(places.begin(), places.end()) || places.back() > header_.size) {
    throw_damaged(prefixes_->path(), "the numbers of its prefixes are not in order");
  }
}

const char* KmerDatabase::records(std::uint64_t first, std::size_t n,
                                  std::vector<char>& buffer) const {
  const std::size_t size = header_.record_bytes();
  if (!suffixes_) return records_.data() + first * size;
  buffer.resize(n * size + kSlack);
  suffixes_->read_at(buffer.data(), n * size, static_cast<std::int64_t>(kMark + first * size));
  return buffer.data();
}

void KmerDatabase::fail(const std::string& problem) const {
  throw_damaged(suffixes_ ? suffixes_->path() : "memory", problem);
}

void KmerDatabase::check_unchanged() const {
  for (const auto* file : {&prefixes_, &suffixes_}) {
    if (*file) (*file)->check_unchanged();
  }
}

// ---- Writing -----------------------------------------------------------------------------------

KmerWriter::KmerWriter(const KmerHeader& header, const std::string& stem)
    : header_(header), stem_(stem), starts_(std::size_t{1} << (2 * header.prefix)) {
  const std::size_t bytes = header.size * header.record_bytes();
  if (stem.empty()) {
    records_.resize(bytes + KmerDatabase::kSlack);
  } else {
    suffixes_.emplace(suffix_path(stem), static_cast<std::int64_t>(bytes + 2 * kMark));
  }
}

void KmerWriter::put(std::uint64_t first, const std::vector<char>& bytes) {
  const std::uint64_t at = first * header_.record_bytes();
  if (suffixes_) {
    suffixes_->write_at(bytes.data(), bytes.size(), static_cast<std::int64_t>(kMark + at));
  } else {
    std::copy(bytes.begin(), bytes.end(), records_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

std::string KmerWriter::prefix_file() const {
  std::string bytes(kPrefixMark);
  bytes.resize(kMark + 8 * starts_.size());
  for (std::size_t i = 0; i < starts_.size(); ++i)
    put_little_endian(starts_[i], &bytes[kMark + 8 * i]);
  bytes += header_bytes(header_);
  std::string length(4, '\0');
  put_little_endian(static_cast<std::uint32_t>(kHeader), &length[0]);
  return bytes.append(length).append(kPrefixMark);
}

std::uint64_t KmerWriter::sum_starts() {
  std::uint64_t sum = 0;
  for (std::uint64_t& start : starts_) sum += std::exchange(start, sum);
  return sum;
}

KmerDatabase KmerWriter::finish(const TaskContext& context) {
  if (!suffixes_) {
    starts_.push_back(sum_starts());
    return {header_, std::move(starts_), std::move(records_)};
  }
  commit(context);
  InputIdentities written;
  for (const auto* file : {&prefixes_, &suffixes_}) written[(*file)->path()] = (*file)->identity();
  return KmerDatabase::open(stem_, written);
}

void KmerWriter::commit(const TaskContext& context) {
  sum_starts();
  suffixes_->write_at(kSuffixMark.data(), kMark, 0);
  suffixes_->write_at(kSuffixMark.data(), kMark, suffixes_->size() - std::int64_t{kMark});
  const std::string bytes = prefix_file();
  prefixes_.emplace(prefix_path(stem_), static_cast<std::int64_t>(bytes.size()));
  prefixes_->write_at(bytes.data(), bytes.size(), 0);
  commit_set({&*suffixes_, &*prefixes_}, true, context);
}

}  // namespace ancify
