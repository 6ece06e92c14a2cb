// Opens plain, gzip, bgzip or Zstandard text, distinguished by content.
#include "core/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/file_window.h"
#include "core/io/foreign_format.h"
#include "core/io/inflate.h"
#include "core/io/little_endian.h"
#include "core/io/zstd_source.h"

namespace ancify {

namespace {

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
  const std::string& path() const override { return window_.path(); }

 private:
  FileWindow window_;
};

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

// A gzip member that states its own size, as bgzip writes it (SAM specification, section 4.1).
struct BgzfBlock {
  std::size_t header_size;
  std::size_t total_size;
};

// Checks fields that not every library checks: the method must be deflate, and no unknown flag set.
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
  return kFixedHeader + little_endian<std::uint16_t>(&member[10]);
}

// The sizes of a bgzip block. Empty if the member is not one, or if its header is incomplete.
std::optional<BgzfBlock> bgzf_block(std::string_view member) {
  if (!has_extra_field(member)) return {};
  const std::size_t header_size = gzip_header_size(member);
  if (member.size() < header_size) return {};
  for (std::size_t at = kFixedHeader; at + 4 <= header_size;) {
    const std::size_t length = little_endian<std::uint16_t>(&member[at + 2]);
    if (member.substr(at, 2) == "BC" && length == 2 && at + 6 <= header_size) {
      return BgzfBlock{header_size, little_endian<std::uint16_t>(&member[at + 4]) + std::size_t{1}};
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
  const std::string& path() const override { return window_.path(); }

 private:
  static constexpr std::size_t kLargestBlock = 1 << 16;  // bytes of text of one block
  static constexpr std::size_t kMostText = 1 << 24;  // bytes of text of blocks inflated together

  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(window_.path(), 0, problem + ". Fetch or compress the file again");
  }

  // Finds the next member; false at the end of the file.
  bool start_member() {
    if (!is_gzip(window_.at_least(2))) {
      skip_padding();
      if (last_was_full_block_) fail("bgzip's end-of-file mark is missing: the file was cut short");
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
    const std::size_t text_size = little_endian<std::uint32_t>(&end[4]);
    if (text_size > kLargestBlock) fail("a bgzip block is damaged");
    const std::size_t deflated = block.total_size - block.header_size - trailer;
    return {bytes.substr(block.header_size, deflated), little_endian<std::uint32_t>(&end[0]),
            text_size, text_at};
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

// Inspects the start of a text before it is read: refuses foreign formats, skips a byte order mark,
// and detects lines that end in CR alone, as on old Macs.
class LookedAt : public ByteSource {
 public:
  explicit LookedAt(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  std::size_t read(char* out, std::size_t n) override {
    if (!std::exchange(looked_, true)) look();
    std::size_t got = std::min(n, start_.size() - start_at_);
    if (got > 0) {
      std::memcpy(out, start_.data() + start_at_, got);
      start_at_ += got;
    } else {
      got = source_->read(out, n);
    }
    if (ends_in_cr_) std::replace(out, out + got, '\r', '\n');
    return got;
  }
  std::int64_t consumed() const override { return source_->consumed(); }
  const std::string& path() const override { return source_->path(); }

 private:
  void look() {
    start_.resize(kForeignStart);
    std::size_t size = 0;
    while (size < start_.size()) {
      const std::size_t got = source_->read(start_.data() + size, start_.size() - size);
      if (got == 0) break;
      size += got;
    }
    start_.resize(size);
    const std::string_view text(start_.data(), start_.size());
    refuse_foreign_format(path(), text);
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.substr(0, byte_order_mark.size()) == byte_order_mark) {
      start_at_ = byte_order_mark.size();
    }
    const std::size_t end = text.find('\r');
    ends_in_cr_ = end < text.size() && text.find('\n') == text.npos &&
                  (end + 1 < text.size() || size < kForeignStart);
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<char> start_;
  std::size_t start_at_ = 0;
  bool looked_ = false;
  bool ends_in_cr_ = false;
};

// Bounds the length of a text by the file's size.
class KeptText : public ByteSource {
 public:
  explicit KeptText(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  std::size_t read(char* out, std::size_t n) override {
    const std::size_t got = source_->read(out, n);
    check_held(read_ += got);
    return got;
  }
  std::int64_t consumed() const override { return source_->consumed(); }
  const std::string& path() const override { return source_->path(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t read_ = 0;
};

std::unique_ptr<ByteSource> open_source(const std::string& path, std::size_t buffer_size,
                                        const TaskContext& context) {
  FileWindow window(InputFile(path, context.inputs()), buffer_size);
  const std::string_view start = window.at_least(4);
  if (is_gzip(start)) return std::make_unique<GzipSource>(std::move(window), context);
  if (is_zstd(start)) return make_zstd_source(std::move(window));
  return std::make_unique<PlainSource>(std::move(window));
}

}  // namespace

void ByteSource::check_held(std::size_t bytes) const {
  const auto held = static_cast<std::int64_t>(bytes);
  if (held <= kFreeText || held / kMostInflation <= consumed()) return;
  throw FormatError(path(), 0,
                    "the text is more than " + std::to_string(kMostInflation) +
                        " times as large as the compressed file, and would fill the memory. Is it "
                        "the right file? If so, inflate it first");
}

std::unique_ptr<ByteSource> open_text(const std::string& path, std::size_t buffer_size,
                                      const TaskContext& context) {
  return std::make_unique<LookedAt>(open_source(path, buffer_size, context));
}

std::unique_ptr<ByteSource> open_kept_text(const std::string& path, std::size_t buffer_size,
                                           const TaskContext& context) {
  return std::make_unique<KeptText>(open_text(path, buffer_size, context));
}

std::unique_ptr<ByteSource> open_kept_bytes(const std::string& path, const TaskContext& context) {
  return std::make_unique<KeptText>(open_source(path, std::size_t{1} << 20, context));
}

}  // namespace ancify
