// How long a record, a line or an alignment block, may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ancify {

// Bytes of the longest: a 32nd of the memory there is, as a record and the text around it are in
// memory several times; at least 256 MB, at most what an R string holds.
std::size_t longest_record();

// FormatError where `size` bytes, from `line` on, are more than a record may have.
void check_record_size(std::size_t size, const std::string& file, std::int64_t line);

}  // namespace ancify
