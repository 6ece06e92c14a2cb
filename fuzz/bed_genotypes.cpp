// Fuzzes BED: all ways of reading give the calls that a slow, plain reader finds, or an error.
#include <algorithm>

#include "genotypes.h"

namespace ancify::fuzz {

namespace {

// The calls, a line for each variant; empty if the input is not a BED of this size.
std::string read_slowly(std::string_view input, std::size_t samples, std::size_t variants) {
  const std::size_t stride = (samples + 3) / 4;
  if (input.substr(0, 3) != "\x6c\x1b\x01" || input.size() != 3 + variants * stride) return {};
  std::string text;
  for (std::size_t j = 0; j < variants; ++j) {
    for (std::size_t i = 0; i < samples; ++i) {
      const unsigned byte = static_cast<unsigned char>(input[3 + j * stride + i / 4]);
      text += "2.10"[byte >> 2 * (i % 4) & 3];
    }
    text += '\n';
  }
  return text;
}

}  // namespace

void check(std::string_view input) {
  constexpr std::size_t header = 3;
  if (input.size() < header) return;
  Choices choices(input);
  const std::size_t samples = 1 + choices.below(40);
  const std::size_t fitting = (input.size() - header) / ((samples + 3) / 4);
  const std::size_t variants = choices.one_in(8) ? choices.below(40) : fitting;
  if (variants == 0 || input[2] != 0x01) return;  // other modes are PGEN's
  const std::string calls = read_in_any_pieces(input, samples, variants);
  require_equal(is_error(calls) ? "" : calls, read_slowly(input, samples, variants),
                "the calls and the slow way");
}

}  // namespace ancify::fuzz
