// Reads chosen variants in pieces, and picks and counts the calls of chosen samples.
#include "core/formats/genotype/selected_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/call_codes.h"

namespace ancify {

namespace {

// Bytes of genotypes that a thread holds in memory.
constexpr std::int64_t kPieceOfThread = 1 << 20;

void check_numbers(const std::vector<std::int64_t>& numbers, std::int64_t n,
                   const std::string& what) {
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (const std::int64_t number : numbers) {
    if (number < 0 || number >= n) {
      throw InputError("there is no " + what + " " + std::to_string(number + 1) +
                       ": the file has " + std::to_string(n));
    }
    if (seen[static_cast<std::size_t>(number)]) {
      throw InputError("the " + what + " " + std::to_string(number + 1) + " is chosen twice");
    }
    seen[static_cast<std::size_t>(number)] = true;
  }
}

// Counts calls 1, 2 and 3 in words of calls, among the samples whose low bit is set in `mask`.
std::array<std::int32_t, 4> count_in(const std::uint8_t* calls,
                                     const std::vector<std::uint64_t>& mask, std::size_t bytes) {
  std::array<std::int32_t, 4> counts = {};
  for (std::size_t i = 0; i < mask.size(); ++i) {
    std::uint64_t word = 0;
    const std::size_t at = i * sizeof(word);
    std::memcpy(&word, calls + at, std::min(sizeof(word), bytes - at));
    const std::uint64_t low = word & mask[i];
    const std::uint64_t high = word >> 1 & mask[i];
    counts[1] += __builtin_popcountll(low & ~high);
    counts[2] += __builtin_popcountll(high & ~low);
    counts[kMissingCall] += __builtin_popcountll(low & high);
  }
  return counts;
}

// Calls read(from, n) for runs of neighbours among the variants.
template <class Read>
void for_each_run(const std::int64_t* variants, std::int64_t n, const Read& read) {
  std::int64_t next = 0;
  for (std::int64_t from = 0; from < n; from = next) {
    next = from + 1;
    while (next < n && variants[next] == variants[next - 1] + 1) ++next;
    read(from, next - from);
  }
}

}  // namespace

void check_selection(const GenotypeFile& file, const GenotypeSelection& selection) {
  check_numbers(selection.samples, file.samples(), "sample");
  check_numbers(selection.variants, file.variants(), "variant");
}

void read_chosen(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n,
                 std::uint8_t* calls) {
  for_each_run(variants, n, [&](std::int64_t from, std::int64_t here) {
    file.read(variants[from], here, calls + from * file.stride());
  });
}

void read_chosen_dosages(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n,
                         Dosage* dosages, int* units) {
  for_each_run(variants, n, [&](std::int64_t from, std::int64_t here) {
    file.read_dosages(variants[from], here, dosages + from * file.samples(), units + from);
  });
}

void will_read_chosen(const GenotypeFile& file, const std::int64_t* variants, std::int64_t n) {
  for_each_run(variants, n,
               [&](std::int64_t from, std::int64_t here) { file.will_read(variants[from], here); });
}

void for_each_range(std::int64_t n_variants, std::int64_t bytes_of_variant, int threads,
                    JobControl& control, const UseRange& use) {
  const std::int64_t at_once = std::max<std::int64_t>(1, kPieceOfThread / bytes_of_variant);
  control.expect(n_variants);
  run_tasks(control, threads, (n_variants + at_once - 1) / at_once,
            [&](std::int64_t piece, const TaskContext& context) {
              context.throw_if_stopped();
              const std::int64_t first = piece * at_once;
              const std::int64_t size = std::min(at_once, n_variants - first);
              use(first, size);
              control.advance(size);
            });
}

void for_each_piece(const GenotypeFile& file, const std::vector<std::int64_t>& variants,
                    int threads, JobControl& control, const UsePiece& use) {
  for_each_range(static_cast<std::int64_t>(variants.size()), file.stride(), threads, control,
                 [&](std::int64_t first, std::int64_t n) {
                   std::vector<std::uint8_t> calls(static_cast<std::size_t>(n * file.stride()));
                   read_chosen(file, variants.data() + first, n, calls.data());
                   use(first, n, calls.data());
                 });
  file.check_unchanged();
}

void pick_samples(const std::uint8_t* calls, const std::vector<std::int64_t>& samples,
                  std::uint8_t* picked) {
  const std::size_t n = samples.size();
  for (std::size_t i = 0; i < n; i += 4) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(4, n - i); ++k) {
      byte |= call_at(calls, samples[i + k]) << 2 * k;
    }
    picked[i / 4] = static_cast<std::uint8_t>(byte);
  }
}

void calls_as_integers(const GenotypeFile& file, const GenotypeSelection& selection, int missing,
                       int threads, JobControl& control, int* matrix) {
  check_selection(file, selection);
  const std::array<int, 4> value = {0, 1, 2, missing};
  const auto rows = static_cast<std::int64_t>(selection.samples.size());
  for_each_piece(file, selection.variants, threads, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* calls) {
                   for (std::int64_t j = 0; j < n; ++j) {
                     int* out = matrix + (first + j) * rows;
                     for (const std::int64_t sample : selection.samples) {
                       *out++ = value[call_at(calls + j * file.stride(), sample)];
                     }
                   }
                 });
}

void count_calls(const GenotypeFile& file, const GenotypeSelection& selection, int threads,
                 JobControl& control, std::int32_t* counts) {
  check_selection(file, selection);
  constexpr std::int64_t per_word = 32;
  std::vector<std::uint64_t> mask(
      static_cast<std::size_t>((file.samples() + per_word - 1) / per_word));
  for (const std::int64_t sample : selection.samples) {
    mask[static_cast<std::size_t>(sample / per_word)] |= std::uint64_t{1}
                                                         << 2 * (sample % per_word);
  }
  const auto n_samples = static_cast<std::int32_t>(selection.samples.size());
  for_each_piece(file, selection.variants, threads, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* calls) {
                   for (std::int64_t j = 0; j < n; ++j) {
                     auto found = count_in(calls + j * file.stride(), mask,
                                           static_cast<std::size_t>(file.stride()));
                     found[0] = n_samples - found[1] - found[2] - found[kMissingCall];
                     std::copy(found.begin(), found.end(), counts + 4 * (first + j));
                   }
                 });
}

}  // namespace ancify
