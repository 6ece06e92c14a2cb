// Writes bgzip with htslib.
#include "core/io/bgzip_writer.h"

#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_HTSLIB

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>
#include <unistd.h>

namespace ancify {

struct CloseBgzip {
  void operator()(BGZF* stream) const { bgzf_close(stream); }
};

namespace {

// htslib gets a descriptor of its own, as it would take a name with a scheme for a URL.
hFILE* stream_of(const OutputFile& file) { return hdopen(dup(file.descriptor()), "w"); }

constexpr int kBlocksPerThread = 256;  // as bgzip does

}  // namespace

class BgzipWriter::Impl {
 public:
  Impl(const OutputFile& file, const OutputFile& index, int threads) : file_(file), index_(index) {
    hts_set_log_level(HTS_LOG_OFF);
    hFILE* const bytes = stream_of(file);
    if (bytes != nullptr) stream_.reset(bgzf_hopen(bytes, "w"));
    if (!stream_ && bytes != nullptr) hclose_abruptly(bytes);
    const bool is_ready = stream_ && bgzf_index_build_init(stream_.get()) == 0 &&
                          (threads == 0 || bgzf_mt(stream_.get(), threads, kBlocksPerThread) == 0);
    if (!is_ready) fail(file_);
  }

  void write(const char* data, std::size_t n) {
    if (bgzf_write(stream_.get(), data, n) < 0) fail(file_);
  }

  void finish() {
    if (bgzf_flush(stream_.get()) != 0) fail(file_);
    hFILE* const bytes = stream_of(index_);
    if (bytes == nullptr) fail(index_);
    const bool is_written = bgzf_index_dump_hfile(stream_.get(), bytes, nullptr) == 0;
    if (hclose(bytes) != 0 || !is_written) fail(index_);
    if (bgzf_close(stream_.release()) != 0) fail(file_);
  }

 private:
  [[noreturn]] static void fail(const OutputFile& file) {
    throw FileError(file.path(), "cannot write the file; is the disk full?");
  }

  const OutputFile& file_;
  const OutputFile& index_;
  std::unique_ptr<BGZF, CloseBgzip> stream_;
};

BgzipWriter::BgzipWriter(const OutputFile& file, const OutputFile& index, int threads)
    : impl_(std::make_unique<Impl>(file, index, threads)) {}
void BgzipWriter::write(const char* data, std::size_t n) { impl_->write(data, n); }
void BgzipWriter::finish() { impl_->finish(); }
BgzipWriter::~BgzipWriter() = default;

}  // namespace ancify

#else

namespace ancify {

class BgzipWriter::Impl {};

BgzipWriter::BgzipWriter(const OutputFile& file, const OutputFile&, int) {
  throw InputError("'" + file.path() +
                   "': this build cannot write bgzip, as it has no htslib. Leave .gz out");
}
void BgzipWriter::write(const char*, std::size_t) {}
void BgzipWriter::finish() {}
BgzipWriter::~BgzipWriter() = default;

}  // namespace ancify

#endif
