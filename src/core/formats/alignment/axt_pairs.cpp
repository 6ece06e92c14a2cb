// Reads the blocks of an AXT file into memory, with the query's coordinates.
#include "core/formats/alignment/axt_pairs.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/alignment/axt.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/number_parser.h"
#include "core/io/record_reader.h"
#include "core/io/text.h"

namespace ancify {

namespace {

std::string range_text(const AxtRow& row) {
  return row.chromosome + ":" + std::to_string(row.start) + "-" + std::to_string(row.end);
}

class PairReader {
 public:
  PairReader(const std::string& path, const AxtPairsOptions& options)
      : path_(path),
        options_(options),
        bad_(path, options.on_bad_block),
        parser_(bad_, options.simd) {}

  std::size_t consume(std::string_view text, bool last) {
    return parser_.consume(text, last, [&](const AlignedPair& block) { add(block); });
  }

  AxtPairs result() {
    if (pairs_.empty()) throw_nothing_found();
    return {std::move(pairs_), bad_.count(), bad_.examples()};
  }

 private:
  [[noreturn]] void throw_nothing_found() const {
    if (bad_.count() > 0) {
      throw FormatError(path_, bad_.examples().front().line,
                        "every block is bad; the first: " + bad_.examples().front().problem);
    }
    throw FormatError(path_, 0,
                      options_.chromosomes.empty() ? "there is no alignment block in this file"
                                                   : "no block is on the chromosomes asked for");
  }

  void add(const AlignedPair& block) {
    AxtPair pair;
    pair.target = {std::string(block.chromosome), block.start, block.end, ""};
    const auto& wanted = options_.chromosomes;
    if (!wanted.empty() && wanted.count(pair.target.chromosome) == 0) return;
    std::string problem = take_header(block.header, pair);
    if (problem.empty()) problem = take_rows(block, pair);
    if (problem.empty() && !options_.query_lengths.empty()) problem = orient(block, pair);
    if (problem.empty()) {
      pairs_.push_back(std::move(pair));
    } else {
      bad_.add(block.line, problem);
    }
  }

  // Parses the header after the target's coordinates. Like the next two functions, returns the
  // problem, if any.
  std::string take_header(std::string_view header, AxtPair& pair) {
    constexpr int fields_before = 4;
    for (int i = 0; i < fields_before; ++i) next_field(header);
    pair.query.chromosome = next_field(header);
    for (std::int64_t* position : {&pair.query.start, &pair.query.end}) {
      const std::string_view field = next_field(header);
      const auto number = parse_whole_number(field);
      if (!number) return "the query's position " + excerpt(field) + " is not a whole number";
      *position = *number;
    }
    const std::string_view strand = next_field(header);
    if (strand != "+" && strand != "-") return "the strand is " + excerpt(strand) + ", not + or -";
    pair.minus = strand == "-";
    const std::string_view score = next_field(header);
    const auto number = score.empty() ? std::numeric_limits<double>::quiet_NaN() : number_(score);
    if (!number) return "the score " + excerpt(score) + " is not a number";
    pair.score = *number;
    return {};
  }

  static std::string take_rows(const AlignedPair& block, AxtPair& pair) {
    if (block.target.size() != block.query.size()) {
      return "the block's rows differ in length (" + std::to_string(block.target.size()) + " and " +
             std::to_string(block.query.size()) + ")";
    }
    if (!block.only_letters_and_gaps) {
      return "the block's rows contain characters other than letters and -";
    }
    pair.target.bases = block.target;
    pair.query.bases = block.query;
    for (const AxtRow* row : {&pair.target, &pair.query}) {
      const auto letters = static_cast<std::int64_t>(row->bases.size()) -
                           std::count(row->bases.begin(), row->bases.end(), '-');
      if (row->start < 1 || row->end - row->start + 1 != letters) {
        return "the block's coordinates " + range_text(*row) + " do not fit its row of " +
               std::to_string(letters) + " letters";
      }
    }
    return {};
  }

  std::string orient(const AlignedPair& block, AxtPair& pair) const {
    auto& row = pair.query;
    const auto found = options_.query_lengths.find(row.chromosome);
    if (found == options_.query_lengths.end()) {
      throw FormatError(path_, block.line,
                        "the query's chromosome " + excerpt(row.chromosome) +
                            " has no length in the table of query lengths");
    }
    const std::int64_t length = found->second;
    if (row.end > length) {
      return "the block's coordinates " + range_text(row) +
             " are not inside the query's chromosome, which is " + std::to_string(length) +
             " bases long";
    }
    if (pair.minus) {
      row.start = length - std::exchange(row.end, length - row.start + 1) + 1;
    }
    return {};
  }

  const std::string& path_;
  const AxtPairsOptions& options_;
  BadBlocks bad_;
  AxtParser parser_;
  NumberParser number_;
  std::vector<AxtPair> pairs_;
};

}  // namespace

AxtPairs read_axt_pairs(const std::string& path, const AxtPairsOptions& options,
                        JobControl& control) {
  AxtPairs result;
  control.expect(InputFile(path).size());
  run_tasks(control, options.threads, 1, [&](std::int64_t, const TaskContext& context) {
    const auto source = open_text(path, options.chunk_size, context);
    PairReader reader(path, options);
    for_each_chunk(*source, options.chunk_size, control, context,
                   [&](std::string_view text, bool last) { return reader.consume(text, last); });
    result = reader.result();
  });
  return result;
}

}  // namespace ancify
