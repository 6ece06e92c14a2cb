// Computes CRC-32 checksums of bytes, of concatenated parts, and of files.
#include "core/io/checksum.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#if defined(ANCIFY_HAVE_ISAL)
#include <isa-l/crc.h>
#elif defined(ANCIFY_HAVE_LIBDEFLATE)
#include <libdeflate.h>
#endif

namespace ancify {

std::uint32_t extend_checksum(std::uint32_t checksum, const char* data, std::size_t n) {
  // For zero bytes the address may be null, for which zlib returns an initial checksum.
  if (n == 0) return checksum;
#if defined(ANCIFY_HAVE_ISAL)
  return crc32_gzip_refl(checksum, reinterpret_cast<const unsigned char*>(data), n);
#elif defined(ANCIFY_HAVE_LIBDEFLATE)
  return libdeflate_crc32(checksum, data, n);
#else
  return static_cast<std::uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(data), n));
#endif
}

std::uint32_t join_checksums(std::uint32_t first, std::uint32_t second, std::int64_t n) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, n));
}

namespace {

std::uint32_t extend_by_piece(std::uint32_t checksum, const InputFile& file, std::int64_t offset,
                              std::vector<char>& buffer) {
  const auto n = static_cast<std::size_t>(
      std::min(file.size() - offset, static_cast<std::int64_t>(buffer.size())));
  file.read_at(buffer.data(), n, offset);
  return extend_checksum(checksum, buffer.data(), n);
}

}  // namespace

FileChecksum checksum_of_file(const std::string& path, const TaskContext& context) {
  const InputFile file(path);
  std::vector<char> buffer(std::size_t{1} << 18);
  FileChecksum sum = {file.size(), 0, file.identity()};
  for (std::int64_t at = 0; at < file.size(); at += static_cast<std::int64_t>(buffer.size())) {
    context.throw_if_stopped();
    sum.checksum = extend_by_piece(sum.checksum, file, at, buffer);
  }
  file.check_unchanged();
  return sum;
}

std::uint32_t checksum_of_sample(const InputFile& file) {
  constexpr std::int64_t piece = std::int64_t{1} << 16;
  constexpr std::int64_t pieces = 16;
  std::vector<char> buffer(piece);
  std::uint32_t sum = 0;
  // A small file is read whole. From a large file, pieces are spread from start to end.
  const std::int64_t last = std::max<std::int64_t>(file.size() - piece, 0);
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t at = file.size() <= pieces * piece ? i * piece : last * i / (pieces - 1);
    if (at >= file.size()) break;
    sum = extend_by_piece(sum, file, at, buffer);
  }
  return sum;
}

}  // namespace ancify
