// A frame f of a strand s has the codons s[f + 3 i, f + 3 i + 3), and is kept if none is a stop.
// virnucpro: of aa codons that are read, the bases are s[f, f + 3 aa + 1), one more than they have.
// strict: s[f, f + 3 aa).
#include "core/viruses/frames.h"

#include <algorithm>

#include "core/genome/complement.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

constexpr std::size_t kCodon = 3;

}  // namespace

FrameReader::FrameReader(const GeneticCode& code, FrameRule rule) : rule_(rule) {
  std::size_t number = 0;
  for (int a = 0; a < kStates; ++a) {
    for (int b = 0; b < kStates; ++b) {
      for (int c = 0; c < kStates; ++c) residues_[number++] = code.residue({a, b, c});
    }
  }
}

// On it virnucpro leaves letters other than A, C, G and T as they are.
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

// The protein of a frame; empty if it has a stop.
std::string FrameReader::translate(const std::vector<std::uint8_t>& codes,
                                   std::size_t first) const {
  std::string protein;
  for (std::size_t i = first; i + kCodon <= codes.size(); i += kCodon) {
    std::size_t codon = 0;
    for (std::size_t k = 0; k < kCodon; ++k) codon = codon * kStates + codes[i + k];
    const char residue = residues_[codon];
    if (residue == kStop) return "";
    if (residue != kUnknownResidue || rule_ == FrameRule::kStrict) protein += residue;
  }
  return protein;
}

std::vector<Frame> FrameReader::open_frames(std::string_view bases) const {
  std::vector<Frame> frames;
  std::vector<std::uint8_t> codes(bases.size());
  for (std::size_t i = 0; i < bases.size(); ++i) codes[i] = base_code(bases[i]);
  std::string other;
  const std::size_t more = rule_ == FrameRule::kVirnucpro ? 1 : 0;
  int number = 0;
  for (const bool is_other : {false, true}) {
    if (is_other) {
      std::reverse(codes.begin(), codes.end());
      for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(complement(code));
    }
    for (std::size_t first = 0; first < kCodon; ++first, ++number) {
      std::string protein = translate(codes, first);
      if (protein.empty()) continue;
      if (is_other && other.empty()) other = other_strand(bases);
      const std::string_view strand = is_other ? std::string_view(other) : bases;
      const std::string_view read = strand.substr(first, kCodon * protein.size() + more);
      frames.push_back({number, std::string(read), std::move(protein)});
    }
  }
  return frames;
}

}  // namespace ancify
