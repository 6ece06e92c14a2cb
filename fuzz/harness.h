// Shared by all fuzz harnesses. A harness defines check(), which must return for any bytes.
// outcome() catches the errors that bad input may cause. Any other error ends the program and is a
// finding.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/cpp/chunks.h"
#include "core/device/simd.h"
#include "core/exec/errors.h"
#include "core/io/foreign_format.h"
#include "core/io/zstd_source.h"

namespace ancify::fuzz {

using test::read_in_chunks;

void check(std::string_view input);

// Pseudorandom choices, seeded by the input itself, so that an input is nothing but a file.
class Choices {
 public:
  explicit Choices(std::string_view input) {
    for (const char c : input) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % n;
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // Small chunks end anywhere, but are slow, so they are rare.
  std::size_t chunk() { return one_in(8) ? 1 + below(8) : 20 + below(200); }
  // A level that this machine can run.
  SimdLevel simd() {
    static const SimdLevel best = best_simd_level();
    return static_cast<SimdLevel>(below(static_cast<std::size_t>(best) + 1));
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// A file in memory.
class MemoryFile {
 public:
  MemoryFile()
      : fd_(memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  const std::string& write(std::string_view content) {
    if (ftruncate(fd_, 0) != 0 ||
        pwrite(fd_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
      std::perror("cannot write in memory");
      std::abort();
    }
    return path_;
  }

 private:
  int fd_;
  std::string path_;
};

// The path of a file with the input.
inline const std::string& as_file(std::string_view input) {
  static MemoryFile file;
  return file.write(input);
}

// The text that run() returns, or the message of an error that bad input may cause.
template <class Run>
std::string outcome(Run run) {
  try {
    return run();
  } catch (const FormatError& error) {
    return std::string("format error: ") + error.what();
  } catch (const FileError& error) {
    return std::string("file error: ") + error.what();
  } catch (const InputError& error) {
    return std::string("input error: ") + error.what();
  }
}

inline bool is_error(const std::string& outcome) {
  for (const char* start : {"format error: ", "file error: ", "input error: "}) {
    if (outcome.rfind(start, 0) == 0) return true;
  }
  return false;
}

// Ends the program with a finding unless `good`.
inline void require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

// Only the kind of an error, as with other chunks another of several errors may come first.
inline std::string without_message(const std::string& outcome) {
  return is_error(outcome) ? outcome.substr(0, outcome.find(':')) : outcome;
}

inline void require_equal(const std::string& one, const std::string& other, const char* ways) {
  require(one == other, std::string(ways) + " differ\n---- one\n" + one + "\n---- other\n" + other);
}

// The result of read(path, chunk) for the input, which must not depend on the chunk size.
template <class Read>
std::string read_in_any_chunks(std::string_view input, Read read) {
  const std::string& path = as_file(input);
  const std::string whole = read(path, input.size() + 1);
  require_equal(without_message(whole), without_message(read(path, Choices(input).chunk())),
                "two sizes of chunks");
  return whole;
}

// The inflated text of a file as open_text() returns it: lines that end in CR alone end in LF.
// Empty for a foreign format, which is refused.
inline std::optional<std::string> as_opened(std::string text) {
  const std::string start = text.substr(0, kForeignStart);
  if (!foreign_format(start).empty()) return {};
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  const bool is_known = start.size() < kForeignStart || start.find('\r') + 1 < start.size();
  if (is_known && start.find('\n') == start.npos)
    std::replace(text.begin(), text.end(), '\r', '\n');
  return text;
}

// Like as_opened(), for an input from which a reader made `outcome`. Empty for compressed data too.
inline std::optional<std::string> text_to_read(std::string_view input, const std::string& outcome) {
  if (input.substr(0, 2) == "\x1f\x8b" || is_zstd(input)) return {};
  auto text = as_opened(std::string(input));
  require(text || is_error(outcome), "a foreign format is read");
  return text;
}

// The words of a line, separated by blanks and tabs.
inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return words;
}

}  // namespace ancify::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ancify::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
