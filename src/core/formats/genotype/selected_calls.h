// The calls of chosen samples at chosen variants, on a job's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// Indices of samples and variants in a file, from 0, in the desired order; each at most once.
struct GenotypeSelection {
  std::vector<std::int64_t> samples;
  std::vector<std::int64_t> variants;
};

// Throws InputError for an index beyond the file or one that is chosen twice.
void check_selection(const GenotypeFile& file, const GenotypeSelection& selection);

// Reads n variants by their indices, `file.stride()` bytes each. Neighbours are read together.
void read_chosen(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n,
                 std::uint8_t* calls);

// Reads dosages likewise, with samples() of them and a unit for each variant.
void read_chosen_dosages(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n,
                         Dosage* dosages, int* units);

// Lets the system begin to read n variants, without waiting.
void will_read_chosen(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n);

// Calls use(first, n) for pieces of n_variants variants, of about a megabyte for a thread. Progress
// is counted in variants.
using UseRange = std::function<void(std::int64_t first, std::int64_t n)>;
void for_each_range(std::int64_t n_variants, std::int64_t bytes_of_variant, int threads,
                    JobControl& control, const UseRange& use);

// Calls use(first, n, calls) for pieces of the chosen variants; `first` is an index among them.
// `calls` has `file.stride()` bytes for each variant. Memory is bounded, and progress is counted in
// variants.
using UsePiece = std::function<void(std::int64_t first, std::int64_t n, const std::uint8_t* calls)>;
void for_each_piece(const GenotypeFile& file, const std::vector<std::int64_t>& variants,
                    int threads, JobControl& control, const UsePiece& use);

// The call of sample i of a variant.
inline unsigned call_at(const std::uint8_t* calls, std::int64_t i) {
  return calls[i / 4] >> 2 * (i % 4) & 3U;
}

// Sets the call of sample i, which must be 0 so far.
inline void set_call(std::uint8_t* calls, std::int64_t i, unsigned call) {
  calls[i / 4] = static_cast<std::uint8_t>(calls[i / 4] | call << 2 * (i % 4));
}

// Copies the calls of chosen samples of a variant, in their order, to (n + 3) / 4 bytes.
void pick_samples(const std::uint8_t* calls, const std::vector<std::int64_t>& samples,
                  std::uint8_t* picked);

// Calls as a matrix of integers, with a column for each variant. `missing` replaces missing calls.
void calls_as_integers(const GenotypeFile& file, const GenotypeSelection& selection, int missing,
                       int threads, JobControl& control, int* matrix);

// The number of chosen samples with each call: counts[4 * variant + call].
void count_calls(const GenotypeFile& file, const GenotypeSelection& selection, int threads,
                 JobControl& control, std::int32_t* counts);

}  // namespace ancify
