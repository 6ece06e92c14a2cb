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

void check_record_size(std::size_t size, const std::string& file, std::int64_t line) {
  const std::size_t longest = longest_record();
  if (size <= longest) return;
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  throw FormatError(file, line,
                    "this line or block does not end within " + std::to_string(longest / megabyte) +
                        " MB, the most that the memory here allows. Split it, or use a machine "
                        "with more memory");
}

}  // namespace ancify
