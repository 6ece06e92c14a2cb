// Chromosomes, their lengths and their names, which differ between files. Reads lengths from a
// table (a name and a length per line, as in UCSC's chrom.sizes or a .fai) or a 2bit genome, and
// tables of other names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

struct Chromosome {
  std::string name;
  std::int64_t length;
};

// Reads a plain or gzip table, or a 2bit file, in its order. Skips blank lines of a table, and
// lines that begin with #. Throws FormatError for a line without a name and a positive integer, a
// repeated name, or a name that cannot name a file. `chunk_size` is the number of bytes of text to
// read at a time.
std::vector<Chromosome> read_chromosome_lengths(const std::string& path,
                                                const TaskContext& context = TaskContext(),
                                                std::size_t chunk_size = 1 << 16);

struct ChromosomeAlias {
  std::string alias;
  std::size_t chromosome;  // its index
};

// Reads a plain or gzip table of other names, such as UCSC's chromAlias.txt. Each line has names of
// one sequence; lines without a name in `names`, and lines that begin with #, are skipped. A name
// shared by several chromosomes stands for none. Throws FormatError for a line with two of `names`,
// and if no line has one.
std::vector<ChromosomeAlias> read_chromosome_aliases(const std::string& path,
                                                     const std::vector<std::string>& names,
                                                     const TaskContext& context = TaskContext(),
                                                     std::size_t chunk_size = 1 << 16);

std::vector<std::string> names_of(const std::vector<Chromosome>& chromosomes);

// Other names that files may use for a chromosome: with or without a leading chr, and M or MT for
// mitochondria.
std::vector<std::string> other_spellings(const std::string& name);

// True if both names may denote one chromosome in files.
bool is_same_chromosome(const std::string& name, const std::string& other);

// The entry of a map or set with this name or, failing that, with another spelling of it.
template <class Map>
auto find_chromosome(Map& map, const std::string& name) {
  auto found = map.find(name);
  if (found != map.end()) return found;
  for (const auto& other : other_spellings(name)) {
    found = map.find(other);
    if (found != map.end()) break;
  }
  return found;
}

// Finds chromosomes by a file's names: first an identical name, then an alias, then another
// spelling.
class ChromosomeNames {
 public:
  explicit ChromosomeNames(const std::vector<std::string>& names,
                           const std::vector<ChromosomeAlias>& aliases = {});
  explicit ChromosomeNames(const std::vector<Chromosome>& chromosomes,
                           const std::vector<ChromosomeAlias>& aliases = {});
  ChromosomeNames(const ChromosomeNames&) = delete;
  ChromosomeNames(ChromosomeNames&&) = default;
  ChromosomeNames& operator=(const ChromosomeNames&) = delete;
  ChromosomeNames& operator=(ChromosomeNames&&) = default;
  ~ChromosomeNames() = default;
  // The chromosome's index; empty if the name is unknown.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  // The first chromosome added for a name is kept.
  void add(std::string name, std::size_t chromosome);

  std::deque<std::string> names_;
  // Views of names_, so that find() constructs no string.
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

}  // namespace ancify
