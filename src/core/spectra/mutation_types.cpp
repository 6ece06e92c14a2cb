// Folds words of bases by strand, and indexes them.
#include "core/spectra/mutation_types.h"

#include "core/genome/bases.h"

namespace ancify {

const std::array<const char*, kMutations> kMutationNames = {"A>C", "A>G", "A>T",
                                                            "C>A", "C>G", "C>T"};

namespace {

constexpr int kLastBase = kBases - 1;

}  // namespace

std::size_t mutation_number(int ancestral, int derived) {
  if (ancestral > 1) {
    ancestral = kLastBase - ancestral;
    derived = kLastBase - derived;
  }
  const int number = ancestral * kLastBase + (derived < ancestral ? derived : derived - 1);
  return static_cast<std::size_t>(number);
}

MutationTypes::MutationTypes(int k) : half_(k / 2), flanks_(std::size_t{1} << (4 * (k / 2))) {}

std::size_t MutationTypes::context(std::uint32_t word) const {
  if (middle(word) > 1) word = reverse_complement(word);
  return static_cast<std::size_t>(middle(word)) * flanks_ + others(word);
}

std::size_t MutationTypes::type(std::uint32_t word, int derived) const {
  const std::size_t mutation = mutation_number(middle(word), derived);
  if (middle(word) > 1) word = reverse_complement(word);
  return mutation * flanks_ + others(word);
}

std::uint32_t MutationTypes::with_middle(std::uint32_t word, int base) const {
  const int shift = 2 * half_;
  return (word & ~(3U << shift)) | static_cast<std::uint32_t>(base) << shift;
}

std::uint32_t MutationTypes::reverse_complement(std::uint32_t word) const {
  std::uint32_t result = 0;
  for (int i = 0; i < k(); ++i) {
    result = result << 2 | (3 - (word >> (2 * i) & 3));
  }
  return result;
}

std::size_t MutationTypes::others(std::uint32_t word) const {
  const std::uint32_t after = (1U << (2 * half_)) - 1;
  return (word >> (2 * half_ + 2) << (2 * half_)) | (word & after);
}

}  // namespace ancify
