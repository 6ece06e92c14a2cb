// A frame f of a strand s has the codons s[f + 3 i, f + 3 i + 3), and is kept if none is a stop.
// virnucpro: of aa codons that are read, the bases are s[f, f + 3 aa + 1), one more than they have.
// strict: s[f, f + 3 aa).
#include "core/viruses/frames.h"

#include <cstddef>

#include "core/genome/complement.h"

namespace ancify {

namespace {

constexpr std::size_t kCodon = 3;

// The other strand, on which virnucpro leaves letters other than A, C, G and T as they are.
std::string other_strand(std::string_view bases, FrameRule rule) {
  std::string other;
  if (rule == FrameRule::kStrict) {
    reverse_complement(bases, other);
    return other;
  }
  other.assign(bases.rbegin(), bases.rend());
  for (char& c : other) {
    const int code = base_code(c);
    if (code < kBases) c = upper_base(kBases - 1 - code);
  }
  return other;
}

// The protein of a frame; empty if it has a stop.
std::string translate(const std::vector<std::uint8_t>& codes, std::size_t first,
                      const GeneticCode& code, FrameRule rule) {
  std::string protein;
  for (std::size_t i = first; i + kCodon <= codes.size(); i += kCodon) {
    const char residue = code.residue({codes[i], codes[i + 1], codes[i + 2]});
    if (residue == kStop) return "";
    if (residue != kUnknownResidue || rule == FrameRule::kStrict) protein += residue;
  }
  return protein;
}

}  // namespace

std::vector<Frame> open_frames(std::string_view bases, const GeneticCode& code, FrameRule rule) {
  std::vector<Frame> frames;
  const std::string other = other_strand(bases, rule);
  const std::size_t more = rule == FrameRule::kVirnucpro ? 1 : 0;
  std::vector<std::uint8_t> codes(bases.size());
  int number = 0;
  for (const std::string_view strand : {bases, std::string_view(other)}) {
    for (std::size_t i = 0; i < strand.size(); ++i) codes[i] = base_code(strand[i]);
    for (std::size_t first = 0; first < kCodon; ++first, ++number) {
      std::string protein = translate(codes, first, code, rule);
      if (protein.empty()) continue;
      const std::string_view read = strand.substr(first, kCodon * protein.size() + more);
      frames.push_back({number, std::string(read), std::move(protein)});
    }
  }
  return frames;
}

}  // namespace ancify
