// The registry of alignment formats, and a reader that finds out a file's format.
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
#include "core/exec/job_control.h"
#include "core/formats/alignment/aligned_pair.h"
#include "core/formats/alignment/bad_blocks.h"
#include "core/genome/lengths.h"

namespace ancify {

// Parses an alignment's text, which comes in pieces, into pairs of rows.
class PairReader {
 public:
  PairReader() = default;
  virtual ~PairReader() = default;
  PairReader(const PairReader&) = delete;
  PairReader& operator=(const PairReader&) = delete;

  // Passes each outgroup's pairs to its sink, and returns the bytes used; see
  // BlockParser::consume().
  virtual std::size_t consume(std::string_view text, bool last,
                              const std::vector<PairSink*>& sinks) = 0;
  // Call it for an outgroup without a pair. FormatError if the file had no row of it.
  virtual void throw_if_never_seen(std::size_t /*outgroup*/) const {}
};

// The arguments of a reader. All but the numbers must outlive it.
struct FileToRead {
  const std::string& file;  // for messages
  // The outgroups' names in the rows of a file of several species.
  const std::vector<std::string>& names;
  const std::vector<Chromosome>& chromosomes;
  const ProjectionOptions& options;
  const InputIdentities& inputs;  // of further files that the reader opens
  BadBlocks& bad;                 // takes blocks that are bad for all outgroups
  std::int64_t lines = 0;         // before the reader's text
  std::size_t longest_row;        // in bytes
};

struct AlignmentFormat {
  std::string name;
  // True if files have rows of several species, told apart by name.
  bool many_species;
  // True if files lack the outgroup's bases, which come from its genome.
  bool needs_genome;
  // True if a file that begins with `text` has this format; none if more text is needed. `last`:
  // no more text follows. May remove uninformative lines from `text`, and adds their number to
  // `lines`.
  std::function<std::optional<bool>(std::string_view& text, bool last, std::int64_t& lines)> begins;
  std::function<std::unique_ptr<PairReader>(const FileToRead&)> make_reader;
  // True if files may lack the outgroup's bases, so that its genome may be given.
  bool takes_genome = false;
};

// One row a format. Formats are tried in this order; the last accepts any text.
const std::vector<AlignmentFormat>& alignment_formats();

// The format of a file that begins with `text`; null if more text is needed. Arguments as for
// AlignmentFormat::begins.
const AlignmentFormat* format_of_text(std::string_view& text, bool last, std::int64_t& lines,
                                      const std::vector<AlignmentFormat>& formats);

// The format of a file, which is plain, gzip or bgzip.
const AlignmentFormat& format_of_file(
    const std::string& path, const std::vector<AlignmentFormat>& formats = alignment_formats());

// Reads the pairs of a file in the format that its text begins with.
class AlignmentPairs {
 public:
  // `file` is for messages. All arguments but `names` must outlive this.
  AlignmentPairs(const std::string& file, std::vector<std::string> names,
                 const std::vector<Chromosome>& chromosomes, const ProjectionOptions& options,
                 const InputIdentities& inputs, BadBlocks& bad,
                 const std::vector<AlignmentFormat>& formats = alignment_formats());

  // See PairReader.
  std::size_t consume(std::string_view text, bool last, const std::vector<PairSink*>& sinks);
  void throw_if_never_seen(std::size_t outgroup) const;
  // Null until the text shows it.
  const AlignmentFormat* format() const { return format_; }

 private:
  // Removes lines from a text until it shows its format; false if more text is needed.
  bool choose_format(std::string_view& text, bool last);

  const std::string& file_;
  std::vector<std::string> names_;
  const std::vector<Chromosome>& chromosomes_;
  const ProjectionOptions& options_;
  const InputIdentities& inputs_;
  BadBlocks& bad_;
  const std::vector<AlignmentFormat>& formats_;
  std::int64_t lines_ = 0;  // removed before the text showed its format
  const AlignmentFormat* format_ = nullptr;
  std::unique_ptr<PairReader> reader_;
};

}  // namespace ancify
