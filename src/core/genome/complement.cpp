// Complements bases and IUPAC codes by a table.
#include "core/genome/complement.h"

#include <algorithm>
#include <array>

namespace ancify {

namespace {

std::array<char, 256> make_complements() {
  std::array<char, 256> complements{};
  for (std::size_t i = 0; i < complements.size(); ++i) complements[i] = static_cast<char>(i);
  constexpr std::string_view codes = "ACGTRYKMBVDHacgtrykmbvdh";
  constexpr std::string_view other = "TGCAYRMKVBHDtgcayrmkvbhd";
  for (std::size_t i = 0; i < codes.size(); ++i) {
    complements[static_cast<unsigned char>(codes[i])] = other[i];
  }
  complements['U'] = 'A';
  complements['u'] = 'a';
  return complements;
}

}  // namespace

void reverse_complement(std::string_view row, std::string& out) {
  static const std::array<char, 256> complements = make_complements();
  out.resize(row.size());
  std::transform(row.rbegin(), row.rend(), out.begin(),
                 [](char c) { return complements[static_cast<unsigned char>(c)]; });
}

}  // namespace ancify
