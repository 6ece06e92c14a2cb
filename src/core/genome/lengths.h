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
// lines that begin with #. FormatError for a line without a name and a positive whole number, for a
// name that comes twice, or for one that can't name a file. `chunk_size`: bytes of text to read at
// a time.
std::vector<Chromosome> read_chromosome_lengths(const std::string& path,
                                                const TaskContext& context = TaskContext(),
                                                std::size_t chunk_size = 1 << 16);

struct ChromosomeAlias {
  std::string alias;
  std::size_t chromosome;  // its number
};

// Reads a plain or gzip table of other names, such as UCSC's chromAlias.txt. Each line has names of
// one sequence; lines without a name in `names`, and lines that begin with #, are passed over. A
// name that stands for several chromosomes stands for none. FormatError for a line with two of
// `names`, and if no line has one.
std::vector<ChromosomeAlias> read_chromosome_aliases(const std::string& path,
                                                     const std::vector<std::string>& names,
                                                     const TaskContext& context = TaskContext(),
                                                     std::size_t chunk_size = 1 << 16);

std::vector<std::string> names_of(const std::vector<Chromosome>& chromosomes);

// The name with a leading chr added or removed.
std::string with_other_prefix(const std::string& name);

// Finds chromosomes by the names of a file: an identical name, or else an alias, or else a name
// that differs by a leading chr.
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
  // The chromosome's number; none if there is no such name.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  // The first that is added for a name stays.
  void add(std::string name, std::size_t chromosome);

  std::deque<std::string> names_;
  // Views of names_, so that find() makes no string.
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

}  // namespace ancify
