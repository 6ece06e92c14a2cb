// Helpers for tests: temporary folders, files, gzip and bgzip by zlib, and messages of errors.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/simd.h"
#include "core/io/byte_source.h"

namespace ancify::test {

// A temporary folder that is removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ancify-XXXXXX").string();
    path_ = mkdtemp(&pattern[0]);
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  std::size_t entries() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::recursive_directory_iterator(path_)) {
      ++n;
    }
    return n;
  }
  // True if a folder in it is empty or missing.
  bool has_nothing_in(const std::string& name) const {
    return !std::filesystem::exists(file(name)) || std::filesystem::is_empty(file(name));
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string read_all(ByteSource& source, std::size_t piece) {
  std::string text;
  std::vector<char> buffer(piece);
  while (const std::size_t n = source.read(buffer.data(), piece)) text.append(buffer.data(), n);
  return text;
}

inline std::string deflate_with(const std::string& text, int window_bits) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string gzip(const std::string& text) { return deflate_with(text, MAX_WBITS + 16); }

// A bgzip block of a text; `body` is the deflated text.
inline std::string bgzf_frame(std::string_view body, const std::string& text) {
  const auto put = [](std::string& out, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  };
  std::string block("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0", 16);
  put(block, static_cast<std::uint32_t>(block.size() + 2 + body.size() + 8 - 1), 2);
  block += body;
  put(block,
      static_cast<std::uint32_t>(
          crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()))),
      4);
  put(block, static_cast<std::uint32_t>(text.size()), 4);
  return block;
}

inline std::string bgzf_block(const std::string& text) {
  return bgzf_frame(deflate_with(text, -MAX_WBITS), text);
}

// The text in bgzip blocks of at most `size` bytes, and the empty block that ends a bgzip file.
inline std::string bgzip(const std::string& text, std::size_t size) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size) out += bgzf_block(text.substr(at, size));
  return out + bgzf_block("");
}

// The SIMD levels that this machine can run.
inline std::vector<SimdLevel> simd_levels() {
  std::vector<SimdLevel> levels;
  for (const auto level : {SimdLevel::kScalar, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level <= best_simd_level()) levels.push_back(level);
  }
  return levels;
}

// Runs a function that should fail, and returns the message of its error.
template <class Failure, class Run>
std::string message_of(Run run) {
  try {
    run();
  } catch (const Failure& error) {
    return error.what();
  }
  return "no error of the expected type";
}

}  // namespace ancify::test
