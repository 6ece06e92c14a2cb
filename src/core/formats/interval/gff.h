// Reads the coding parts of transcripts from GFF3 and GTF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Texts that are stored once and identified by their indices.
class Names {
 public:
  Names() = default;
  // The map holds views of the texts, whose addresses survive a move of this object, but not a
  // copy.
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;
  ~Names() = default;

  // The index of a text, which is added if it is new.
  std::uint32_t number(std::string_view text);
  const std::deque<std::string>& texts() const { return texts_; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

constexpr std::uint32_t kNoName = static_cast<std::uint32_t>(-1);
constexpr int kUnknownPhase = -1;

// A feature of type CDS in one of its transcripts.
struct GffPart {
  std::uint32_t chromosome;
  std::uint32_t transcript;
  std::uint32_t gene;  // in GTF; kNoName if absent
  std::uint32_t id;    // in GFF3; kNoName if absent
  std::int32_t start;  // from 1
  std::int32_t end;    // inclusive
  std::int64_t line;
  bool forward;
  std::int8_t phase;          // 0 to 2, or kUnknownPhase
  std::uint8_t genetic_code;  // its number in NCBI's list; 0 if the file has none
  bool open_start;  // whether the part's first base is unknown, by start_range or end_range
};

// A transcript, or another feature that may have coding parts, as the file describes it.
struct GffTranscript {
  std::uint32_t gene = kNoName;  // in GFF3: its first parent, or a gene itself
  std::uint32_t tags = 0;        // a bit for each requested tag
};

struct GffGenes {
  Names names;
  std::vector<GffPart> parts;  // in the file's order
  std::unordered_map<std::uint32_t, GffTranscript> transcripts;
};

constexpr std::size_t kMostTags = 32;

// Reads a plain or gzip file; the attributes distinguish GFF3 and GTF. `tags` holds values of the
// attribute `tag` to look for, at most kMostTags. Sequences at the file's end are not read. Throws
// FormatError for
// - a line with fewer than nine columns;
// - a transcript or coding part, unless its positions are ordered integers from 1 below 2^31;
// - a repeated coding part, or one without a strand or a transcript;
// - a coding part whose phase is not 0, 1, 2 or a dot.
// Throws InputError for more tags.
GffGenes read_gff(const std::string& path, const std::vector<std::string>& tags,
                  const TaskContext& context, std::size_t chunk_size = 1 << 16);

}  // namespace ancify
