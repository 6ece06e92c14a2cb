// Reads a text in chunks, like a file.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/exec/threads.h"
#include "core/io/record_reader.h"

namespace ancify::test {

template <class Consume>
void read_in_chunks(std::string_view text, std::size_t chunk, Consume&& consume) {
  const auto read = [&](char* out, std::size_t n) {
    const std::size_t got = text.copy(out, n);
    text.remove_prefix(got);
    return got;
  };
  for_each_chunk(read, chunk, TaskContext(), consume);
}

}  // namespace ancify::test
