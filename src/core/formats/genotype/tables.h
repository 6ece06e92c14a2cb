// The tables that accompany genotypes (.fam, .psam, .bim, .pvar), and tables of samples' values:
// phenotypes, covariates, samples to keep. All are texts that open_text() reads, with columns
// separated by blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/rows.h"

namespace ancify {

constexpr std::int64_t kAnyRows = std::numeric_limits<std::int64_t>::max();

// Samples, identified by a unique individual ID (IID).
struct SampleTable {
  TextColumn family;  // FID; "0" in a file without it
  TextColumn id;      // IID
  // Names of the further columns; empty if the file has no header.
  std::vector<std::string> names;
  std::vector<TextColumn> columns;
  std::vector<std::int64_t> lines;  // line of each sample in the file
};

// Reads lines of FID, IID and further columns. A header begins with FID or IID, with or without #;
// a leading IID means that FID is absent. A file with one column and no header has IIDs. Throws
// FormatError for a line with another number of columns, a repeated IID, or more than `most` rows.
// Reading ends at the first invalid row.
SampleTable read_samples(const std::string& path, const TaskContext& context,
                         std::int64_t most = kAnyRows);

struct VariantTable {
  TextColumn chromosome;
  TextColumn id;
  std::vector<std::int32_t> position;  // negative if unknown
  TextColumn counted;                  // A1 of a .bim, ALT of a .pvar: several, separated by commas
  TextColumn other;                    // A2, REF
};

// Reads a .pvar, whose header begins with #CHROM, or a .bim, with or without centimorgans. Throws
// FormatError for a line without the required columns, a position that is not a 32-bit integer, or
// more than `most` rows.
VariantTable read_variants(const std::string& path, const TaskContext& context,
                           std::int64_t most = kAnyRows);

}  // namespace ancify
