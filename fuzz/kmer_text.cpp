// Fuzzes lists of k-mers and counts: a slow, plain reader agrees, in values or in failing.
#include <map>
#include <sstream>

#include "core/io/text.h"
#include "core/kmers/queries.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string read(const std::string& path) {
  return outcome([&] {
    KmerWork work;
    work.memory = 1 << 22;
    JobControl control;
    const KmerDatabase database = read_kmer_text(path, false, work, control);
    std::string table = "k-mers\n";
    for (const KmerRow& row : kmer_rows(database, database.header().size, TaskContext())) {
      table += row.text + " " + std::to_string(row.count) + "\n";
    }
    return table;
  });
}

std::string read_slowly(const std::string& text) {
  std::map<std::string, std::int64_t> counts;
  std::istringstream lines(text);
  std::size_t k = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line.substr(0, line.find_last_not_of(" \t\r") + 1));
    if (words.size() != 2) return {};
    if (k == 0) k = words[0].size();
    std::string kmer = words[0];
    for (char& c : kmer) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto count = parse_whole_number(words[1]);
    const bool is_kmer =
        kmer.size() == k && k <= kMostK && kmer.find_first_not_of("ACGT") == kmer.npos;
    if (!is_kmer || !count || *count < 1 || *count > kMostCount) return {};
    if (!counts.emplace(kmer, *count).second) return {};
  }
  std::string table = "k-mers\n";
  for (const auto& [kmer, count] : counts) table += kmer + " " + std::to_string(count) + "\n";
  return table;
}

}  // namespace

void check(std::string_view input) {
  const std::string found = read(as_file(input));
  if (const auto text = text_to_read(input, found)) {
    if (text->empty()) return require(is_error(found), "an empty list is read");
    require_equal(is_error(found) ? "" : found, read_slowly(*text), "k-mers and the slow way");
  }
}

}  // namespace ancify::fuzz
