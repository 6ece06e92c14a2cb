// Reads text in chunks and hands whole records to a parser, wherever the chunks' ends fall.
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

// A chunk of text with room in front for what the chunk before has left over.
class TextChunk {
 public:
  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }

  // Replaces the text by up to `size` bytes that read() gives, with `room` in front of them; false
  // when there are no more.
  template <class Read>
  bool fill(Read& read, std::size_t size, std::size_t room) {
    if (buffer_.size() < room + size) {
      std::vector<char>().swap(buffer_);  // first, so that there are never two
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

  // Puts `text`, for which there is room, in front of the chunk's own.
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

// Calls consume(text, last) until read(buffer, size), which gives the bytes it has put there, gives
// none. consume() takes as many whole records as `text` begins with and returns their bytes; what
// is left comes again with more text behind it. In the last call `last` is true and all is taken.
// While a chunk is consumed the next is read, on another thread if the job has an idle one. Memory
// grows only while a record is longer than a chunk, to at most six times its size: consume() has to
// refuse what is too long by check_record_size().
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
    // Consuming is the first part, so that its error comes before one of the text behind.
    context.share(2, [&](std::int64_t part) {
      if (part == 0) {
        taken = consume(now.text(), false);
      } else {
        more = next.fill(read, size, now.text().size());
      }
    });
    next.prepend(now.text().substr(taken));
    std::swap(now, next);
    // A long record is looked at again with twice the text, not with a little more each time.
    size = taken > 0 ? chunk_size : 2 * size;
  }
  consume(now.text(), true);
}

// The same of a file's text; the job's progress is in bytes of the file.
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
