// Recognises files that ancify does not read, by their first bytes, so that errors name their
// formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ancify {

// This many bytes at the start of a file suffice to recognise each of these formats.
constexpr std::size_t kForeignStart = 4096;

// The format's name and advice for the user, such as "a pointer of Git LFS. Fetch the file by ...".
// Empty if the bytes match none of the formats.
std::string_view foreign_format(std::string_view start);

// Throws FormatError if a file, or its inflated text, begins in a foreign format.
void refuse_foreign_format(const std::string& path, std::string_view start);

}  // namespace ancify
