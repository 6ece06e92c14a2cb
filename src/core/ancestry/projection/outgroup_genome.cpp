// Finds sequences of a 2bit genome by an alignment's names, and reads both of their strands.
#include "core/ancestry/projection/outgroup_genome.h"

#include "core/genome/complement.h"
#include "core/io/text.h"

namespace ancify {

std::string other_length(const char* says, std::string_view name, std::int64_t here,
                         const std::string& where, std::int64_t there) {
  return std::string(says) + " that " + excerpt(name) + " is " + std::to_string(here) +
         " bases long, but " + where + " says " + std::to_string(there) +
         ": use the genomes that were aligned";
}

std::string OutgroupGenome::choose(const char* says, std::string_view name, std::int64_t length) {
  const auto sequence = names_.find(name);
  if (!sequence) {
    return "the outgroup's genome '" + genome_.path() + "' has no sequence " + excerpt(name) +
           "; its first are " + quoted_list(genome_.names());
  }
  sequence_ = *sequence;
  length_ = genome_.length(sequence_);
  if (length == length_) return {};
  return other_length(says, name, length, "'" + genome_.path() + "'", length_);
}

void OutgroupGenome::read(bool minus, std::int64_t start, std::size_t n, std::string& row) {
  if (minus) {
    bases_.resize(n);
    genome_.read(sequence_, length_ - start - static_cast<std::int64_t>(n), n, bases_.data());
    reverse_complement(bases_, row);
  } else {
    row.resize(n);
    genome_.read(sequence_, start, n, row.data());
  }
}

}  // namespace ancify
