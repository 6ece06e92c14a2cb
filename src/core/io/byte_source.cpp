#include "core/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/inflate.h"

namespace ancify {

namespace {

// A window that moves over a file from its start to its end.
class FileWindow {
 public:
  FileWindow(InputFile file, std::size_t buffer_size)
      : file_(std::move(file)), buffer_(std::max<std::size_t>(buffer_size, 1)) {}

  // The bytes at hand, at least n of them unless the file ends before.
  std::string_view at_least(std::size_t n) {
    if (end_ - begin_ < n) refill(n);
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
  std::int64_t offset_ = 0;  // of the buffer's end in the file
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(FileWindow window) : window_(std::move(window)) {}

  std::size_t read(char* out, std::size_t n) override {
    const std::string_view bytes = window_.at_least(1).substr(0, n);
    std::memcpy(out, bytes.data(), bytes.size());
    window_.drop(bytes.size());
    return bytes.size();
  }
  std::int64_t consumed() const override { return window_.consumed(); }

 private:
  FileWindow window_;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

// A gzip member that says its own size, as bgzip writes them (SAM specification, section 4.1).
struct BgzfBlock {
  std::size_t header_size;
  std::size_t total_size;
};

// What the member at the window's start says of itself, if it is a bgzip block.
std::optional<BgzfBlock> bgzf_block(FileWindow& window) {
  constexpr std::size_t fixed = 12;
  constexpr int has_extra_field = 4;
  std::string_view head = window.at_least(fixed);
  if (head.size() < fixed || !is_gzip(head) || head[3] != has_extra_field) return {};
  const std::size_t header_size = fixed + little_endian(head.substr(10, 2));
  head = window.at_least(header_size);
  if (head.size() < header_size) return {};
  for (std::size_t at = fixed; at + 4 <= header_size;) {
    const std::size_t length = little_endian(head.substr(at + 2, 2));
    if (head.substr(at, 2) == "BC" && length == 2 && at + 6 <= header_size) {
      return BgzfBlock{header_size, little_endian(head.substr(at + 4, 2)) + std::size_t{1}};
    }
    at += 4 + length;
  }
  return {};
}

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(FileWindow window) : window_(std::move(window)) {
    block_.reserve(kLargestBlock);  // zlib wants somewhere to write even for an empty block
  }

  std::size_t read(char* out, std::size_t n) override {
    for (;;) {
      if (in_member_) {
        const std::size_t produced = read_member(out, n);
        if (produced > 0) return produced;
      } else if (block_at_ < block_.size()) {
        return take_from_block(out, n);
      } else if (!start_member()) {
        return 0;
      }
    }
  }
  std::int64_t consumed() const override { return window_.consumed(); }

 private:
  static constexpr std::size_t kLargestBlock = 1 << 16;  // bytes of text

  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(window_.path(), 0, problem + ". Fetch or compress the file again");
  }

  // Finds the next member; false at the end of the file.
  bool start_member() {
    const std::string_view bytes = window_.at_least(2);
    if (bytes.empty()) {
      if (last_was_full_block_) fail("bgzip's end-of-file mark is missing: the file was cut short");
      return false;
    }
    if (!is_gzip(bytes)) {
      skip_padding();
      return false;
    }
    if (const auto block = bgzf_block(window_)) {
      read_block(*block);
    } else {
      inflater_->reset();
      in_member_ = true;
      last_was_full_block_ = false;
    }
    return true;
  }

  // Tapes and some tools pad with zeros; anything else behind a member is damage.
  void skip_padding() {
    for (auto bytes = window_.at_least(1); !bytes.empty(); bytes = window_.at_least(1)) {
      if (bytes.find_first_not_of('\0') != bytes.npos) {
        fail("the compressed data are followed by something else");
      }
      window_.drop(bytes.size());
    }
  }

  std::size_t read_member(char* out, std::size_t n) {
    const std::string_view input = window_.at_least(1);
    StreamInflater::Step step;
    try {
      step = inflater_->inflate(input, out, n);
    } catch (const InputError& error) {
      fail(std::string("the compressed data are damaged: ") + error.what());
    }
    window_.drop(step.consumed);
    in_member_ = !step.member_ended;
    if (in_member_ && step.produced == 0 && input.empty()) {
      fail("the compressed data end too early: the file was cut short");
    }
    return step.produced;
  }

  void read_block(const BgzfBlock& block) {
    constexpr std::size_t trailer = 8;
    const std::string_view bytes = window_.at_least(block.total_size).substr(0, block.total_size);
    if (bytes.size() < block.total_size) {
      fail("the compressed data end too early: the file was cut short");
    }
    if (block.total_size < block.header_size + trailer) fail("a bgzip block is damaged");
    const std::uint32_t crc = little_endian(bytes.substr(bytes.size() - 8, 4));
    const std::uint32_t size = little_endian(bytes.substr(bytes.size() - 4, 4));
    if (size > kLargestBlock) fail("a bgzip block is damaged");
    block_.resize(size);
    block_at_ = 0;
    const std::size_t deflated = block.total_size - block.header_size - trailer;
    try {
      inflate_block(bytes.substr(block.header_size, deflated), block_.data(), size, crc);
    } catch (const InputError& error) {
      fail(std::string("the compressed data are damaged: ") + error.what());
    }
    window_.drop(block.total_size);
    last_was_full_block_ = size > 0;
  }

  std::size_t take_from_block(char* out, std::size_t n) {
    n = std::min(n, block_.size() - block_at_);
    std::memcpy(out, block_.data() + block_at_, n);
    block_at_ += n;
    return n;
  }

  FileWindow window_;
  std::unique_ptr<StreamInflater> inflater_ = make_stream_inflater();
  bool in_member_ = false;
  bool last_was_full_block_ = false;
  std::vector<char> block_;  // text of the last bgzip block
  std::size_t block_at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size) {
  FileWindow window(InputFile(path), buffer_size);
  if (is_gzip(window.at_least(2))) return std::make_unique<GzipSource>(std::move(window));
  return std::make_unique<PlainSource>(std::move(window));
}

}  // namespace ancify
