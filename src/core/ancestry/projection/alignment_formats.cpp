// The readers of AXT, MAF, TAF, chains and PAF, and the choice between formats by content.
#include "core/ancestry/projection/alignment_formats.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/ancestry/projection/chain_pairs.h"
#include "core/ancestry/projection/maf_pairs.h"
#include "core/ancestry/projection/paf_pairs.h"
#include "core/ancestry/projection/query_end.h"
#include "core/formats/alignment/axt.h"
#include "core/formats/alignment/chain.h"
#include "core/formats/alignment/maf.h"
#include "core/formats/alignment/paf.h"
#include "core/formats/alignment/taf.h"
#include "core/io/byte_source.h"
#include "core/io/number_parser.h"
#include "core/io/record_reader.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// The query's range in a header of AXT; empty if it has none.
std::optional<QueryRange> query_of(std::string_view header) {
  constexpr int fields_before = 4;
  for (int i = 0; i < fields_before; ++i) next_field(header);
  QueryRange query;
  query.chromosome = next_field(header);
  const auto start = parse_whole_number(next_field(header));
  const auto end = parse_whole_number(next_field(header));
  if (!start || !end) return {};
  query.start = *start - 1;
  query.end = *end;
  query.minus = next_field(header) == "-";
  return query;
}

class AxtReader final : public PairReader {
 public:
  explicit AxtReader(const FileToRead& read)
      : insertions_(read.options.insertions),
        parser_(read.bad, read.options.simd, read.lines, read.longest_row) {}
  std::size_t consume(std::string_view text, bool last,
                      const std::vector<PairSink*>& sinks) override {
    return parser_.consume(text, last, [&](const AlignedPair& pair) {
      if (insertions_) return project_connected(pair, sinks);
      for (PairSink* sink : sinks) sink->project(pair, 0);
    });
  }

 private:
  // Tells too whether the pair continues the one before.
  void project_connected(AlignedPair pair, const std::vector<PairSink*>& sinks) {
    const auto query = query_of(pair.header);
    pair.continues = query && end_.continued_by(pair, *query);
    for (PairSink* sink : sinks) sink->project(pair, 0);
  }

  bool insertions_;
  AxtParser parser_;
  QueryEnd end_;
};

MafParser maf_parser(const FileToRead& read, const MafPairs&) {
  return MafParser(read.bad, read.lines, read.longest_row);
}

TafParser taf_parser(const FileToRead& read, const MafPairs& pairs) {
  const auto is_wanted = [&pairs](std::string_view source) { return pairs.wants(source); };
  return TafParser(read.bad, is_wanted, read.options.simd, read.lines);
}

// Reads MAF blocks, which `make_parser` makes a parser for.
template <auto make_parser>
class MafBlockReader final : public PairReader {
 public:
  explicit MafBlockReader(const FileToRead& read)
      : pairs_(read.file, read.names, read.chromosomes, read.options, read.bad),
        parser_(make_parser(read, pairs_)) {}
  std::size_t consume(std::string_view text, bool last,
                      const std::vector<PairSink*>& sinks) override {
    return parser_.consume(text, last,
                           [&](const MafBlock& block) { pairs_.project(block, sinks); });
  }
  void throw_if_never_seen(std::size_t outgroup) const override {
    pairs_.throw_if_never_seen(outgroup);
  }

 private:
  MafPairs pairs_;
  std::invoke_result_t<decltype(make_parser), const FileToRead&, const MafPairs&> parser_;
};

class ChainReader final : public PairReader {
 public:
  explicit ChainReader(const FileToRead& read)
      : parser_(read.bad, read.lines),
        pairs_(read.file, read.chromosomes, read.options, read.inputs, read.bad) {}
  std::size_t consume(std::string_view text, bool last,
                      const std::vector<PairSink*>& sinks) override {
    const std::size_t used =
        parser_.consume(text, last, [&](const Chain& chain) { pairs_.project(chain, sinks); });
    if (last) pairs_.finish();
    return used;
  }

 private:
  ChainParser parser_;
  ChainPairs pairs_;
};

class PafReader final : public PairReader {
 public:
  // A row has the letters of both sequences.
  explicit PafReader(const FileToRead& read)
      : parser_(read.bad, read.lines, std::min(longest_record(), 2 * read.longest_row)),
        pairs_(read.file, read.chromosomes, read.options, read.inputs, read.bad) {}
  std::size_t consume(std::string_view text, bool last,
                      const std::vector<PairSink*>& sinks) override {
    const std::size_t used =
        parser_.consume(text, last, [&](const PafRow& row) { pairs_.project(row, sinks); });
    if (last) pairs_.finish();
    return used;
  }

 private:
  PafParser parser_;
  PafPairs pairs_;
};

template <class Reader>
std::unique_ptr<PairReader> make_reader(const FileToRead& read) {
  return std::make_unique<Reader>(read);
}

std::optional<bool> is_any_text(std::string_view& /*text*/, bool /*last*/,
                                std::int64_t& /*lines*/) {
  return true;
}

}  // namespace

const std::vector<AlignmentFormat>& alignment_formats() {
  static const std::vector<AlignmentFormat> formats = {
      // Its header is a comment in MAF.
      {"TAF", true, false, is_taf_text, make_reader<MafBlockReader<taf_parser>>},
      {"MAF", true, false, is_maf_text, make_reader<MafBlockReader<maf_parser>>},
      {"chain", false, true, is_chain_text, make_reader<ChainReader>},
      {"PAF", false, false, is_paf_text, make_reader<PafReader>, true},
      {"AXT", false, false, is_any_text, make_reader<AxtReader>},
  };
  return formats;
}

const AlignmentFormat* format_of_text(std::string_view& text, bool last, std::int64_t& lines,
                                      const std::vector<AlignmentFormat>& formats) {
  for (const auto& format : formats) {
    const auto answer = format.begins(text, last, lines);
    if (!answer) return nullptr;
    if (*answer) return &format;
  }
  return nullptr;
}

const AlignmentFormat& format_of_file(const std::string& path,
                                      const std::vector<AlignmentFormat>& formats) {
  constexpr std::size_t piece = 1 << 12;
  const auto source = open_text(path, piece);
  const auto read = [&](char* out, std::size_t n) { return source->read(out, n); };
  TextChunk now;
  TextChunk next;
  std::int64_t lines = 0;
  bool more = now.fill(read, piece, 0);
  for (;;) {
    std::string_view rest = now.text();
    const auto* const format = format_of_text(rest, !more, lines, formats);
    if (format != nullptr) return *format;
    check_record_size(rest.size(), kLongestLine, path, lines + 1);
    more = next.fill(read, std::max(piece, rest.size()), rest.size());
    next.prepend(rest);
    std::swap(now, next);
  }
}

AlignmentPairs::AlignmentPairs(const std::string& file, std::vector<std::string> names,
                               const std::vector<Chromosome>& chromosomes,
                               const ProjectionOptions& options, const InputIdentities& inputs,
                               BadBlocks& bad, const std::vector<AlignmentFormat>& formats)
    : file_(file),
      names_(std::move(names)),
      chromosomes_(chromosomes),
      options_(options),
      inputs_(inputs),
      bad_(bad),
      formats_(formats) {}

bool AlignmentPairs::choose_format(std::string_view& text, bool last) {
  if (reader_) return true;
  format_ = format_of_text(text, last, lines_, formats_);
  if (format_ == nullptr) {
    check_record_size(text.size(), kLongestLine, file_, lines_ + 1);
    return false;
  }
  std::int64_t longest = 0;
  for (const Chromosome& chromosome : chromosomes_) longest = std::max(longest, chromosome.length);
  reader_ = format_->make_reader(
      {file_, names_, chromosomes_, options_, inputs_, bad_, lines_, longest_row(longest)});
  return true;
}

std::size_t AlignmentPairs::consume(std::string_view text, bool last,
                                    const std::vector<PairSink*>& sinks) {
  std::string_view rest = text;
  const bool chosen = choose_format(rest, last);
  const std::size_t before = text.size() - rest.size();
  return chosen ? before + reader_->consume(rest, last, sinks) : before;
}

void AlignmentPairs::throw_if_never_seen(std::size_t outgroup) const {
  if (reader_) reader_->throw_if_never_seen(outgroup);
}

}  // namespace ancify
