// Reads FASTQ record by record.
#include "core/formats/sequence/fastq.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/record_reader.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::size_t kLinesOfRecord = 4;
using FastqRecord = std::array<std::string_view, kLinesOfRecord>;

class FastqParser {
 public:
  FastqParser(const std::string& file, const FastaSink& sink) : file_(file), sink_(sink) {}

  std::size_t consume(std::string_view text, bool last) {
    std::string_view rest = text;
    FastqRecord record;
    while (split(rest, last, record)) take(record);
    if (last) {
      check_end(rest);
      return text.size();
    }
    check_record_size(rest.size(), longest_record(), file_, line());
    return text.size() - rest.size();
  }

 private:
  // Removes the next record from `text` and splits it into lines; false if the record is
  // incomplete. The last line of a file may lack its newline.
  static bool split(std::string_view& text, bool last, FastqRecord& record) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < kLinesOfRecord; ++i) {
      std::size_t end = text.find('\n', at);
      if (end == text.npos) {
        if (!last || i + 1 < kLinesOfRecord || at >= text.size()) return false;
        end = text.size();
      }
      record[i] = trim_end(text.substr(at, end - at));
      at = end + 1;
    }
    text.remove_prefix(std::min(at, text.size()));
    return true;
  }

  void take(const FastqRecord& record) {
    const auto& [header, bases, plus, qualities] = record;
    if (header.substr(0, 1) != "@") {
      fail(0, "begins with " + excerpt(header) + ", not with @: give four lines a record");
    }
    if (plus.substr(0, 1) != "+") {
      fail(2, "has " + excerpt(plus) +
                  " where its third line must begin with +: give four lines a record");
    }
    if (bases.size() != qualities.size()) {
      fail(3, "has " + std::to_string(bases.size()) + " bases but " +
                  std::to_string(qualities.size()) +
                  " qualities: fetch the file again, or remove the record");
    }
    std::string_view name = header.substr(1);
    sink_.begin(next_field(name), line());
    sink_.bases(bases);
    ++records_;
  }

  // Only blank lines may follow the last record.
  void check_end(std::string_view rest) const {
    if (rest.find_first_not_of(" \t\r\n") == rest.npos) return;
    fail(0, "is incomplete: the file was cut short. Fetch it again");
  }

  std::int64_t line() const { return records_ * std::int64_t{kLinesOfRecord} + 1; }

  [[noreturn]] void fail(std::int64_t line_of_record, const std::string& problem) const {
    throw FormatError(file_, line() + line_of_record,
                      "record " + std::to_string(records_ + 1) + " " + problem);
  }

  const std::string& file_;
  const FastaSink& sink_;
  std::int64_t records_ = 0;
};

// A text whose start has already been read.
class PeekedSource : public ByteSource {
 public:
  PeekedSource(ByteSource& source, std::string start) : source_(source), start_(std::move(start)) {}
  std::size_t read(char* out, std::size_t n) override {
    n = at_ < start_.size() ? start_.copy(out, n, at_) : source_.read(out, n);
    at_ += n;
    return n;
  }
  std::int64_t consumed() const override { return source_.consumed(); }
  const std::string& path() const override { return source_.path(); }

 private:
  ByteSource& source_;
  std::string start_;
  std::size_t at_ = 0;
};

// The text up to its first letter; empty if it has none.
std::string start_of(ByteSource& source) {
  constexpr std::size_t most_blanks = 1 << 16;
  std::string start;
  char next = 0;
  while (start.size() < most_blanks && source.read(&next, 1) == 1) {
    start += next;
    if (next != '\n' && next != '\r' && next != ' ' && next != '\t') return start;
  }
  if (start.size() < most_blanks) start.clear();
  return start;
}

}  // namespace

void read_fastq(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size) {
  FastqParser parser(path, sink);
  for_each_chunk(source, chunk_size, control, context,
                 [&](std::string_view text, bool last) { return parser.consume(text, last); });
}

void read_sequences(const std::string& path, const FastaSink& sink, JobControl& control,
                    const TaskContext& context, std::size_t chunk_size) {
  const auto open = sink.is_kept ? open_kept_text : open_text;
  const auto source = open(path, chunk_size, context);
  const std::string start = start_of(*source);
  if (start.empty()) {
    control.advance(source->consumed());
    return;
  }
  PeekedSource text(*source, start);
  if (start.front() == '@') {
    read_fastq(path, text, sink, control, context, chunk_size);
  } else {
    read_fasta_records(path, text, sink, control, context, chunk_size);
  }
}

void throw_no_sequences(const std::vector<std::string>& paths) {
  const std::string others = paths.size() > 1 ? ", and no other file has one" : "";
  throw FormatError(paths.front(), 0, "the file has no sequence" + others);
}

}  // namespace ancify
