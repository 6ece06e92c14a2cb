// Reads a table of chromosomes: a name and a length per line, as in UCSC's chrom.sizes or a .fai.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Reads a plain or gzip table, in its order. Skips blank lines and lines that begin with #.
// FormatError for a line without a name and a positive whole number, for a name that comes twice,
// or for one that can't name a file. `chunk_size`: bytes of text to read at a time.
std::vector<Chromosome> read_chromosome_lengths(const std::string& path,
                                                const TaskContext& context = TaskContext(),
                                                std::size_t chunk_size = 1 << 16);

std::vector<std::string> names_of(const std::vector<Chromosome>& chromosomes);

// The name with a leading chr added or removed.
std::string with_other_prefix(const std::string& name);

// Finds chromosomes by the names of a file, which may differ by a leading chr. An identical name is
// preferred.
class ChromosomeNames {
 public:
  explicit ChromosomeNames(const std::vector<std::string>& names);
  explicit ChromosomeNames(const std::vector<Chromosome>& chromosomes);
  ChromosomeNames(const ChromosomeNames&) = delete;
  ChromosomeNames(ChromosomeNames&&) = default;
  ChromosomeNames& operator=(const ChromosomeNames&) = delete;
  ChromosomeNames& operator=(ChromosomeNames&&) = default;
  ~ChromosomeNames() = default;
  // The chromosome's number; none if there is no such name.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::vector<std::string> names_;  // as given, then with the other prefix
  // Views of names_, so that find() makes no string.
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

}  // namespace ancify
