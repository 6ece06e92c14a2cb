// Inflates Zstandard frames with libzstd, where configure has found it.
#include "core/io/zstd_source.h"

#include <new>
#include <utility>

#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace ancify {

#ifdef ANCIFY_HAVE_ZSTD

namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

// libzstd refuses frames whose windows exceed 128 MB, so a file cannot request more memory.
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(FileWindow window)
      : window_(std::move(window)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }

  std::size_t read(char* out, std::size_t n) override {
    ZSTD_outBuffer text = {out, n, 0};
    while (text.pos == 0 && n > 0) {
      const std::string_view bytes = window_.at_least(1);
      if (bytes.empty() && !in_frame_) return 0;
      ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &text, &input);
      if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge) {
        throw FormatError(path(), 0,
                          "its windows take more than 128 MB, as after zstd --long=31. Compress it "
                          "again without --long");
      }
      if (ZSTD_isError(status) != 0) {
        fail(std::string("the compressed data are damaged: ") + ZSTD_getErrorName(status));
      }
      if (bytes.empty() && text.pos == 0) {
        fail("the compressed data end too early: the file was cut short");
      }
      window_.drop(input.pos);
      in_frame_ = status != 0;
    }
    return text.pos;
  }
  std::int64_t consumed() const override { return window_.consumed(); }
  const std::string& path() const override { return window_.path(); }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(window_.path(), 0, problem + ". Fetch or compress the file again");
  }

  FileWindow window_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_zstd_source(FileWindow window) {
  return std::make_unique<ZstdSource>(std::move(window));
}

struct ZstdInflater::Context {
  Context() : own(ZSTD_createDCtx()) {
    if (own == nullptr) throw std::bad_alloc();
  }
  ~Context() { ZSTD_freeDCtx(own); }
  ZSTD_DCtx* own;
};

ZstdInflater::ZstdInflater() : context_(std::make_unique<Context>()) {}
ZstdInflater::~ZstdInflater() = default;

void ZstdInflater::inflate(std::string_view frames, char* output, std::size_t size) {
  const std::size_t status =
      ZSTD_decompressDCtx(context_->own, output, size, frames.data(), frames.size());
  if (ZSTD_isError(status) != 0) throw InputError(ZSTD_getErrorName(status));
  if (status != size) throw InputError("the data end too early");
}

std::size_t ZstdInflater::size_of(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw InputError("the frame does not say its size");
  }
  return static_cast<std::size_t>(size);
}

std::string zstd_version() { return ZSTD_versionString(); }

#else

std::unique_ptr<ByteSource> make_zstd_source(FileWindow window) {
  throw FormatError(window.path(), 0,
                    "the file is compressed by Zstandard, which this copy of ancify was built "
                    "without. Inflate it with zstd -d, or install libzstd-dev and ancify again");
}

struct ZstdInflater::Context {};

namespace {

[[noreturn]] void refuse_zstd() {
  throw InputError(
      "they are compressed by Zstandard, which this copy of ancify was built without. Install "
      "libzstd-dev and ancify again");
}

}  // namespace

ZstdInflater::ZstdInflater() { refuse_zstd(); }
ZstdInflater::~ZstdInflater() = default;

void ZstdInflater::inflate(std::string_view, char*, std::size_t) {}

std::size_t ZstdInflater::size_of(std::string_view) { refuse_zstd(); }

std::string zstd_version() { return {}; }

#endif

}  // namespace ancify
