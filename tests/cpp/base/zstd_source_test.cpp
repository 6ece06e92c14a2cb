// Checks texts that Zstandard compressed: several frames, cut or damaged ones, and trailing bytes.
#include "core/io/zstd_source.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/byte_source.h"
#include "support.h"

#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#endif

namespace ancify {
namespace {

using test::message_of;
using test::read_all;
using test::TempDir;

// A frame of one raw block, which needs no library; its checksum is left out.
std::string raw_frame(const std::string& text) {
  const auto size = static_cast<unsigned>(text.size());
  const unsigned block = size << 3 | 1;  // the last block, as it is
  std::string frame("\x28\xb5\x2f\xfd\xa0", 5);
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(size >> (8 * i));
  for (int i = 0; i < 3; ++i) frame += static_cast<char>(block >> (8 * i));
  return frame + text;
}

#ifndef ANCIFY_HAVE_ZSTD

TEST(Zstd, IsNamedInABuildWithoutIt) {
  TempDir dir;
  const std::string path = dir.write("x.zst", raw_frame("a text\n"));
  const std::string message = message_of<FormatError>([&] { open_text(path); });
  for (const char* part : {"x.zst", "built without", "zstd -d"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(zstd_version(), "");
}

#else

// With a checksum, as the program zstd writes it.
std::string frame(const std::string& text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress2(context.get(), &bytes[0], bytes.size(), text.data(), text.size()));
  return bytes;
}

// A frame that holds no text, as pzstd writes before each other one.
std::string skipped(const std::string& content) {
  return std::string("\x50\x2a\x4d\x18", 4) + static_cast<char>(content.size()) +
         std::string(3, '\0') + content;
}

std::string read(const TempDir& dir, const std::string& bytes, std::size_t buffer = 64,
                 std::size_t piece = 1000) {
  return read_all(*open_text(dir.write("x.zst", bytes), buffer), piece);
}

std::string some_text() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += std::to_string(i * i % 977) + "\n";
  return text;
}

TEST(Zstd, GivesTheTextOfAllFrames) {
  TempDir dir;
  const std::string text = some_text();
  const std::string one = frame(text);
  const std::pair<std::string, std::string> forms[] = {
      {one, text},
      {raw_frame("a\n"), "a\n"},
      {one + frame("") + raw_frame("a\n") + one, text + "a\n" + text},
      {skipped("1234") + one + skipped("") + frame("b\n") + skipped("12"), text + "b\n"},
      {frame(""), ""}};
  for (const auto& [bytes, expected] : forms) {
    for (const std::size_t buffer : {1, 7, 1 << 16}) {
      for (const std::size_t piece : {1, 1000, 1 << 20}) {
        ASSERT_EQ(read(dir, bytes, buffer, piece), expected) << buffer << " " << piece;
      }
    }
  }
}

TEST(Zstd, CountsTheBytesOfTheFile) {
  TempDir dir;
  const std::string bytes = frame(some_text()) + skipped("123") + frame("a\n");
  const auto source = open_text(dir.write("x.zst", bytes), 100);
  read_all(*source, 64);
  EXPECT_EQ(source->consumed(), static_cast<std::int64_t>(bytes.size()));
}

TEST(Zstd, FindsEveryCut) {
  TempDir dir;
  const std::string first = skipped("12") + frame("the first\n");
  const std::string whole = first + frame(some_text().substr(0, 900)) + skipped("1234");
  const std::size_t second = whole.size() - skipped("1234").size();
  for (std::size_t n = 4; n < whole.size(); ++n) {
    // Frames that were lost as a whole leave no trace.
    if (n == skipped("12").size() || n == first.size() || n == second) continue;
    EXPECT_THROW(read(dir, whole.substr(0, n)), FormatError) << n;
  }
}

TEST(Zstd, FindsEveryFlippedBitOfTheData) {
  TempDir dir;
  const std::string text = some_text().substr(0, 200);
  const std::string whole = frame(text);
  for (std::size_t i = 4; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      try {
        // Only damage to fields that do not matter may go unnoticed.
        EXPECT_EQ(read(dir, damaged), text) << "byte " << i << ", bit " << bit;
      } catch (const FormatError&) {
        continue;
      }
    }
  }
}

TEST(Zstd, RefusesWhatFollowsTheData) {
  TempDir dir;
  for (const std::string more : {"x", "xyz", "more text\n", "\x1f\x8b\x08\n"}) {
    EXPECT_THROW(read(dir, frame("text\n") + more), FormatError) << more;
  }
}

#endif

}  // namespace
}  // namespace ancify
