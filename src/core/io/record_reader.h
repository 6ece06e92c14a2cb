// Reads text in chunks, which may end anywhere, and passes whole records to a parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"
#include "core/io/byte_source.h"
#include "core/io/record_size.h"

namespace ancify {

// A chunk of text, with space in front for the unused end of the preceding chunk.
class TextChunk {
 public:
  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }

  // Replaces the text by up to `size` bytes from read(), after `room` free bytes. False at the end
  // of the text.
  template <class Read>
  bool fill(Read& read, std::size_t size, std::size_t room) {
    if (buffer_.size() < room + size) {
      std::vector<char>().swap(buffer_);  // frees the old buffer first, so that two never coexist
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

  // Puts `text` in front of the chunk's own text. It must fit the space there.
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

// Writes up to `size` bytes to a buffer and returns their number, 0 at the end of the text.
using ReadText = std::function<std::size_t(char* out, std::size_t size)>;

// Passes text to consume(text, last), chunk by chunk.
//
// consume() takes the whole records at the start of `text` and returns their size in bytes. It
// receives the remainder again, followed by more text. In the last call `last` is true, and
// consume() must take everything.
//
// While one chunk is consumed, the next is read on another thread if the job has an idle one.
// Memory grows only for a record longer than a chunk, to at most six times the record's size. So
// consume() must refuse overlong records, by check_record_size(). `source` is the file of the text,
// whose size bounds the length of its records.
class ChunkReader {
 public:
  ChunkReader(ReadText read, std::size_t chunk_size, const ByteSource* source = nullptr)
      : read_(std::move(read)),
        source_(source),
        chunk_size_(std::max<std::size_t>(chunk_size, 1)),
        size_(chunk_size_) {}

  // Passes one chunk on; false if it was the last. Throws Interrupted if the task is stopped.
  template <class Consume>
  bool next(const TaskContext& context, Consume&& consume) {
    if (std::exchange(at_start_, false)) more_ = now_.fill(read_, size_, 0);
    context.throw_if_stopped();
    if (!more_) {
      consume(now_.text(), true);
      return false;
    }
    std::size_t taken = 0;
    // consume() is the first part, so that its error takes precedence over one in later text.
    context.share(2, [&](std::int64_t part) {
      if (part == 0) {
        taken = consume(now_.text(), false);
      } else {
        more_ = next_.fill(read_, size_, now_.text().size());
      }
    });
    next_.prepend(now_.text().substr(taken));
    std::swap(now_, next_);
    // For a long record the text doubles, so that repeated parsing takes linear time.
    size_ = taken > 0 ? chunk_size_ : 2 * size_;
    if (source_ != nullptr) source_->check_held(now_.text().size());
    return true;
  }

 private:
  ReadText read_;
  const ByteSource* source_;
  std::size_t chunk_size_;
  std::size_t size_;
  TextChunk now_;
  TextChunk next_;
  bool at_start_ = true;
  bool more_ = true;
};

// Reads the text of a file, which must outlive the result. Counts progress in bytes of the file.
inline ReadText read_counted(ByteSource& source, JobControl& control) {
  return [&](char* out, std::size_t n) {
    const std::int64_t before = source.consumed();
    const std::size_t got = source.read(out, n);
    control.advance(source.consumed() - before);
    return got;
  };
}

// Passes all text on through a ChunkReader.
template <class Consume>
void for_each_chunk(ReadText read, std::size_t chunk_size, const TaskContext& context,
                    Consume&& consume, const ByteSource* source = nullptr) {
  ChunkReader reader(std::move(read), chunk_size, source);
  while (reader.next(context, consume)) {
  }
}

// Passes on the text of a file through a ChunkReader.
template <class Consume>
void for_each_chunk(ByteSource& source, std::size_t chunk_size, JobControl& control,
                    const TaskContext& context, Consume&& consume) {
  for_each_chunk(read_counted(source, control), chunk_size, context, consume, &source);
}

}  // namespace ancify
