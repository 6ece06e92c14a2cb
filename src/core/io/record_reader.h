// Reads text in chunks, which may end anywhere, and hands whole records to a parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/io/byte_source.h"
#include "core/io/record_size.h"

namespace ancify {

// A chunk of text, with room in front for the unused end of the chunk before.
class TextChunk {
 public:
  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }

  // Replaces the text by up to `size` bytes from read(), with `room` bytes free in front. False at
  // the end of the text.
  template <class Read>
  bool fill(Read& read, std::size_t size, std::size_t room) {
    if (buffer_.size() < room + size) {
      std::vector<char>().swap(buffer_);  // frees the old buffer first, so that there are never two
      buffer_.resize(room + size);
    }
    begin_ = end_ = buffer_.size() - size;
    while (end_ < buffer_.size()) {
      const std::size_t got = read(buffer_.data() + end_, buffer_.size() - end_);
      if (got == 0) return false;
      end_ += got;
    }
    return true;
  }

  // Puts `text` in front of the chunk's own text. It must fit the room there.
  void prepend(std::string_view text) {
    if (text.empty()) return;
    begin_ -= text.size();
    std::memcpy(buffer_.data() + begin_, text.data(), text.size());
  }

 private:
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Calls read(buffer, size), which returns the number of bytes it has written, until it returns 0.
// Passes the text on by consume(text, last).
//
// consume() takes the whole records at the start of `text` and returns their bytes; the rest comes
// again, followed by more text. In the last call `last` is true, and consume() must take
// everything.
//
// While one chunk is consumed the next is read, on another thread if the job has an idle one.
// Memory grows only for a record longer than a chunk, to at most six times the record's size. So
// consume() has to refuse records that are too long, by check_record_size().
template <class Read, class Consume>
void for_each_chunk(Read&& read, std::size_t chunk_size, const TaskContext& context,
                    Consume&& consume) {
  chunk_size = std::max<std::size_t>(chunk_size, 1);
  TextChunk now;
  TextChunk next;
  std::size_t size = chunk_size;
  bool more = now.fill(read, size, 0);
  while (more) {
    context.throw_if_stopped();
    std::size_t taken = 0;
    // consume() is the first part, so that its error takes precedence over one in later text.
    context.share(2, [&](std::int64_t part) {
      if (part == 0) {
        taken = consume(now.text(), false);
      } else {
        more = next.fill(read, size, now.text().size());
      }
    });
    next.prepend(now.text().substr(taken));
    std::swap(now, next);
    // For a long record the text doubles, so that parsing it again and again takes linear time.
    size = taken > 0 ? chunk_size : 2 * size;
  }
  consume(now.text(), true);
}

// The same for the text of a file. Progress is counted in bytes of the file.
template <class Consume>
void for_each_chunk(ByteSource& source, std::size_t chunk_size, JobControl& control,
                    const TaskContext& context, Consume&& consume) {
  const auto read = [&](char* out, std::size_t n) {
    const std::int64_t before = source.consumed();
    const std::size_t got = source.read(out, n);
    control.advance(source.consumed() - before);
    return got;
  };
  for_each_chunk(read, chunk_size, context, consume);
}

}  // namespace ancify
