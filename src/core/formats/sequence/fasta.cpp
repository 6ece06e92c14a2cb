// Reads FASTA line by line.
#include "core/formats/sequence/fasta.h"

#include <algorithm>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/byte_source.h"
#include "core/io/record_reader.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

namespace {

bool all_printable(std::string_view text) {
  unsigned char others = 0;  // no branch, so that compilers vectorise the loop
  for (const char c : text) {
    others |= static_cast<unsigned char>(static_cast<unsigned char>(c - '!') > '~' - '!');
  }
  return others == 0;
}

class FastaParser {
 public:
  // `places` tells whether positions before an Ensembl slice are N.
  FastaParser(const std::string& file, const FastaSink& sink, bool places)
      : file_(file), sink_(sink), places_(places) {}

  // Takes bases as they arrive, but a header only when it is complete.
  std::size_t consume(std::string_view text, bool last) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const bool ended = newline != rest.npos || last;
      const std::string_view line = rest.substr(0, newline);
      if (in_line_ == 0 && !line.empty() && line.front() == '>') {
        if (!ended) {
          check_record_size(rest.size(), kLongestLine, file_, lines_ + 1);
          break;
        }
        begin(line.substr(1));
      } else {
        take(trim_end(line));
        // Only trailing blanks of a line are dropped, and the end may not have arrived yet.
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
    const std::string_view name = next_field(header = trim_end(header));
    sink_.begin(name, lines_ + 1);
    if (places_) place(name);
  }

  void place(std::string_view name) const {
    const auto slice = ensembl_slice(name);
    if (!slice) return;
    if (slice->minus) {
      throw FormatError(file_, lines_ + 1,
                        "the name " + excerpt(name) +
                            " says that this is the minus strand: give the plus strand");
    }
    static const std::string unknown(1 << 16, 'N');
    for (std::int64_t left = slice->start - 1; left > 0;) {
      const auto n = std::min(left, static_cast<std::int64_t>(unknown.size()));
      sink_.bases(std::string_view(unknown).substr(0, static_cast<std::size_t>(n)));
      left -= n;
    }
  }

  void take(std::string_view bases) {
    if (!begun_) {
      throw FormatError(file_, lines_ + 1, "not a FASTA file: it begins with " + excerpt(bases));
    }
    if (!all_printable(bases)) {
      throw FormatError(file_, lines_ + 1, "the sequence contains characters that are not bases");
    }
    in_line_ += bases.size();
    sink_.bases(bases);
  }

  const std::string& file_;
  const FastaSink& sink_;
  bool places_;
  std::int64_t lines_ = 0;   // completed lines
  std::size_t in_line_ = 0;  // characters taken from the next line
  bool begun_ = false;
};

}  // namespace

std::optional<EnsemblSlice> ensembl_slice(std::string_view name) {
  std::vector<std::string_view> fields;
  for (std::size_t colon = name.find(':'); colon != name.npos; colon = name.find(':')) {
    fields.push_back(name.substr(0, colon));
    name.remove_prefix(colon + 1);
  }
  fields.push_back(name);
  if (fields.size() < 5 || fields.size() > 6 || fields[2].empty()) return {};
  constexpr std::int64_t longest_chromosome = std::int64_t{1} << 32;
  const auto start = parse_whole_number(fields[3]);
  const auto end = parse_whole_number(fields[4]);
  const std::string_view strand = fields.size() == 6 ? fields[5] : "1";
  if (!start || !end || (strand != "1" && strand != "-1")) return {};
  if (*start < 1 || *end < *start || *end > longest_chromosome) return {};
  return EnsemblSlice{fields[2], *start, *end, strand == "-1"};
}

void read_fasta(const std::string& path, const FastaSink& sink, JobControl& control,
                const TaskContext& context, std::size_t chunk_size) {
  const auto open = sink.is_kept ? open_kept_text : open_text;
  const auto source = open(path, chunk_size, context);
  read_fasta(path, *source, sink, control, context, chunk_size);
}

void read_fasta(const std::string& path, ByteSource& source, const FastaSink& sink,
                JobControl& control, const TaskContext& context, std::size_t chunk_size) {
  FastaParser parser(path, sink, true);
  for_each_chunk(source, chunk_size, control, context,
                 [&](std::string_view text, bool last) { return parser.consume(text, last); });
}

void read_fasta_records(const std::string& path, ByteSource& source, const FastaSink& sink,
                        JobControl& control, const TaskContext& context, std::size_t chunk_size) {
  FastaParser parser(path, sink, false);
  for_each_chunk(source, chunk_size, control, context,
                 [&](std::string_view text, bool last) { return parser.consume(text, last); });
}

std::int64_t read_one_sequence(const std::string& path,
                               const std::function<void(std::string_view)>& take,
                               const TaskContext& context, bool is_kept) {
  bool begun = false;
  std::int64_t end = 0;
  const auto begin = [&](std::string_view name, std::int64_t line) {
    if (begun) {
      throw FormatError(path, line, "a second sequence begins: give a file for each chromosome");
    }
    begun = true;
    if (const auto slice = ensembl_slice(name)) end = slice->end;
  };
  JobControl control;
  read_fasta(path, {begin, take, is_kept}, control, context);
  return end;
}

}  // namespace ancify
