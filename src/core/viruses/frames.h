// The open reading frames of a sequence: of its six frames, the frames without a stop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/coding/codons.h"

namespace ancify {

// Codons of the four bases and a missing one.
constexpr std::size_t kCodons = 125;

enum class FrameRule {
  kVirnucpro,  // codons with letters other than A, C, G and T are left out
  kStrict      // such codons become X
};

struct Frame {
  int number;           // 0 to 2: from base 0, 1, 2; 3 to 5: likewise on the other strand
  std::string bases;    // in the direction of translation
  std::string protein;  // without a stop, and not empty
};

class FrameReader {
 public:
  FrameReader(const GeneticCode& code, FrameRule rule);
  // The frames of a sequence in upper case that have no stop, in order.
  std::vector<Frame> open_frames(std::string_view bases) const;

 private:
  // Codes of letters, as in bases.h.
  using Codes = std::array<std::uint8_t, 256>;

  template <class Letter>
  bool translate(Letter first, Letter end, const Codes& codes, std::string& protein) const;
  std::string other_strand(std::string_view bases) const;

  FrameRule rule_;
  std::array<char, kCodons> residues_ = {};  // of codons, by codes
  Codes codes_ = {};
  Codes other_codes_ = {};  // of the bases on the other strand
};

}  // namespace ancify
