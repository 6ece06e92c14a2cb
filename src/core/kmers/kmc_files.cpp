// Reads and writes the files of a KMC database that is sorted.
#include "core/kmers/kmc_files.h"

#include <string_view>
#include <utility>

namespace ancify {

namespace {

constexpr std::string_view kPrefixMark = "KMCP";
constexpr std::string_view kSuffixMark = "KMCS";
constexpr std::size_t kMark = 4;
constexpr std::size_t kHeader = 64;  // bytes, with the version at their end
constexpr std::size_t kVersionAt = kHeader - 4;
constexpr int kMostPrefix = 12;  // a table of 4^12 starts has 128 MB
constexpr std::uint32_t kUnsortedVersion = 0x200;

std::string prefix_path(const std::string& stem) { return stem + ".kmc_pre"; }
std::string suffix_path(const std::string& stem) { return stem + ".kmc_suf"; }

// Numbers have their low byte first.
template <class Number>
void put_number(char* at, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) at[i] = static_cast<char>(number >> (8 * i));
}
template <class Number>
Number get_number(const char* at) {
  Number number = 0;
  for (std::size_t i = sizeof number; i-- > 0;) {
    number = static_cast<Number>(number << 8 | static_cast<std::uint8_t>(at[i]));
  }
  return number;
}

// ---- The header ------------------------------------------------------------------------------

enum HeaderOffset : std::size_t {
  kKAt = 0,
  kModeAt = 4,
  kCountBytesAt = 8,
  kPrefixAt = 12,
  kMinAt = 16,
  kMaxAt = 20,
  kSizeAt = 24,
  kOneStrandAt = 32
};

std::string header_bytes(const KmerHeader& header) {
  std::string bytes(kHeader, '\0');
  put_number(&bytes[kKAt], static_cast<std::uint32_t>(header.k));
  put_number(&bytes[kCountBytesAt], static_cast<std::uint32_t>(header.count_bytes));
  put_number(&bytes[kPrefixAt], static_cast<std::uint32_t>(header.prefix));
  put_number(&bytes[kMinAt], header.min_count);
  put_number(&bytes[kMaxAt], header.max_count);
  put_number(&bytes[kSizeAt], header.size);
  bytes[kOneStrandAt] = header.canonical ? 0 : 1;
  return bytes;
}

// Throws unless a value of the header is within its bounds.
std::uint32_t checked(std::uint32_t value, std::uint32_t least, std::uint32_t most,
                      const char* what, const std::string& path) {
  if (value < least || value > most) {
    throw FormatError(path, 0,
                      std::string("its ") + what + " is " + std::to_string(value) + ", but only " +
                          std::to_string(least) + " to " + std::to_string(most) + " can be read");
  }
  return value;
}

KmerHeader parse_header(const char* bytes, const std::string& path) {
  const auto number = [&](std::size_t at) { return get_number<std::uint32_t>(bytes + at); };
  KmerHeader header;
  header.k = static_cast<int>(checked(number(kKAt), 1, kMostK, "k", path));
  if (number(kModeAt) != 0) {
    throw FormatError(path, 0, "its k-mers have qualities: count them without KMC's option -q");
  }
  header.count_bytes = static_cast<int>(
      checked(number(kCountBytesAt), 1, sizeof(std::uint32_t), "number of bytes of a count", path));
  const auto most = static_cast<std::uint32_t>(std::min(header.k, kMostPrefix));
  header.prefix = static_cast<int>(checked(number(kPrefixAt), 1, most, "prefix length", path));
  if ((header.k - header.prefix) % 4 != 0) {
    throw FormatError(path, 0, "its k and prefix length do not differ by a multiple of 4");
  }
  header.min_count = number(kMinAt);
  header.max_count = number(kMaxAt);
  header.size = get_number<std::uint64_t>(bytes + kSizeAt);
  header.canonical = bytes[kOneStrandAt] == 0;
  return header;
}

std::int64_t prefix_file_size(const KmerHeader& header) {
  const auto starts = std::int64_t{1} << (2 * header.prefix);
  return static_cast<std::int64_t>(kMark + kHeader + 4 + kMark) + 8 * starts;
}

// The bytes of a file at `offset`, from its end if it is negative.
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

KmerHeader read_header(const InputFile& file) {
  constexpr auto end = static_cast<std::int64_t>(kHeader + 4 + kMark);
  check_marks(file, kPrefixMark, static_cast<std::size_t>(end) + kMark);
  const std::string bytes = bytes_at(file, -end, kHeader + 4);
  const auto version = get_number<std::uint32_t>(bytes.data() + kVersionAt);
  if (version == kUnsortedVersion) {
    throw FormatError(file.path(), 0,
                      "the database is not sorted. Sort it with: kmc_tools transform <name> sort "
                      "<new name>");
  }
  if (version != 0 || get_number<std::uint32_t>(bytes.data() + kHeader) != kHeader) {
    throw_damaged(file.path(), "the header is not one of a sorted KMC database");
  }
  const KmerHeader header = parse_header(bytes.data(), file.path());
  if (file.size() != prefix_file_size(header)) {
    throw_damaged(file.path(), "the file has " + std::to_string(file.size()) + " bytes, not " +
                                   std::to_string(prefix_file_size(header)));
  }
  return header;
}

std::vector<std::uint64_t> read_starts(const InputFile& file, const KmerHeader& header) {
  std::vector<std::uint64_t> starts(std::size_t{1} << (2 * header.prefix));
  file.read_at(reinterpret_cast<char*>(starts.data()), 8 * starts.size(), kMark);
  starts.push_back(header.size);
  if (starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end())) {
    throw_damaged(file.path(), "the numbers of its prefixes are not in order");
  }
  return starts;
}

}  // namespace

int prefix_length(int k) {
  if (k <= 4) return k;
  // A prefix of five bases or more where k-mers are sorted by their first five.
  return (k - 1) % 4 + (k <= 8 ? 1 : 5);
}

int bytes_of_count(std::uint32_t count) {
  int bytes = 1;
  while (count >>= 8) ++bytes;
  return bytes;
}

// ---- Reading -----------------------------------------------------------------------------------

KmerDatabase KmerDatabase::open(const std::string& stem, const InputIdentities& inputs) {
  const InputFile prefixes(prefix_path(stem), inputs);
  const KmerHeader header = read_header(prefixes);
  auto starts = read_starts(prefixes, header);
  InputFile suffixes(suffix_path(stem), inputs);
  check_marks(suffixes, kSuffixMark, 2 * kMark);
  const auto size = static_cast<std::uint64_t>(suffixes.size()) - 2 * kMark;
  if (size % header.record_bytes() != 0 || size / header.record_bytes() != header.size) {
    throw_damaged(suffixes.path(), "the file has no room for " + std::to_string(header.size) +
                                       " k-mers of " + std::to_string(header.record_bytes()) +
                                       " bytes");
  }
  prefixes.check_unchanged();
  return {header, std::move(starts), std::move(suffixes)};
}

KmerDatabase::KmerDatabase(KmerHeader header, std::vector<std::uint64_t> starts,
                           std::vector<char> records)
    : header_(header), starts_(std::move(starts)), records_(std::move(records)) {}

const char* KmerDatabase::records(std::uint64_t first, std::size_t n,
                                  std::vector<char>& buffer) const {
  const std::size_t size = header_.record_bytes();
  if (!file_) return records_.data() + first * size;
  buffer.resize(n * size + kSlack);
  file_->read_at(buffer.data(), n * size, static_cast<std::int64_t>(kMark + first * size));
  return buffer.data();
}

void KmerDatabase::fail(const std::string& problem) const {
  throw_damaged(file_ ? file_->path() : "memory", problem);
}

void KmerDatabase::check_unchanged() const {
  if (file_) file_->check_unchanged();
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
  for (std::size_t i = 0; i < starts_.size(); ++i) put_number(&bytes[kMark + 8 * i], starts_[i]);
  bytes += header_bytes(header_);
  std::string length(4, '\0');
  put_number(&length[0], static_cast<std::uint32_t>(kHeader));
  return bytes.append(length).append(kPrefixMark);
}

KmerDatabase KmerWriter::finish(const TaskContext& context) {
  std::uint64_t sum = 0;
  for (std::uint64_t& start : starts_) sum += std::exchange(start, sum);
  if (!suffixes_) {
    starts_.push_back(sum);
    return {header_, std::move(starts_), std::move(records_)};
  }
  suffixes_->write_at(kSuffixMark.data(), kMark, 0);
  suffixes_->write_at(kSuffixMark.data(), kMark, suffixes_->size() - std::int64_t{kMark});
  const std::string bytes = prefix_file();
  OutputFile prefixes(prefix_path(stem_), static_cast<std::int64_t>(bytes.size()));
  prefixes.write_at(bytes.data(), bytes.size(), 0);
  for (OutputFile* file : {&prefixes, &*suffixes_}) file->sync(context);
  for (OutputFile* file : {&prefixes, &*suffixes_}) file->prepare();
  suffixes_->commit();
  try {
    prefixes.commit();
  } catch (...) {
    remove_file(suffix_path(stem_));
    throw;
  }
  return KmerDatabase::open(stem_);
}

}  // namespace ancify
