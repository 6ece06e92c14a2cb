// The lines of a small file.
#pragma once

#include <string>
#include <string_view>

#include "core/exec/threads.h"
#include "core/io/byte_source.h"
#include "core/io/record_reader.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

// Calls take(line, number) for each line of a file, plain or gzip, without blanks at its end; lines
// count from 1. `chunk_size`: bytes of text at a time.
template <class Take>
void for_each_line(const std::string& path, const TaskContext& context, Take&& take,
                   std::size_t chunk_size = 1 << 16) {
  const auto source = open_text(path, std::size_t{1} << 20, context);
  const auto read = [&](char* out, std::size_t n) { return source->read(out, n); };
  std::int64_t number = 0;
  for_each_chunk(read, chunk_size, context, [&](std::string_view text, bool last) {
    std::size_t taken = 0;
    while (taken < text.size()) {
      const std::size_t newline = text.find('\n', taken);
      if (newline == text.npos && !last) {
        check_record_size(text.size() - taken, path, number + 1);
        break;
      }
      take(trim_end(text.substr(taken, newline - taken)), ++number);
      taken = newline == text.npos ? text.size() : newline + 1;
    }
    return taken;
  });
}

}  // namespace ancify
