// Inflates with ISA-L, libdeflate or zlib, whichever the build has.
#include "core/io/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "core/exec/errors.h"
#include "core/io/checksum.h"

#if defined(ANCIFY_HAVE_ISAL)
#include <isa-l/igzip_lib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#elif defined(ANCIFY_HAVE_LIBDEFLATE)
#include <libdeflate.h>
#endif

namespace ancify {

namespace {

// The libraries count in 32 bits.
unsigned clamp(std::size_t n) {
  return static_cast<unsigned>(std::min<std::size_t>(n, std::numeric_limits<int>::max()));
}

#if defined(ANCIFY_HAVE_ISAL)

// ISA-L leaves values in the upper halves of AVX registers, which slow down later SSE instructions.
#if defined(__x86_64__)
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }

void leave_isal() {
  if (__builtin_cpu_supports("avx")) clear_upper_halves();
}
#else
void leave_isal() {}
#endif

class IsalInflater : public StreamInflater {
 public:
  IsalInflater() { start_member(); }

  Step inflate(std::string_view input, char* output, std::size_t size) override {
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_.avail_in = clamp(input.size());
    state_.next_out = reinterpret_cast<std::uint8_t*>(output);
    state_.avail_out = clamp(size);
    if (in_header_) read_header();
    if (!in_header_) {
      const int status = isal_inflate(&state_);
      leave_isal();
      check(status);
    }
    return {clamp(input.size()) - state_.avail_in, clamp(size) - state_.avail_out,
            state_.block_state == ISAL_BLOCK_FINISH};
  }

  void reset() override { start_member(); }

 private:
  void start_member() {
    isal_inflate_init(&state_);
    isal_gzip_header_init(&header_);
    in_header_ = true;
  }

  // isal_inflate() also reads the header, but loses its flags if the input ends inside it.
  void read_header() {
    const int status = isal_read_gzip_header(&state_, &header_);
    check(status);
    in_header_ = status == ISAL_END_INPUT;
    state_.crc_flag = ISAL_GZIP_NO_HDR_VER;
  }

  static void check(int status) {
    if (status >= 0) return;
    if (status == ISAL_INCORRECT_CHECKSUM) throw InputError("incorrect data check");
    throw InputError("invalid gzip data (ISA-L error " + std::to_string(status) + ")");
  }

  inflate_state state_;
  isal_gzip_header header_;
  bool in_header_;
};

using ChosenInflater = IsalInflater;

#else

class ZlibInflater : public StreamInflater {
 public:
  ZlibInflater() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  Step inflate(std::string_view input, char* output, std::size_t size) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = clamp(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = clamp(size);
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw InputError(stream_.msg != nullptr ? stream_.msg : zError(status));
    }
    return {clamp(input.size()) - stream_.avail_in, clamp(size) - stream_.avail_out,
            status == Z_STREAM_END};
  }

  void reset() override { inflateReset(&stream_); }

 private:
  z_stream stream_ = {};
};

using ChosenInflater = ZlibInflater;

#endif

}  // namespace

std::unique_ptr<StreamInflater> make_stream_inflater() {
  return std::make_unique<ChosenInflater>();
}

#if defined(ANCIFY_HAVE_ISAL)

const char* inflater_name() { return "ISA-L"; }

namespace {

// Inflates `deflated` into all of the output. Returns how many of its bytes are left. `wrapper`:
// ISA-L's code of a header around deflate data.
std::uint32_t inflate_whole(std::string_view deflated, char* output, std::size_t size,
                            std::uint32_t wrapper, const char* problem) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = wrapper;
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(deflated.data()));
  state.avail_in = clamp(deflated.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(output);
  state.avail_out = clamp(size);
  const int status = isal_inflate_stateless(&state);
  leave_isal();
  if (status != ISAL_DECOMP_OK || state.avail_out != 0) throw InputError(problem);
  return state.avail_in;
}

}  // namespace

void inflate_block(std::string_view deflated, char* output, std::size_t size, std::uint32_t crc) {
  inflate_whole(deflated, output, size, ISAL_DEFLATE, "invalid deflate data");
  if (extend_checksum(0, output, size) != crc) throw InputError("incorrect data check");
}

void inflate_zlib(std::string_view deflated, char* output, std::size_t size) {
  constexpr const char* problem = "invalid zlib data";
  if (inflate_whole(deflated, output, size, ISAL_ZLIB, problem) != 0) throw InputError(problem);
}

#elif defined(ANCIFY_HAVE_LIBDEFLATE)

const char* inflater_name() { return "libdeflate for bgzip, zlib for other gzip"; }

namespace {

using Decompressor =
    std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;

Decompressor make_decompressor() {
  Decompressor made(libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

}  // namespace

void inflate_block(std::string_view deflated, char* output, std::size_t size, std::uint32_t crc) {
  const Decompressor decompressor = make_decompressor();
  if (libdeflate_deflate_decompress(decompressor.get(), deflated.data(), deflated.size(), output,
                                    size, nullptr) != LIBDEFLATE_SUCCESS) {
    throw InputError("invalid deflate data");
  }
  if (extend_checksum(0, output, size) != crc) throw InputError("incorrect data check");
}

void inflate_zlib(std::string_view deflated, char* output, std::size_t size) {
  const Decompressor decompressor = make_decompressor();
  std::size_t used = 0;
  if (libdeflate_zlib_decompress_ex(decompressor.get(), deflated.data(), deflated.size(), output,
                                    size, &used, nullptr) != LIBDEFLATE_SUCCESS ||
      used != deflated.size()) {
    throw InputError("invalid zlib data");
  }
}

#else

const char* inflater_name() { return "zlib"; }

void inflate_block(std::string_view deflated, char* output, std::size_t size, std::uint32_t crc) {
  z_stream stream = {};
  constexpr int raw_deflate = -MAX_WBITS;
  if (inflateInit2(&stream, raw_deflate) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data()));
  stream.avail_in = clamp(deflated.size());
  stream.next_out = reinterpret_cast<Bytef*>(output);
  stream.avail_out = clamp(size);
  const int status = ::inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) throw InputError("invalid deflate data");
  if (extend_checksum(0, output, size) != crc) throw InputError("incorrect data check");
}

void inflate_zlib(std::string_view deflated, char* output, std::size_t size) {
  uLongf produced = size;
  uLong used = deflated.size();
  const int status = uncompress2(reinterpret_cast<Bytef*>(output), &produced,
                                 reinterpret_cast<const Bytef*>(deflated.data()), &used);
  if (status != Z_OK || produced != size || used != deflated.size()) {
    throw InputError("invalid zlib data");
  }
}

#endif

std::string inflate_zlib(std::string_view deflated, std::size_t most) {
  constexpr std::size_t usual_inflation = 4;
  constexpr std::size_t least = 64;
  std::string text(std::min(most, usual_inflation * deflated.size() + least), '\0');
  for (;;) {
    uLongf produced = text.size();
    uLong used = deflated.size();
    const int status = uncompress2(reinterpret_cast<Bytef*>(text.data()), &produced,
                                   reinterpret_cast<const Bytef*>(deflated.data()), &used);
    if (status == Z_OK && used == deflated.size()) {
      text.resize(produced);
      return text;
    }
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_BUF_ERROR) throw InputError("invalid zlib data");
    if (text.size() == most)
      throw InputError("it has more than " + std::to_string(most) + " bytes");
    text.assign(std::min(most, 2 * text.size()), '\0');
  }
}

}  // namespace ancify
