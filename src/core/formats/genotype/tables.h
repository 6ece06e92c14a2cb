// The tables beside genotypes (.fam, .psam, .bim, .pvar), and those of samples' values: phenotypes,
// covariates, samples to keep. All are plain text or gzip, with columns between blanks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Texts in one piece of memory.
class TextColumn {
 public:
  void add(std::string_view text) {
    text_ += text;
    ends_.push_back(text_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// Samples by their individual ID, IID, which is unique.
struct SampleTable {
  TextColumn family;  // FID; "0" in a file without it
  TextColumn id;      // IID
  // Names of the further columns; empty if the file has no header.
  std::vector<std::string> names;
  std::vector<TextColumn> columns;
  std::vector<std::int64_t> lines;  // where each sample stands in the file
};

// Reads lines of FID, IID and further columns. A header begins with FID or IID, with or without #;
// after IID there is no FID. A file with one column and no header has IIDs. FormatError for a
// line with another number of columns, or an IID that is there twice.
SampleTable read_samples(const std::string& path, const TaskContext& context);

struct VariantTable {
  TextColumn chromosome;
  TextColumn id;
  std::vector<std::int32_t> position;  // negative if it is unknown
  TextColumn counted;                  // A1 of a .bim, ALT of a .pvar
  TextColumn other;                    // A2, REF
};

// Reads a .pvar, whose header begins with #CHROM, or a .bim, with or without centimorgans.
// FormatError for a line without the columns needed, a position that is no whole number of 32
// bits, or several ALT alleles.
VariantTable read_variants(const std::string& path, const TaskContext& context);

}  // namespace ancify
