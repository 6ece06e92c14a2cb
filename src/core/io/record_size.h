// How long a record, a line or an alignment block, may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ancify {

// Bytes of the longest block of an alignment: a 32nd of the memory there is, as a block and the
// text around it are in memory several times; at least 256 MB, at most what an R string holds.
std::size_t longest_record();

// Bytes of the longest line that holds no sequence: a comment, a header, a row of a table.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// Bytes of the longest name in a table, all of which are kept.
constexpr std::size_t kLongestName = 1000;

// Bytes of the longest row with so many bases: there may be as many gaps, or 16 MB of them.
std::size_t longest_row(std::int64_t bases);

// FormatError where `size` bytes, from `line` on, are more than `longest`.
void check_record_size(std::size_t size, std::size_t longest, const std::string& file,
                       std::int64_t line);

}  // namespace ancify
