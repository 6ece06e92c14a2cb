// Files of models for tests: safetensors, zip archives and pickles, as texts. Expected numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/io/checksum.h"

namespace ancify::test {

inline std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The largest difference, relative to the largest expected value.
inline double relative_error(const float* found, const std::vector<float>& expected) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference = std::max(difference, std::fabs(double{found[i]} - double{expected[i]}));
    largest = std::max(largest, std::fabs(double{expected[i]}));
  }
  return difference / largest;
}

// A number of n bytes, the lowest first.
inline std::string bytes_of(std::uint64_t number, std::size_t n) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i, number >>= 8) bytes += static_cast<char>(number & 255);
  return bytes;
}

inline std::string as_safetensors(const std::string& header, const std::string& data) {
  return bytes_of(header.size(), 8) + header + data;
}

// An uncompressed archive. With `zip64`, sizes and offsets are in the fields of 8 bytes.
inline std::string as_zip(const std::vector<std::pair<std::string, std::string>>& entries,
                          bool zip64 = false, int method = 0) {
  std::string archive;
  std::string directory;
  for (const auto& [name, data] : entries) {
    const std::uint64_t crc = extend_checksum(0, data.data(), data.size());
    const std::uint64_t small = zip64 ? 0xFFFFFFFF : data.size();
    const std::string sizes = bytes_of(crc, 4) + bytes_of(small, 4) + bytes_of(small, 4);
    const std::string middle = bytes_of(20, 2) + bytes_of(0, 2) +
                               bytes_of(static_cast<std::uint64_t>(method), 2) + bytes_of(0, 4) +
                               sizes + bytes_of(name.size(), 2);
    std::string extra;
    if (zip64) {
      extra = bytes_of(1, 2) + bytes_of(24, 2) + bytes_of(data.size(), 8) +
              bytes_of(data.size(), 8) + bytes_of(archive.size(), 8);
    }
    directory += "PK\1\2" + bytes_of(20, 2) + middle + bytes_of(extra.size(), 2) + bytes_of(0, 10) +
                 bytes_of(zip64 ? 0xFFFFFFFF : archive.size(), 4) + name + extra;
    // A local header has a padding of its own.
    archive += "PK\3\4" + middle + bytes_of(6, 2) + name + "padded" + data;
  }
  const std::size_t begin = archive.size();
  archive += directory;
  if (zip64) {
    const std::size_t end = archive.size();
    archive += "PK\6\6" + bytes_of(44, 8) + bytes_of(0, 12) + bytes_of(entries.size(), 8) +
               bytes_of(entries.size(), 8) + bytes_of(directory.size(), 8) + bytes_of(begin, 8);
    archive += "PK\6\7" + bytes_of(0, 4) + bytes_of(end, 8) + bytes_of(1, 4);
  }
  return archive + "PK\5\6" + bytes_of(0, 4) + bytes_of(entries.size(), 2) +
         bytes_of(entries.size(), 2) + bytes_of(directory.size(), 4) +
         bytes_of(zip64 ? 0xFFFFFFFF : begin, 4) + bytes_of(0, 2);
}

// {"x": a tensor of 2 x 3 floats} as torch pickles it; `first` and `stride` place it in storage 0.
inline std::string pickled_tensor(int first = 0, int stride = 3,
                                  const std::string& storage = "torch\nFloatStorage") {
  const std::string id = "(X" + bytes_of(7, 4) + "storagec" + storage + "\nX" + bytes_of(1, 4) +
                         "0X" + bytes_of(3, 4) + "cpuK\6tQ";
  return std::string("\x80\2}X") + bytes_of(1, 4) + "xctorch._utils\n_rebuild_tensor_v2\n(" + id +
         "K" + static_cast<char>(first) + "K\2K\3\x86K" + static_cast<char>(stride) + "K\1\x86" +
         "\x89" + "ccollections\nOrderedDict\n)RtRs.";
}

inline std::string floats(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace ancify::test
