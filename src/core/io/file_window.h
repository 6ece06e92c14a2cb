// A window that moves over a file from its start to its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/file.h"

namespace ancify {

class FileWindow {
 public:
  FileWindow(InputFile file, std::size_t buffer_size)
      : file_(std::move(file)),
        buffer_(std::clamp<std::size_t>(static_cast<std::size_t>(file_.size()), 1,
                                        std::max<std::size_t>(buffer_size, 1))) {}

  // The bytes in the window: at least n, unless the file ends earlier.
  std::string_view at_least(std::size_t n) {
    if (end_ - begin_ < n) refill(n);
    if (begin_ == end_) file_.check_unchanged();
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void drop(std::size_t n) { begin_ += n; }
  std::int64_t consumed() const { return offset_ - static_cast<std::int64_t>(end_ - begin_); }
  const std::string& path() const { return file_.path(); }

 private:
  void refill(std::size_t n) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    if (buffer_.size() < n) buffer_.resize(n);
    const std::size_t more = std::min<std::int64_t>(buffer_.size() - end_, file_.size() - offset_);
    file_.read_at(buffer_.data() + end_, more, offset_);
    end_ += more;
    offset_ += static_cast<std::int64_t>(more);
  }

  InputFile file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t offset_ = 0;  // file offset of the buffer's end
};

}  // namespace ancify
