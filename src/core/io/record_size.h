// Limits on the length of records: lines and alignment blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ancify {

// The longest allowed alignment block, in bytes. It is 1/32 of the memory, which must hold several
// copies of a block and of the text around it. It is at least 256 MB, and at most the length of an
// R string.
std::size_t longest_record();

// The longest line without sequence, in bytes: a comment, a header, a row of a table.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// The longest name in a table, in bytes. All names are kept in memory.
constexpr std::size_t kLongestName = 1000;

// The longest row with this many bases, in bytes. It may have as many gaps as bases, or 16 MB of
// gaps if this is more.
std::size_t longest_row(std::int64_t bases);

// Throws FormatError if a record that starts at `line` has `size` bytes, more than `longest`.
void check_record_size(std::size_t size, std::size_t longest, const std::string& file,
                       std::int64_t line);

}  // namespace ancify
