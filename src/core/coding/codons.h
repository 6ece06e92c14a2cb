// Codons and their translation.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

constexpr char kStop = '*';
constexpr char kUnknownResidue = 'X';

// Codes of three bases in the direction of translation, as in bases.h.
using Codon = std::array<int, 3>;

constexpr Codon kStartCodon = {0, 3, 2};  // ATG

// A residue for each codon: AAA, AAC, AAG, AAT, ACA and so on.
class GeneticCode {
 public:
  // Throws InputError unless `residues` has 64 letters.
  explicit GeneticCode(std::string residues) : residues_(std::move(residues)) {
    constexpr std::size_t codons = 64;
    if (residues_.size() != codons) throw InputError("a genetic code has not 64 residues");
  }

  char residue(const Codon& codon) const {
    int number = 0;
    for (const int base : codon) {
      if (base >= kBases) return kUnknownResidue;
      number = number * kBases + base;
    }
    return residues_[static_cast<std::size_t>(number)];
  }

 private:
  std::string residues_;
};

inline std::string letters_of(const Codon& codon) {
  std::string letters;
  for (const int base : codon) letters += upper_base(base);
  return letters;
}

}  // namespace ancify
