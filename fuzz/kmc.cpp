// Fuzzes KMC's databases: a slow, plain reader finds the same k-mers, or an error too.
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/kmers/kmc_files.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

// The stem of a database in memory: two links to files without a name.
const std::string& as_database(std::string_view prefixes, std::string_view suffixes) {
  static MemoryFile prefix_file;
  static MemoryFile suffix_file;
  static const std::string stem = [] {
    char folder[] = "/tmp/fuzz-kmc-XXXXXX";
    if (mkdtemp(folder) == nullptr) std::abort();
    return std::string(folder) + "/x";
  }();
  const auto link_to = [](const std::string& path, const std::string& link) {
    unlink(link.c_str());
    if (symlink(path.c_str(), link.c_str()) != 0) std::abort();
  };
  link_to(prefix_file.write(prefixes), stem + ".kmc_pre");
  link_to(suffix_file.write(suffixes), stem + ".kmc_suf");
  return stem;
}

std::string read(const std::string& stem) {
  return outcome([&] {
    const KmerDatabase database = KmerDatabase::open(stem);
    std::string rows;
    with_key(database.header().k, [&](auto key) {
      for (KmerCursor<decltype(key)> at(database); at.valid(); at.next()) {
        rows += key_text(at.key(), database.header().k) + " " + std::to_string(at.count()) + "\n";
      }
    });
    return rows;
  });
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t n) {
  std::uint64_t number = 0;
  for (std::size_t i = n; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// The rows of a database that was read without an error. A database in bins has a longer header,
// and its rows are sorted here.
std::string read_slowly(std::string_view prefixes, std::string_view suffixes) {
  const bool in_bins = number_at(prefixes, prefixes.size() - 12, 4) != 0;
  const std::size_t header = prefixes.size() - (in_bins ? 76 : 72);
  const std::size_t size_at = header + (in_bins ? 28 : 24);
  const std::size_t k = number_at(prefixes, header, 4);
  const std::size_t count_bytes = number_at(prefixes, header + 8, 4);
  const std::size_t p = number_at(prefixes, header + 12, 4);
  const std::size_t n = number_at(prefixes, size_at, 8);
  const std::size_t suffix = (k - p) / 4;
  const std::size_t map =
      in_bins ? 8 + 4 * ((std::size_t{1} << 2 * number_at(prefixes, header + 16, 4)) + 1) : 0;
  const std::size_t starts = (header - map - 4) / 8;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t prefix = starts;
    while (number_at(prefixes, 4 + 8 * (prefix - 1), 8) > i) --prefix;
    prefix = (prefix - 1) % (std::size_t{1} << (2 * p));
    std::string row;
    for (std::size_t j = p; j-- > 0;) row += "ACGT"[prefix >> (2 * j) & 3];
    const std::size_t at = 4 + i * (suffix + count_bytes);
    for (std::size_t j = 0; j < 4 * suffix; ++j) {
      row += "ACGT"[static_cast<unsigned char>(suffixes[at + j / 4]) >> (6 - 2 * (j % 4)) & 3];
    }
    const std::uint64_t count =
        count_bytes == 0 ? 1 : number_at(suffixes, at + suffix, count_bytes);
    rows.push_back(row + " " + std::to_string(std::min<std::uint64_t>(count, 0xffffffff)) + "\n");
  }
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const std::string& row : rows) text += row;
  return text;
}

}  // namespace

// The first byte is the length of the second file, in bytes.
void check(std::string_view input) {
  if (input.empty()) return;
  const std::size_t suffixes =
      std::min<std::size_t>(static_cast<unsigned char>(input[0]), input.size() - 1);
  const std::string_view second = input.substr(input.size() - suffixes);
  const std::string_view first = input.substr(1, input.size() - 1 - suffixes);
  const std::string rows = read(as_database(first, second));
  if (!is_error(rows)) require_equal(rows, read_slowly(first, second), "k-mers and the slow way");
}

}  // namespace ancify::fuzz
