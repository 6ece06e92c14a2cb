// Wraps sequences in lines, and indexes them as `samtools faidx` does.
#include "core/genome/genome_writer.h"

#include <algorithm>

#include "core/io/file_set.h"

namespace ancify {

namespace {

constexpr std::size_t kMostBuffered = std::size_t{1} << 18;

bool is_compressed(std::string_view path) {
  constexpr std::string_view end = ".gz";
  return path.size() >= end.size() && path.substr(path.size() - end.size()) == end;
}

}  // namespace

GenomeWriter::Layout GenomeWriter::layout_of(const std::vector<Chromosome>& chromosomes,
                                             std::int64_t width) {
  Layout layout;
  for (const auto& [name, length] : chromosomes) {
    layout.size += static_cast<std::int64_t>(name.size()) + 2;  // > and the line end
    const std::int64_t in_line = std::min(width, length);
    layout.index += name;
    for (const std::int64_t field : {length, layout.size, in_line, in_line + 1}) {
      layout.index += "\t" + std::to_string(field);
    }
    layout.index += "\n";
    layout.size += length + (length + width - 1) / width;
  }
  return layout;
}

GenomeWriter::GenomeWriter(const std::string& path, const std::vector<Chromosome>& chromosomes,
                           std::int64_t width, const TaskContext& context)
    : width_(width),
      layout_(layout_of(chromosomes, width)),
      file_(path, is_compressed(path) ? 0 : layout_.size),
      index_(path + ".fai", static_cast<std::int64_t>(layout_.index.size())),
      context_(context) {
  if (is_compressed(path)) bgzip_.emplace(file_, context);
}

void GenomeWriter::begin(const std::string& name) {
  end_line();
  buffer_ += ">" + name + "\n";
}

void GenomeWriter::write(const char* letters, std::size_t n) {
  while (n > 0) {
    if (column_ == width_) end_line();
    const std::size_t some =
        std::min({n, static_cast<std::size_t>(width_ - column_), kMostBuffered});
    buffer_.append(letters, some);
    column_ += static_cast<std::int64_t>(some);
    letters += some;
    n -= some;
    if (buffer_.size() >= kMostBuffered) put();
  }
}

void GenomeWriter::end_line() {
  if (column_ > 0) buffer_ += "\n";
  column_ = 0;
}

void GenomeWriter::put() {
  if (bgzip_) {
    bgzip_->write(buffer_.data(), buffer_.size());
  } else {
    file_.write_at(buffer_.data(), buffer_.size(), written_);
  }
  written_ += static_cast<std::int64_t>(buffer_.size());
  buffer_.clear();
}

void GenomeWriter::commit() {
  end_line();
  put();
  std::vector<OutputFile*> files = {&index_};
  std::optional<OutputFile> blocks;  // the index of compressed blocks
  if (bgzip_) {
    const std::string text = bgzip_->finish();
    blocks.emplace(file_.path() + ".gzi", static_cast<std::int64_t>(text.size()));
    blocks->write_at(text.data(), text.size(), 0);
    files.push_back(&*blocks);
  }
  file_.date_back();
  index_.write_at(layout_.index.data(), layout_.index.size(), 0);
  files.push_back(&file_);
  commit_set(files, true, context_);
}

}  // namespace ancify
