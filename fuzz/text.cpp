// Fuzzes small texts, which R parses: they have the file's bytes, or there is an error.
#include "core/io/text.h"

#include "core/io/lines.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

constexpr std::size_t kMost = 512;

std::string read_slowly(std::string text) {
  if (text.size() > kMost || text.find('\0') != text.npos || !is_utf8(text)) return {};
  return "text " + text;
}

}  // namespace

void check(std::string_view input) {
  const std::string read = outcome([&] { return "text " + read_text(as_file(input), kMost); });
  if (const auto text = text_to_read(input, read)) {
    require_equal(is_error(read) ? "" : read, read_slowly(*text), "the text and the slow way");
  }
}

}  // namespace ancify::fuzz
