// Counts of given k-mers: of a list, or along a sequence; and databases from text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/kmers/kmc_files.h"
#include "core/kmers/sorted_parts.h"

namespace ancify {

// A k-mer that cannot be looked up: a letter other than A, C, G and T.
constexpr std::int64_t kNoKmer = -1;

// The counts of the k-mers at all positions of a sequence, 0 where the database lacks one and
// kNoKmer where there is none. Empty for a sequence shorter than k.
std::vector<std::int64_t> counts_along(const KmerDatabase& database, std::string_view sequence,
                                       const TaskContext& context);

struct KmerRow {
  std::string text;
  std::uint32_t count;
};
// n k-mers from number `first` on.
std::vector<KmerRow> kmer_rows(const KmerDatabase& database, std::uint64_t first, std::uint64_t n);

// Writes a k-mer and its count a line, as `jellyfish dump -c` does.
void write_kmer_text(const KmerDatabase& database, const std::string& path,
                     const TaskContext& context);

// Reads such lines, in any order. FormatError if a line has no k-mer and count, another length than
// the first, or a k-mer that is there twice, or that is not the smaller of both strands where
// `canonical` says so. The settings' k is that of the file.
KmerDatabase read_kmer_text(const std::string& path, bool canonical, const KmerWork& work,
                            JobControl& control);

// A k-mer's number and its count in a sequence; k is at most 12.
struct NumberedCount {
  std::int32_t number;
  std::int32_t count;
};
// Those that a sequence has, in order.
std::vector<NumberedCount> count_numbers(std::string_view sequence, int k, bool canonical);

}  // namespace ancify
