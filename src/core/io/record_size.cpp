// Computes and checks limits on the length of lines and records.
#include "core/io/record_size.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/io/memory.h"

namespace ancify {

std::size_t longest_record() {
  constexpr std::size_t share = 32;
  constexpr std::size_t least = std::size_t{1} << 28;
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;
  static const std::size_t longest = std::clamp(memory_size() / share, least, most);
  return longest;
}

std::size_t longest_row(std::int64_t bases) {
  constexpr std::size_t least_for_gaps = std::size_t{1} << 24;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(bases, 0));
  const std::size_t most = longest_record();
  if (wanted > most) return most;
  return std::min(most, wanted + std::max(wanted, least_for_gaps));
}

void check_record_size(std::size_t size, std::size_t longest, const std::string& file,
                       std::int64_t line) {
  if (size <= longest) return;
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  const std::string problem =
      "this line or block is longer than " + std::to_string(longest / megabyte) + " MB, ";
  throw FormatError(
      file, line,
      problem + (longest == longest_record()
                     ? "the limit for this machine's memory. Split it, or use a machine with more "
                       "memory"
                     : "the limit for such a line. Is it the right file?"));
}

}  // namespace ancify
