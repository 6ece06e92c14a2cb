// Inflates with the library that configure chose: ISA-L, libdeflate (for bgzip blocks) or zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ancify {

// Inflates a gzip member piece by piece and checks its checksum.
class StreamInflater {
 public:
  struct Step {
    std::size_t consumed;
    std::size_t produced;
    bool member_ended;
  };
  virtual ~StreamInflater() = default;
  // Inflates a piece of the member. Throws InputError with the library's reason if it is damaged.
  virtual Step inflate(std::string_view input, char* output, std::size_t size) = 0;
  // Prepares for the next member.
  virtual void reset() = 0;
};

std::unique_ptr<StreamInflater> make_stream_inflater();

// Inflates raw deflate data into exactly `size` bytes of text with this CRC-32, or throws
// InputError.
void inflate_block(std::string_view deflated, char* output, std::size_t size, std::uint32_t crc);

// Inflates a whole zlib stream into exactly `size` bytes, and checks its checksum. Throws
// InputError.
void inflate_zlib(std::string_view deflated, char* output, std::size_t size);

// Inflates a whole zlib stream of at most `most` bytes. Throws InputError.
std::string inflate_zlib(std::string_view deflated, std::size_t most);

// The libraries in use, for messages.
const char* inflater_name();

}  // namespace ancify
