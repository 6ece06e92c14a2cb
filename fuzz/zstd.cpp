// Fuzzes frames of Zstandard: pieces of any size give the text that libzstd gives for the whole
// file. Other input is compressed first, cut and damaged.
#include <optional>

#include "compressed.h"
#include "core/io/zstd_source.h"

#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#endif

namespace ancify::fuzz {

namespace {

#ifdef ANCIFY_HAVE_ZSTD

// The text of all frames of a file; nothing if the file is damaged.
std::optional<std::string> inflate_at_once(std::string_view bytes) {
  std::string text;
  ZSTD_DStream* const stream = ZSTD_createDStream();
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::size_t status = 0;
  std::string buffer(1 << 17, '\0');
  do {
    ZSTD_outBuffer out = {&buffer[0], buffer.size(), 0};
    status = ZSTD_decompressStream(stream, &out, &in);
    if (ZSTD_isError(status) != 0) break;
    text.append(buffer, 0, out.pos);
    if (in.pos == in.size && out.pos < out.size) break;
  } while (true);
  ZSTD_freeDStream(stream);
  if (status != 0) return {};
  return text;
}

void require_inflated(std::string_view bytes, Choices& choices) {
  require_text(bytes, inflate_at_once(bytes), choices);
}

std::string compress(std::string_view text, int level) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(&frame[0], frame.size(), text.data(), text.size(), level));
  return frame;
}

#endif

}  // namespace

void check(std::string_view input) {
  Choices choices(input);
#ifdef ANCIFY_HAVE_ZSTD
  if (is_zstd(input)) return require_inflated(input, choices);
  const std::string frame = compress(input, 1 + static_cast<int>(choices.below(3)));
  require_inflated(frame, choices);
  require_inflated(frame + frame, choices);
  const std::string cut = frame.substr(0, choices.below(frame.size()));
  if (is_zstd(cut)) require_inflated(cut, choices);
  std::string damaged = frame;
  damaged[choices.below(frame.size())] ^= static_cast<char>(1 + choices.below(255));
  if (is_zstd(damaged)) require_inflated(damaged, choices);
#else
  if (is_zstd(input)) require(is_error(read(input, choices)), "a frame is read without libzstd");
#endif
}

}  // namespace ancify::fuzz
