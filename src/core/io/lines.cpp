// Reads lines and small texts within limits.
#include "core/io/lines.h"

#include <algorithm>
#include <cstring>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/text.h"

namespace ancify {

LineReader::LineReader(const std::string& path, std::size_t longest, const TaskContext& context,
                       std::size_t chunk_size)
    : path_(path),
      longest_(longest),
      context_(context),
      chunk_size_(std::max<std::size_t>(chunk_size, 1)),
      source_(open_text(path, std::size_t{1} << 20, context)) {}

bool LineReader::refill() {
  context_.throw_if_stopped();
  const std::size_t kept = end_ - begin_;
  check_record_size(kept, longest_, path_, number_ + 1);
  if (kept > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  begin_ = 0;
  end_ = kept;
  // For a long line the buffer doubles, so that repeated searches take linear time.
  buffer_.resize(std::max(buffer_.size(), std::max(2 * kept, kept + chunk_size_)));
  end_ += source_->read(buffer_.data() + end_, buffer_.size() - end_);
  read_ += end_ - kept;
  source_->check_held(read_);
  return end_ > kept;
}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const std::string_view text(buffer_.data() + begin_, end_ - begin_);
    const std::size_t newline = text.find('\n');
    if (newline == text.npos && refill()) continue;
    // refill() moves the text.
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    if (rest.empty()) return false;
    const std::size_t size = std::min(newline, rest.size());
    check_record_size(size, longest_, path_, number_ + 1);
    line = trim_end(rest.substr(0, size));
    begin_ += std::min(size + 1, rest.size());
    ++number_;
    return true;
  }
}

namespace {

[[noreturn]] void refuse_large(const std::string& path, std::size_t most) {
  throw FormatError(path, 0,
                    "the file is larger than " + std::to_string(most >> 20) +
                        " MB, the limit for such a file. Check the path");
}

}  // namespace

std::vector<char> read_bytes(const std::string& path, std::size_t most) {
  const InputFile file(path);
  const auto size = static_cast<std::size_t>(file.size());
  if (size > most) refuse_large(path, most);
  std::vector<char> bytes(size);
  file.read_at(bytes.data(), size, 0);
  file.check_unchanged();
  return bytes;
}

std::vector<char> read_inflated(const std::string& path, const TaskContext& context) {
  const auto source = open_kept_bytes(path, context);
  std::vector<char> bytes;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t n = source->read(buffer.data(), buffer.size())) {
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return bytes;
}

std::vector<char> read_range(const std::string& path, std::int64_t offset, std::size_t n) {
  const InputFile file(path);
  if (offset > file.size() || n > static_cast<std::size_t>(file.size() - offset)) {
    throw FormatError(path, 0, "the file is shorter than expected. Make it again");
  }
  std::vector<char> bytes(n);
  file.read_at(bytes.data(), n, offset);
  file.check_unchanged();
  return bytes;
}

std::string read_text(const std::string& path, std::size_t most) {
  const auto source = open_text(path);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t n = source->read(buffer.data(), buffer.size())) {
    if (text.size() + n > most) refuse_large(path, most);
    text.append(buffer.data(), n);
    source->check_held(text.size());
  }
  std::int64_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    ++number;
    if (line.find('\0') != line.npos || !is_utf8(line)) {
      throw FormatError(path, number, "this line is not UTF-8 text. Save the file as UTF-8");
    }
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return text;
}

}  // namespace ancify
