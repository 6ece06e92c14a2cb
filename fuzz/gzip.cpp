// Fuzzes compressed text: pieces of any size give the text that zlib gives. Input other than gzip
// is treated as deflate data, and put into a gzip member and a bgzip block.
#include <zlib.h>

#include <optional>
#include <string>

#include "compressed.h"
#include "core/io/inflate.h"

namespace ancify::fuzz {

namespace {

constexpr std::size_t kMostText = 1 << 22;

// zlib refuses a Huffman code that leaves bit strings unused; ISA-L decodes by it. The checksum
// guards the text of both.
struct IncompleteCode {};

void refuse_incomplete_code(const z_stream& stream) {
  const std::string problem = stream.msg != nullptr ? stream.msg : "";
  const bool refused = problem == "invalid code lengths set" ||
                       problem == "invalid literal/lengths set" ||
                       problem == "invalid distances set";
  if (refused && inflater_name() == std::string("ISA-L")) throw IncompleteCode();
}

// The text of the deflate data or gzip member at the start of `bytes`, which is removed from them.
std::optional<std::string> inflate_slowly(std::string_view& bytes, int window_bits) {
  z_stream stream = {};
  require(inflateInit2(&stream, window_bits) == Z_OK, "zlib has no memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK && text.size() < kMostText) {
    char buffer[1 << 12];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    status = ::inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  refuse_incomplete_code(stream);
  bytes.remove_prefix(bytes.size() - stream.avail_in);
  if (status != Z_STREAM_END) return {};
  return text;
}

std::size_t number(std::string_view bytes, std::size_t at, std::size_t n) {
  std::size_t value = 0;
  for (std::size_t i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The size of a bgzip block by its extra field, and of its header; 0 for other gzip members.
std::size_t bgzip_size(std::string_view bytes, std::size_t& header) {
  if (bytes.size() < 12 || bytes[2] != 8 || bytes[3] != 4) return 0;
  header = 12 + number(bytes, 10, 2);
  if (bytes.size() < header) return 0;
  for (std::size_t at = 12; at + 4 <= header; at += 4 + number(bytes, at + 2, 2)) {
    if (bytes.substr(at, 2) == "BC" && number(bytes, at + 2, 2) == 2 && at + 6 <= header) {
      return number(bytes, at + 4, 2) + 1;
    }
  }
  return 0;
}

std::optional<std::string> bgzip_block(std::string_view block, std::size_t header) {
  if (block.size() < header + 8) return {};
  std::string_view deflated = block.substr(header, block.size() - header - 8);
  const auto text = inflate_slowly(deflated, -MAX_WBITS);
  const std::size_t size = number(block, block.size() - 4, 4);
  if (!text || text->size() != size || size > 1 << 16) return {};
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(text->data()), static_cast<uInt>(size));
  if (crc != number(block, block.size() - 8, 4)) return {};
  return text;
}

// The text of all members of a file, by zlib; nothing if the file is damaged.
std::optional<std::string> gunzip_slowly(std::string_view bytes) {
  std::string text;
  bool open_ended = false;  // the last block is a bgzip block with text
  while (bytes.substr(0, 2) == "\x1f\x8b") {
    std::size_t header = 0;
    const std::size_t size = bgzip_size(bytes, header);
    std::optional<std::string> more;
    if (size > bytes.size()) return {};
    if (size > 0) {
      more = bgzip_block(bytes.substr(0, size), header);
      bytes.remove_prefix(size);
    } else {
      more = inflate_slowly(bytes, MAX_WBITS + 16);
    }
    if (!more) return {};
    open_ended = size > 0 && !more->empty();
    text += *more;
  }
  if (open_ended || bytes.find_first_not_of('\0') != bytes.npos) return {};
  return text;
}

void check_deflated(std::string_view deflated, Choices& choices) {
  std::string_view rest = deflated;
  const auto text = inflate_slowly(rest, -MAX_WBITS);
  if (!text) {
    std::string out(100, '\0');
    const std::string result = outcome([&] {
      inflate_block(deflated, &out[0], out.size(), 0);
      return "good";
    });
    require(is_error(result), "damaged data are taken for text");
    return;
  }
  if (text->size() > 1 << 16) return;
  deflated.remove_suffix(rest.size());
  const std::string block = test::bgzf_frame(deflated, *text);
  const std::string member = std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) + block.substr(18);
  const std::string empty = test::bgzf_block("");
  require_text(block + empty, text, choices);
  require_text(member, text, choices);
  require_text(member + block + block + empty, *text + *text + *text, choices);
}

}  // namespace

void check(std::string_view input) {
  Choices choices(input);
  try {
    if (input.substr(0, 2) != "\x1f\x8b") return check_deflated(input, choices);
    require_text(input, gunzip_slowly(input), choices);
  } catch (const IncompleteCode&) {
    read(input, choices);
  }
}

}  // namespace ancify::fuzz
