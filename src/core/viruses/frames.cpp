// A frame f of a strand s has the codons s[f + 3 i, f + 3 i + 3), and is kept if none is a stop.
// virnucpro: for aa codons, the bases are s[f, f + 3 aa + 1), one more than the codons span.
// strict: s[f, f + 3 aa).
#include "core/viruses/frames.h"

#include "core/genome/complement.h"

namespace ancify {

namespace {

constexpr int kCodon = 3;

}  // namespace

FrameReader::FrameReader(const GeneticCode& code, FrameRule rule) : rule_(rule) {
  std::size_t number = 0;
  for (int a = 0; a < kStates; ++a) {
    for (int b = 0; b < kStates; ++b) {
      for (int c = 0; c < kStates; ++c) residues_[number++] = code.residue({a, b, c});
    }
  }
  for (std::size_t letter = 0; letter < codes_.size(); ++letter) {
    codes_[letter] = base_code(static_cast<char>(letter));
    other_codes_[letter] = static_cast<std::uint8_t>(complement(codes_[letter]));
  }
}

// On the other strand, virnucpro keeps letters other than A, C, G and T unchanged.
std::string FrameReader::other_strand(std::string_view bases) const {
  std::string other;
  if (rule_ == FrameRule::kStrict) {
    reverse_complement(bases, other);
    return other;
  }
  other.assign(bases.rbegin(), bases.rend());
  for (char& c : other) {
    const std::uint8_t code = base_code(c);
    if (code < kBases) c = upper_base(complement(code));
  }
  return other;
}

// Writes the protein of a strand from its letter `first` on; false if it has a stop or no residue.
// Most frames have an early stop, after which no letter is processed.
template <class Letter>
bool FrameReader::translate(Letter first, Letter end, const Codes& codes,
                            std::string& protein) const {
  protein.resize(static_cast<std::size_t>(end - first) / kCodon);
  char* out = protein.data();
  for (; end - first >= kCodon; first += kCodon) {
    std::size_t codon = 0;
    for (std::ptrdiff_t k = 0; k < kCodon; ++k) {
      codon = codon * kStates + codes[static_cast<unsigned char>(first[k])];
    }
    const char residue = residues_[codon];
    if (residue == kStop) return false;
    *out = residue;
    if (residue != kUnknownResidue || rule_ == FrameRule::kStrict) ++out;
  }
  protein.resize(static_cast<std::size_t>(out - protein.data()));
  return !protein.empty();
}

std::vector<Frame> FrameReader::open_frames(std::string_view bases) const {
  std::vector<Frame> frames;
  std::string protein;
  std::string other;
  const std::size_t more = rule_ == FrameRule::kVirnucpro ? 1 : 0;
  for (int number = 0; number < 2 * kCodon; ++number) {
    const bool is_other = number >= kCodon;
    const std::ptrdiff_t first = number % kCodon;
    if (first >= static_cast<std::ptrdiff_t>(bases.size())) continue;
    const bool is_open =
        is_other ? translate(bases.rbegin() + first, bases.rend(), other_codes_, protein)
                 : translate(bases.begin() + first, bases.end(), codes_, protein);
    if (!is_open) continue;
    if (is_other && other.empty()) other = other_strand(bases);
    const std::string_view strand = is_other ? std::string_view(other) : bases;
    const std::size_t n = kCodon * protein.size() + more;
    frames.push_back(
        {number, std::string(strand.substr(static_cast<std::size_t>(first), n)), protein});
  }
  return frames;
}

}  // namespace ancify
