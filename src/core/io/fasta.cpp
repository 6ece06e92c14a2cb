#include "core/io/fasta.h"

#include "core/exec/errors.h"
#include "core/io/byte_source.h"
#include "core/io/record_reader.h"
#include "core/io/text.h"

namespace ancify {

namespace {

bool all_printable(std::string_view text) {
  unsigned char others = 0;  // without a branch, so that compilers make vector code of it
  for (const char c : text) {
    others |= static_cast<unsigned char>(static_cast<unsigned char>(c - '!') > '~' - '!');
  }
  return others == 0;
}

class FastaParser {
 public:
  FastaParser(const std::string& file, const FastaSink& sink) : file_(file), sink_(sink) {}

  // Bases are taken as they come, a header when it is whole.
  std::size_t consume(std::string_view text, bool last) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const bool ended = newline != rest.npos || last;
      const std::string_view line = rest.substr(0, newline);
      if (in_line_ == 0 && !line.empty() && line.front() == '>') {
        if (!ended) break;
        begin(line.substr(1));
      } else {
        take(trim_end(line));
        // Blanks are left out at the end of a line alone, which may be still to come.
        if (!ended) return text.size() - rest.size() + trim_end(line).size();
      }
      ++lines_;
      in_line_ = 0;
      rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
    }
    return text.size() - rest.size();
  }

 private:
  void begin(std::string_view header) {
    begun_ = true;
    sink_.begin(next_field(header = trim_end(header)), lines_ + 1);
  }

  void take(std::string_view bases) {
    if (!begun_) {
      throw FormatError(file_, lines_ + 1, "not a FASTA file: it begins with " + excerpt(bases));
    }
    if (!all_printable(bases)) {
      throw FormatError(file_, lines_ + 1, "the sequence holds characters that are no bases");
    }
    in_line_ += bases.size();
    sink_.bases(bases);
  }

  const std::string& file_;
  const FastaSink& sink_;
  std::int64_t lines_ = 0;   // that have ended
  std::size_t in_line_ = 0;  // characters of the next that have been taken
  bool begun_ = false;
};

}  // namespace

void read_fasta(const std::string& path, const FastaSink& sink, JobControl& control,
                const TaskContext& context) {
  constexpr std::size_t chunk_size = 1 << 18;
  const auto source = open_text(path, chunk_size, context);
  FastaParser parser(path, sink);
  for_each_chunk(*source, chunk_size, control, context,
                 [&](std::string_view text, bool last) { return parser.consume(text, last); });
}

void read_one_sequence(const std::string& path, const std::function<void(std::string_view)>& take,
                       const TaskContext& context) {
  bool begun = false;
  const auto begin = [&](std::string_view, std::int64_t line) {
    if (begun) {
      throw FormatError(path, line, "a second sequence begins: give a file for each chromosome");
    }
    begun = true;
  };
  JobControl control;
  read_fasta(path, {begin, take}, control, context);
}

}  // namespace ancify
