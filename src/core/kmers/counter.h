// Counts the k-mers of sequences.
#pragma once

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

// k-mers up to this length are counted in a table of all.
constexpr int kMostTableK = 12;

// Above it, counted k-mers go to parts of their first bases.
constexpr int kSortedBases = 5;

// Takes bases in pieces of any size; a letter other than A, C, G and T separates sequences.
class KmerCounter {
 public:
  virtual ~KmerCounter() = default;
  // Counts the k-mers of a text, on this thread and on idle ones.
  virtual void take(std::string_view bases, const TaskContext& context) = 0;
  // Counts all and writes the database. The last call.
  virtual KmerDatabase finish(JobControl& control) = 0;
};

// Above kMostTableK the devices count, if there are any. They must outlive the counter.
std::unique_ptr<KmerCounter> make_kmer_counter(const KmerSettings& settings, const KmerWork& work,
                                               const KmerDevices& devices);

// Counts all partitions of super-k-mers on the CPU's threads, and frees them.
void count_on_cpu(const KmerSettings& settings, const KmerWork& work, Partitions& super_kmers,
                  KmerParts& counts, JobControl& control);

// Passes sequences to their function, in pieces; begin() comes before each sequence.
struct SequencePasser {
  std::function<void()> begin;
  std::function<void(std::string_view)> bases;
};
using PassSequences = std::function<void(const SequencePasser&, const TaskContext&)>;

// Counts the k-mers of all sequences that `pass` gives.
KmerDatabase count_kmers(const PassSequences& pass, const KmerSettings& settings,
                         const KmerWork& work, JobControl& control,
                         const KmerDevices& devices = {});

// The sequences of FASTA and FASTQ files.
PassSequences sequences_of_files(const std::vector<std::string>& paths, JobControl& control);

}  // namespace ancify
