// Arrays of Zarr, format 2: the metadata of a .zarray, and its chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/io/rows.h"

namespace ancify {

enum class ZarrCodec : std::uint8_t { kNone, kBlosc, kZlib, kZstd };

// Integers of 1 to 8 bytes, the lowest first; bool stands for unsigned ones of a byte. Floats have
// 4 bytes. Texts are stored behind their lengths, as the filter vlen-utf8 writes them.
enum class ZarrType : std::uint8_t { kSigned, kUnsigned, kFloat, kText };

struct ZarrArray {
  std::string folder;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> chunks;  // the shape of a chunk, also beyond the array's edge
  ZarrType type = ZarrType::kSigned;
  std::int64_t bytes = 0;    // of a number
  bool packed_bits = false;  // by the filter packbits
  std::int64_t fill = 0;     // the value in chunks that are no files; the bits of a float
  char separator = '.';
  ZarrCodec codec = ZarrCodec::kNone;

  std::int64_t items() const;  // of a chunk
  std::int64_t chunks_along(std::size_t dimension) const;
  std::string chunk_path(const std::vector<std::int64_t>& chunk) const;
};

// `file`: the file of this metadata, for messages. Throws FormatError for anything unsupported, as
// another order, data type, compressor or filter. The message names the way out. Floats are read
// only if `floats`.
ZarrArray parse_zarr_array(const Json& json, const std::string& folder, const std::string& file,
                           bool floats);

// A chunk's integers, or the bits of floats.
struct ZarrIntegers {
  const ZarrArray* array = nullptr;
  std::string bytes;

  std::int64_t operator[](std::int64_t i) const;
};

// A chunk that is no file.
ZarrIntegers filled_chunk(const ZarrArray& array);

// Reads a chunk's numbers or texts; empty if there is no such file. `read_bytes` increases by the
// size of the file. Memory is bounded by the array's chunk size, or for texts by the size of the
// file. FormatError names the chunk's file and `what` it holds if it is damaged.
std::optional<ZarrIntegers> read_zarr_integers(const ZarrArray& array,
                                               const std::vector<std::int64_t>& chunk,
                                               const std::string& what, std::int64_t& read_bytes);
std::optional<TextColumn> read_zarr_texts(const ZarrArray& array,
                                          const std::vector<std::int64_t>& chunk,
                                          const std::string& what, std::int64_t& read_bytes);

}  // namespace ancify
