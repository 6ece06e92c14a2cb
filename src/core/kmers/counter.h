// Counts the k-mers of sequences.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/kmers/device_counts.h"
#include "core/kmers/kmc_files.h"
#include "core/kmers/sorted_parts.h"

namespace ancify {

// k-mers up to this length are counted in a table of all possible k-mers.
constexpr int kMostTableK = 12;

// Longer ones, once counted, go to parts by first bases.
constexpr int kSortedBases = 5;

// Counts bases that come in pieces of any size. A letter other than A, C, G and T separates
// sequences.
class KmerCounter {
 public:
  virtual ~KmerCounter() = default;
  // Counts the k-mers of a text, on this thread and on idle ones.
  virtual void take(std::string_view bases, const TaskContext& context) = 0;
  // Finishes counting and writes the database. No call may follow.
  virtual KmerDatabase finish(JobControl& control) = 0;
};

// Above kMostTableK the devices, if any, count. They must outlive the counter.
std::unique_ptr<KmerCounter> make_kmer_counter(const KmerSettings& settings, const KmerWork& work,
                                               const KmerDevices& devices);

// Counts all partitions of super-k-mers on the CPU's threads, and frees them.
void count_on_cpu(const KmerSettings& settings, const KmerWork& work, Partitions& super_kmers,
                  KmerParts& counts, JobControl& control);

// Passes sequences on in pieces; begin() precedes each sequence.
struct SequencePasser {
  std::function<void()> begin;
  std::function<void(std::string_view)> bases;
};
using PassSequences = std::function<void(const SequencePasser&, const TaskContext&)>;

// Counts the k-mers of all sequences from `pass`.
KmerDatabase count_kmers(const PassSequences& pass, const KmerSettings& settings,
                         const KmerWork& work, JobControl& control,
                         const KmerDevices& devices = {});

// The sequences of FASTA and FASTQ files. Sets `letters` to each file's number of letters.
// FormatError if no file has a sequence. The arguments must outlive the result.
PassSequences sequences_of_files(const std::vector<std::string>& paths, JobControl& control,
                                 std::vector<std::int64_t>& letters);

}  // namespace ancify
