// Reads and inflates chunks of arrays of Zarr.
// Source: Zarr storage specification, version 2; numcodecs' vlen-utf8 and packbits.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/exec/errors.h"
#include "core/formats/genotype/zarr_array.h"
#include "core/io/blosc.h"
#include "core/io/byte_source.h"
#include "core/io/inflate.h"
#include "core/io/little_endian.h"
#include "core/io/record_size.h"
#include "core/io/text.h"
#include "core/io/zstd_source.h"

namespace ancify {

namespace {

// The bytes of a file; empty if there is none.
std::optional<std::string> bytes_of_file(const std::string& path) {
  std::error_code error;  // set for a missing file
  if (!std::filesystem::exists(path, error)) return {};
  const InputFile file(path);
  // Compressors add little to what they cannot compress.
  if (static_cast<std::size_t>(file.size()) / 2 > longest_record()) {
    throw InputError("it has " + std::to_string(file.size()) + " bytes");
  }
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(bytes.data(), bytes.size(), 0);
  file.check_unchanged();
  return bytes;
}

// Inflates a chunk of known size.
std::string inflate_to(ZarrCodec codec, std::string stored, std::size_t size) {
  if (codec == ZarrCodec::kNone) {
    if (stored.size() != size) {
      throw InputError("it has " + std::to_string(stored.size()) + " bytes, not " +
                       std::to_string(size));
    }
    return stored;
  }
  if (codec == ZarrCodec::kBlosc && blosc_size(stored) != size) {
    throw InputError("it has " + std::to_string(blosc_size(stored)) + " bytes, not " +
                     std::to_string(size));
  }
  std::string inflated(size, '\0');
  if (codec == ZarrCodec::kBlosc) inflate_blosc(stored, inflated.data(), size);
  if (codec == ZarrCodec::kZlib) inflate_zlib(stored, inflated.data(), size);
  if (codec == ZarrCodec::kZstd) ZstdInflater().inflate(stored, inflated.data(), size);
  return inflated;
}

// Inflates a chunk of texts, whose size only the compressed data tell.
std::string inflate_any(ZarrCodec codec, std::string stored) {
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(
      static_cast<std::int64_t>(longest_record()),
      std::max(kFreeText, kMostInflation * static_cast<std::int64_t>(stored.size()))));
  if (codec == ZarrCodec::kNone) return stored;
  if (codec == ZarrCodec::kZlib) return inflate_zlib(stored, most);
  const std::size_t size =
      codec == ZarrCodec::kBlosc ? blosc_size(stored) : ZstdInflater::size_of(stored);
  if (size > most) {
    throw InputError("its texts have " + std::to_string(size) +
                     " bytes, too many for the size of the file");
  }
  return inflate_to(codec, std::move(stored), size);
}

// The first byte is the number of unused bits at the end. The highest bit of a byte is its first.
std::string unpack_bits(std::string_view packed, std::size_t items) {
  std::string bits(items, '\0');
  for (std::size_t i = 0; i < items; ++i) {
    bits[i] = static_cast<char>(static_cast<unsigned char>(packed[1 + i / 8]) >> (7 - i % 8) & 1);
  }
  return bits;
}

std::string integers_of(const ZarrArray& array, std::string stored) {
  const auto items = static_cast<std::size_t>(array.items());
  if (!array.packed_bits) {
    return inflate_to(array.codec, std::move(stored),
                      items * static_cast<std::size_t>(array.bytes));
  }
  return unpack_bits(inflate_to(array.codec, std::move(stored), 1 + (items + 7) / 8), items);
}

constexpr std::size_t kTextLengthBytes = 4;

std::size_t take_length(std::string_view& rest) {
  if (rest.size() < kTextLengthBytes) throw InputError("its texts end too soon");
  const auto length = static_cast<std::size_t>(
      little_endian(reinterpret_cast<const std::uint8_t*>(rest.data()), kTextLengthBytes));
  rest.remove_prefix(kTextLengthBytes);
  return length;
}

TextColumn texts_of(const ZarrArray& array, std::string_view rest) {
  const std::size_t n = take_length(rest);
  if (n != static_cast<std::size_t>(array.items())) {
    throw InputError("it has " + std::to_string(n) + " texts, not " +
                     std::to_string(array.items()));
  }
  TextColumn texts;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t length = take_length(rest);
    if (length > rest.size()) throw InputError("its texts end too soon");
    const std::string_view text = rest.substr(0, length);
    if (!is_utf8(text) || text.find('\0') != text.npos) {
      throw InputError("text " + std::to_string(i + 1) + " is not UTF-8");
    }
    texts.add(text);
    rest.remove_prefix(length);
  }
  if (!rest.empty()) throw InputError("more bytes follow its texts");
  return texts;
}

// The result of decode(bytes) for a chunk's file; empty if there is none.
template <class Decode>
auto decoded(const ZarrArray& array, const std::vector<std::int64_t>& chunk,
             const std::string& what, std::int64_t& read_bytes, Decode decode)
    -> std::optional<decltype(decode(std::string()))> {
  const std::string path = array.chunk_path(chunk);
  try {
    std::optional<std::string> stored = bytes_of_file(path);
    if (!stored) return {};
    read_bytes += static_cast<std::int64_t>(stored->size());
    return decode(std::move(*stored));
  } catch (const InputError& error) {
    throw FormatError(path, 0,
                      "this chunk, which has " + what + ", is damaged: " + error.what() +
                          ". Copy or write the store again");
  }
}

}  // namespace

std::int64_t ZarrIntegers::operator[](std::int64_t i) const {
  const std::int64_t width = array->bytes;
  const auto value =
      little_endian<std::uint64_t>(bytes.data() + i * width, static_cast<std::size_t>(width));
  const auto unused = static_cast<unsigned>(64 - 8 * width) & 63U;  // a value has bytes
  if (array->type == ZarrType::kUnsigned) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

ZarrIntegers filled_chunk(const ZarrArray& array) {
  ZarrIntegers chunk{&array,
                     std::string(static_cast<std::size_t>(array.items() * array.bytes), '\0')};
  const auto width = static_cast<std::size_t>(array.bytes);
  for (std::size_t i = 0; i < chunk.bytes.size(); ++i) {
    chunk.bytes[i] = static_cast<char>(array.fill >> 8 * (i % width));
  }
  return chunk;
}

std::optional<ZarrIntegers> read_zarr_integers(const ZarrArray& array,
                                               const std::vector<std::int64_t>& chunk,
                                               const std::string& what, std::int64_t& read_bytes) {
  return decoded(array, chunk, what, read_bytes, [&](std::string stored) {
    return ZarrIntegers{&array, integers_of(array, std::move(stored))};
  });
}

std::optional<TextColumn> read_zarr_texts(const ZarrArray& array,
                                          const std::vector<std::int64_t>& chunk,
                                          const std::string& what, std::int64_t& read_bytes) {
  return decoded(array, chunk, what, read_bytes, [&](std::string stored) {
    return texts_of(array, inflate_any(array.codec, std::move(stored)));
  });
}

}  // namespace ancify
