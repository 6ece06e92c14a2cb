// Compresses the blocks of bgzip with htslib.
#include "core/io/bgzip_writer.h"

#include "core/exec/errors.h"
#include "core/io/little_endian.h"

#ifdef ANCIFY_HAVE_HTSLIB

#include <htslib/bgzf.h>

#include <algorithm>
#include <string_view>

namespace ancify {

namespace {

// bgzip's own division of a text into blocks
constexpr std::size_t kBlock = BGZF_BLOCK_SIZE;
constexpr std::size_t kBlocksAtOnce = 64;
constexpr int kDefaultLevel = -1;

// A block of bgzip; an empty text's block marks the end of a file.
void compress(const char* text, std::size_t n, std::string& block) {
  block.resize(BGZF_MAX_BLOCK_SIZE);
  std::size_t size = block.size();
  if (bgzf_compress(&block[0], &size, text, n, kDefaultLevel) != 0) {
    throw SystemError("htslib cannot compress by bgzip; memory may be insufficient");
  }
  block.resize(size);
}

void append_number(std::string& bytes, std::int64_t number) {
  bytes.resize(bytes.size() + sizeof number);
  put_little_endian(number, &bytes[bytes.size() - sizeof number]);
}

}  // namespace

BgzipWriter::BgzipWriter(OutputFile& file, const TaskContext& context)
    : file_(file), context_(context), blocks_(kBlocksAtOnce) {}

void BgzipWriter::write(const char* data, std::size_t n) {
  constexpr std::size_t most = kBlock * kBlocksAtOnce;
  while (n > 0) {
    const std::size_t some = std::min(n, most - waiting_.size());
    waiting_.append(data, some);
    data += some;
    n -= some;
    if (waiting_.size() == most) put();
  }
}

void BgzipWriter::put() {
  const std::size_t blocks = (waiting_.size() + kBlock - 1) / kBlock;
  const auto text_of = [&](std::size_t i) {
    return std::string_view(waiting_).substr(i * kBlock, kBlock);
  };
  context_.share(static_cast<std::int64_t>(blocks), [&](std::int64_t part) {
    const auto i = static_cast<std::size_t>(part);
    compress(text_of(i).data(), text_of(i).size(), blocks_[i]);
  });
  for (std::size_t i = 0; i < blocks; ++i) {
    if (read_ > 0) {  // the index leaves out the first block
      append_number(index_, written_);
      append_number(index_, read_);
      ++indexed_;
    }
    append(blocks_[i]);
    read_ += static_cast<std::int64_t>(text_of(i).size());
  }
  waiting_.clear();
}

void BgzipWriter::append(const std::string& block) {
  file_.write_at(block.data(), block.size(), written_);
  written_ += static_cast<std::int64_t>(block.size());
}

std::string BgzipWriter::finish() {
  put();
  compress("", 0, blocks_[0]);
  append(blocks_[0]);
  std::string index;
  append_number(index, indexed_);
  return index + index_;
}

}  // namespace ancify

#else

namespace ancify {

BgzipWriter::BgzipWriter(OutputFile& file, const TaskContext& context)
    : file_(file), context_(context) {
  throw InputError("'" + file_.path() +
                   "': this build cannot write bgzip, as it has no htslib. Leave .gz out");
}
void BgzipWriter::write(const char*, std::size_t) {}
std::string BgzipWriter::finish() { return {}; }

}  // namespace ancify

#endif
