// Fuzzes files of autoencoders, and of embedding parts: a part that is read is written again as the
// same bytes, or there is an error. Its checksum is appended to the input, as no input would have
// the right one.
#include "core/models/part_file.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/autoencoder/autoencoder.h"
#include "core/io/checksum.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string with_checksum(std::string bytes) {
  const std::uint32_t checksum = extend_checksum(0, bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return bytes;
}

const std::string& scratch() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("fuzz-part-" + std::to_string(getpid()))).string();
  return path;
}

std::string bytes_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

void check(std::string_view input) {
  outcome([&] {
    autoencoder::read_autoencoder(as_file(input), TaskContext());
    return std::string();
  });
  const std::string bytes = with_checksum(std::string(input));
  outcome([&] {
    const EmbeddingPart part = read_part(as_file(bytes));
    std::int64_t rows = 0;
    for (const std::int64_t n : part.rows) rows += n;
    require(rows * part.width == static_cast<std::int64_t>(part.values.size()),
            "a part with other rows than values");
    if (!Choices(input).one_in(64)) return std::string();  // files are slow
    write_part(part, scratch(), TaskContext());
    std::string expected = bytes;
    // Any number except 0 means rows of residues.
    if (part.by_residue) {
      const std::int64_t yes = 1;
      expected.resize(expected.size() - 4);
      std::memcpy(&expected[16], &yes, sizeof yes);
      expected = with_checksum(expected);
    }
    require(bytes_in(scratch()) == expected, "a part that is written otherwise");
    return std::string();
  });
}

}  // namespace ancify::fuzz
