// Inflates with libblosc, where configure has found it.
#include "core/io/blosc.h"

#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_BLOSC
#include <blosc.h>
#endif

namespace ancify {

#ifdef ANCIFY_HAVE_BLOSC

std::size_t blosc_size(std::string_view buffer) {
  std::size_t size = 0;
  if (buffer.size() < BLOSC_MIN_HEADER_LENGTH ||
      blosc_cbuffer_validate(buffer.data(), buffer.size(), &size) != 0) {
    throw InputError("its header of Blosc is damaged, or the file was cut short");
  }
  return size;
}

void inflate_blosc(std::string_view buffer, char* output, std::size_t size) {
  const std::size_t found = blosc_size(buffer);
  if (found != size) {
    throw InputError("it has " + std::to_string(found) + " bytes, not " + std::to_string(size));
  }
  // The version with a context takes no lock, so threads inflate at the same time.
  constexpr int threads = 1;
  if (size > 0 &&
      blosc_decompress_ctx(buffer.data(), output, size, threads) != static_cast<int>(size)) {
    throw InputError("its data of Blosc are damaged, or libblosc lacks their compressor");
  }
}

std::string blosc_version() { return BLOSC_VERSION_STRING; }

#else

namespace {

[[noreturn]] void refuse_blosc() {
  throw InputError(
      "it is compressed by Blosc, which this copy of ancify was built without. Install "
      "libblosc-dev and ancify again");
}

}  // namespace

std::size_t blosc_size(std::string_view) { refuse_blosc(); }

void inflate_blosc(std::string_view, char*, std::size_t) { refuse_blosc(); }

std::string blosc_version() { return {}; }

#endif

}  // namespace ancify
