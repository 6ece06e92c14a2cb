// Types of mutations: the ancestral context of a site, and the derived base.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ancify {

// The six mutations of a base, each with its complement.
constexpr std::size_t kMutations = 6;
extern const std::array<const char*, kMutations> kMutationNames;

// The index in kMutationNames. A mutation from G or T counts as its complement. Base codes are as
// in genome/bases.h.
std::size_t mutation_number(int ancestral, int derived);

constexpr int kLongestMutationContext = 9;

// Indexes contexts, which are words of k bases, and types. A word is written in base 4, first base
// first. A word whose middle base is G or T counts as its reverse complement. A context's index is
// ordered by its middle base, A or C, then by the other bases. A type's index is ordered by its
// mutation, then by the other bases.
class MutationTypes {
 public:
  // `k` must be odd, up to kLongestMutationContext.
  explicit MutationTypes(int k);

  int k() const { return 2 * half_ + 1; }
  int half() const { return half_; }  // bases on each side
  std::size_t words() const { return 4 * flanks_; }
  std::size_t contexts() const { return 2 * flanks_; }
  std::size_t types() const { return kMutations * flanks_; }

  std::size_t context(std::uint32_t word) const;
  std::size_t type(std::uint32_t word, int derived) const;
  // The word with its middle base replaced.
  std::uint32_t with_middle(std::uint32_t word, int base) const;

 private:
  int middle(std::uint32_t word) const { return static_cast<int>(word >> (2 * half_) & 3); }
  std::uint32_t reverse_complement(std::uint32_t word) const;
  std::size_t others(std::uint32_t word) const;

  int half_;
  std::size_t flanks_;  // the number of words of k - 1 bases
};

}  // namespace ancify
