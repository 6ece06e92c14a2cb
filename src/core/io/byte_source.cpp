// Opens plain, gzip or bgzip text, told apart by content.
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
      : file_(std::move(file)),
        buffer_(std::clamp<std::size_t>(static_cast<std::size_t>(file_.size()), 1,
                                        std::max<std::size_t>(buffer_size, 1))) {}

  // The bytes in the window: at least n, unless the file ends before.
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
  std::int64_t offset_ = 0;  // position in the file of the buffer's end
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

// A gzip member that states its own size, as bgzip writes it (SAM specification, section 4.1).
struct BgzfBlock {
  std::size_t header_size;
  std::size_t total_size;
};

// Checks fields that not every library checks: the method is deflate, and no unknown flag is set.
bool has_known_header(std::string_view member) {
  constexpr int deflate = 8;
  constexpr int unknown_flags = 0xe0;
  return member.size() < 4 || (member[2] == deflate && (member[3] & unknown_flags) == 0);
}

constexpr std::size_t kFixedHeader = 12;

bool has_extra_field(std::string_view member) {
  constexpr int extra_field_alone = 4;
  return member.size() >= kFixedHeader && is_gzip(member) && has_known_header(member) &&
         member[3] == extra_field_alone;
}

// The size of the header of a member with an extra field.
std::size_t gzip_header_size(std::string_view member) {
  return kFixedHeader + little_endian(member.substr(10, 2));
}

// The sizes of a bgzip block. Empty if the member is not one, or if its header is incomplete.
std::optional<BgzfBlock> bgzf_block(std::string_view member) {
  if (!has_extra_field(member)) return {};
  const std::size_t header_size = gzip_header_size(member);
  if (member.size() < header_size) return {};
  for (std::size_t at = kFixedHeader; at + 4 <= header_size;) {
    const std::size_t length = little_endian(member.substr(at + 2, 2));
    if (member.substr(at, 2) == "BC" && length == 2 && at + 6 <= header_size) {
      return BgzfBlock{header_size, little_endian(member.substr(at + 4, 2)) + std::size_t{1}};
    }
    at += 4 + length;
  }
  return {};
}

class GzipSource : public ByteSource {
 public:
  GzipSource(FileWindow window, const TaskContext& context)
      : window_(std::move(window)), context_(context) {
    text_.reserve(kLargestBlock);  // zlib needs an output buffer even for an empty block
  }

  std::size_t read(char* out, std::size_t n) override {
    for (;;) {
      if (in_member_) {
        const std::size_t produced = read_member(out, n);
        if (produced > 0) return produced;
      } else if (text_at_ < text_.size()) {
        return take_text(out, n);
      } else if (!start_member()) {
        return 0;
      }
    }
  }
  std::int64_t consumed() const override { return window_.consumed(); }

 private:
  static constexpr std::size_t kLargestBlock = 1 << 16;  // bytes of text of one block
  static constexpr std::size_t kMostText = 1 << 24;  // bytes of text of blocks inflated together

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
    std::string_view head = window_.at_least(kFixedHeader);
    if (!has_known_header(head)) {
      fail("the compressed data are damaged: the gzip header is invalid");
    }
    if (has_extra_field(head)) head = window_.at_least(gzip_header_size(head));
    if (const auto block = bgzf_block(head)) {
      window_.at_least(block->total_size);
      read_blocks();
    } else {
      inflater_->reset();
      in_member_ = true;
      last_was_full_block_ = false;
    }
    return true;
  }

  // Tapes and some tools pad with zeros. Any other bytes after a member mean damage.
  void skip_padding() {
    for (auto bytes = window_.at_least(1); !bytes.empty(); bytes = window_.at_least(1)) {
      if (bytes.find_first_not_of('\0') != bytes.npos) {
        fail("other data follow the compressed data");
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

  // A bgzip block in the window, and the position of its text in text_.
  struct Piece {
    std::string_view deflated;
    std::uint32_t crc;
    std::size_t text_size;
    std::size_t text_at;
  };

  // Inflates complete blocks in the window, at least one, until they have kMostText bytes of text.
  void read_blocks() {
    std::string_view bytes = window_.at_least(1);
    std::vector<Piece> pieces;
    std::size_t used = 0;
    std::size_t text_size = 0;
    for (auto block = bgzf_block(bytes);
         block && block->total_size <= bytes.size() && text_size < kMostText;
         block = bgzf_block(bytes)) {
      pieces.push_back(make_piece(bytes, *block, text_size));
      text_size += pieces.back().text_size;
      used += block->total_size;
      bytes.remove_prefix(block->total_size);
    }
    if (pieces.empty()) fail("the compressed data end too early: the file was cut short");
    text_.resize(text_size);
    text_at_ = 0;
    context_.share(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
      const Piece& piece = pieces[static_cast<std::size_t>(i)];
      try {
        inflate_block(piece.deflated, text_.data() + piece.text_at, piece.text_size, piece.crc);
      } catch (const InputError& error) {
        fail(std::string("the compressed data are damaged: ") + error.what());
      }
    });
    window_.drop(used);
    last_was_full_block_ = pieces.back().text_size > 0;
  }

  Piece make_piece(std::string_view bytes, const BgzfBlock& block, std::size_t text_at) const {
    constexpr std::size_t trailer = 8;
    if (block.total_size < block.header_size + trailer) fail("a bgzip block is damaged");
    const std::string_view end = bytes.substr(block.total_size - trailer, trailer);
    const std::size_t text_size = little_endian(end.substr(4, 4));
    if (text_size > kLargestBlock) fail("a bgzip block is damaged");
    const std::size_t deflated = block.total_size - block.header_size - trailer;
    return {bytes.substr(block.header_size, deflated), little_endian(end.substr(0, 4)), text_size,
            text_at};
  }

  std::size_t take_text(char* out, std::size_t n) {
    n = std::min(n, text_.size() - text_at_);
    std::memcpy(out, text_.data() + text_at_, n);
    text_at_ += n;
    return n;
  }

  FileWindow window_;
  TaskContext context_;
  std::unique_ptr<StreamInflater> inflater_ = make_stream_inflater();
  bool in_member_ = false;
  bool last_was_full_block_ = false;
  std::vector<char> text_;  // text of the last bgzip blocks
  std::size_t text_at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size,
                                      const TaskContext& context) {
  FileWindow window(InputFile(path, context.inputs()), buffer_size);
  if (is_gzip(window.at_least(2))) {
    return std::make_unique<GzipSource>(std::move(window), context);
  }
  return std::make_unique<PlainSource>(std::move(window));
}

}  // namespace ancify
