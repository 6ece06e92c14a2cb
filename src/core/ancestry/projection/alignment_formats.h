// The registry of alignment formats, and the reader of a file in whichever of them it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/projector.h"
#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"

namespace ancify {

// Makes pairs of rows of a file's text, which comes in pieces.
class PairReader {
 public:
  PairReader() = default;
  virtual ~PairReader() = default;
  PairReader(const PairReader&) = delete;
  PairReader& operator=(const PairReader&) = delete;

  // As BlockParser::consume(); gives each outgroup's pairs to its sink.
  virtual std::size_t consume(std::string_view text, bool last,
                              const std::vector<PairSink*>& sinks) = 0;
  // FormatError if the file can't hold this outgroup, of which no pair was found.
  virtual void throw_if_never_seen(std::size_t /*outgroup*/) const {}
};

// What a reader is made for. All have to stay but the numbers.
struct FileToRead {
  const std::string& file;  // for messages
  // Of each outgroup; where a file has several species, what its rows are named by.
  const std::vector<std::string>& names;
  const std::vector<Chromosome>& chromosomes;
  const ProjectionOptions& options;
  BadBlocks& bad;           // takes blocks that are bad for all outgroups
  std::int64_t lines = 0;   // before the text that the reader gets
  std::size_t longest_row;  // in bytes
};

struct AlignmentFormat {
  std::string name;
  // Whether a file has rows of several species, told apart by names.
  bool many_species;
  // Whether a text begins a file of this format; none where that cannot be told yet. With `last`
  // there is no more text. May take lines that say nothing off the text, which `lines` counts.
  std::function<std::optional<bool>(std::string_view& text, bool last, std::int64_t& lines)> begins;
  std::function<std::unique_ptr<PairReader>(const FileToRead&)> make_reader;
};

// One row a format. They are asked in this order; the last takes any text.
const std::vector<AlignmentFormat>& alignment_formats();

// The format of a text's beginning, as AlignmentFormat::begins() says; null where it cannot be
// told.
const AlignmentFormat* format_of_text(std::string_view& text, bool last, std::int64_t& lines,
                                      const std::vector<AlignmentFormat>& formats);

// The same of a file, plain, gzip or bgzip.
const AlignmentFormat& format_of_file(
    const std::string& path, const std::vector<AlignmentFormat>& formats = alignment_formats());

// The pairs of a file in the format that its text begins with.
class AlignmentPairs {
 public:
  // `file` is for messages. All but the names have to stay.
  AlignmentPairs(const std::string& file, std::vector<std::string> names,
                 const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                 BadBlocks& bad, const std::vector<AlignmentFormat>& formats = alignment_formats());

  // As PairReader has them.
  std::size_t consume(std::string_view text, bool last, const std::vector<PairSink*>& sinks);
  void throw_if_never_seen(std::size_t outgroup) const;
  // Null before the text has told it.
  const AlignmentFormat* format() const { return format_; }

 private:
  // Takes lines off a text up to where it tells its format; false where it does not yet.
  bool choose_format(std::string_view& text, bool last);

  const std::string& file_;
  std::vector<std::string> names_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions& options_;
  BadBlocks& bad_;
  const std::vector<AlignmentFormat>& formats_;
  std::int64_t lines_ = 0;  // taken before the text told its format
  const AlignmentFormat* format_ = nullptr;
  std::unique_ptr<PairReader> reader_;
};

}  // namespace ancify
