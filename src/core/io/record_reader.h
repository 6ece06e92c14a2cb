// Reads text in chunks and hands whole records to a parser, wherever the chunks' ends fall.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/io/byte_source.h"

namespace ancify {

// Calls consume(text, last) until the source is empty. consume() takes as many whole records as
// `text` begins with and returns their bytes; what is left comes again with more text behind it.
// In the last call `last` is true and all is taken. The buffer grows only while a record is
// longer than it.
template <class Consume>
void for_each_chunk(ByteSource& source, std::size_t chunk_size, Consume&& consume) {
  std::vector<char> buffer(std::max<std::size_t>(chunk_size, 1));
  std::size_t filled = 0;
  for (bool last = false; !last;) {
    while (filled < buffer.size() && !last) {
      const std::size_t got = source.read(buffer.data() + filled, buffer.size() - filled);
      filled += got;
      last = got == 0;
    }
    const std::size_t taken = consume(std::string_view(buffer.data(), filled), last);
    filled -= taken;
    std::memmove(buffer.data(), buffer.data() + taken, filled);
    if (filled == buffer.size()) buffer.resize(2 * buffer.size());
  }
}

}  // namespace ancify
