// Looks up counts of k-mers, listed or along a sequence, and reads databases from text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/kmers/kmc_files.h"
#include "core/kmers/sorted_parts.h"

namespace ancify {

// Marks a k-mer with a letter other than A, C, G and T.
constexpr std::int64_t kNoKmer = -1;

// Counts of the k-mers at all positions of each sequence: 0 if the database lacks a k-mer, kNoKmer
// if the position has none. A sequence shorter than k has no counts.
std::vector<std::vector<std::int64_t>> counts_along(const KmerDatabase& database,
                                                    const std::vector<std::string_view>& sequences,
                                                    const TaskContext& context);

struct KmerRow {
  std::string text;
  std::uint32_t count;
};
// The first n k-mers.
std::vector<KmerRow> kmer_rows(const KmerDatabase& database, std::uint64_t n,
                               const TaskContext& context);

// Writes an unchanged copy of the database to files.
void write_kmer_files(const KmerDatabase& database, const std::string& stem,
                      const TaskContext& context);

// Writes one k-mer and its count per line, in the format of `jellyfish dump -c`.
void write_kmer_text(const KmerDatabase& database, const std::string& path,
                     const TaskContext& context);

// Reads such lines in any order, and sets k from the file. FormatError if a line lacks a k-mer or a
// count, or if a k-mer has another length than the first or occurs twice. With `canonical`, each
// k-mer must be the smaller of both strands'.
KmerDatabase read_kmer_text(const std::string& path, bool canonical, const KmerWork& work,
                            JobControl& control);

// A k-mer's index and its count in a sequence; k is at most 12.
struct NumberedCount {
  std::int32_t number;
  std::int32_t count;
};
// A sequence's k-mers in order.
std::vector<NumberedCount> count_numbers(std::string_view sequence, int k, bool canonical);

}  // namespace ancify
