// The coding sequences of transcripts on one chromosome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ancify {

// Part of a coding sequence on the genome: from 0, the end exclusive.
struct CodingPart {
  std::int64_t start;
  std::int64_t end;
};

constexpr int kNoGeneticCode = -1;

struct Transcript {
  bool forward = true;
  int phase = 0;                  // bases before the first whole codon: 0 to 2
  std::vector<CodingPart> parts;  // in the direction of translation; none is empty
  bool phase_is_known = true;     // otherwise `phase` is 0, which only suits whole coding sequences
  bool open_start = false;        // whether bases before the first part are missing
  int genetic_code = 0;           // its index in a list of codes, or kNoGeneticCode
};

// The last position that a part may have.
constexpr std::int64_t kLastPosition = (std::int64_t{1} << 31) - 1;

// A position in a transcript: bases after the start of its first whole codon; negative before it.
struct CodingPlace {
  std::size_t transcript;
  std::int64_t offset;
};

class GeneModels {
 public:
  // Throws InputError for a part or a phase out of range.
  explicit GeneModels(std::vector<Transcript> transcripts);

  std::size_t size() const { return transcripts_.size(); }
  bool forward(std::size_t transcript) const { return transcripts_[transcript].forward; }
  // True if the first codon begins the coding sequence; otherwise earlier bases are missing.
  bool has_start(std::size_t transcript) const {
    return transcripts_[transcript].phase == 0 && !transcripts_[transcript].open_start;
  }
  // True if the reading frame is known.
  bool has_frame(std::size_t transcript) const {
    return transcripts_[transcript].phase_is_known ||
           (has_start(transcript) && length(transcript) % 3 == 0);
  }
  int genetic_code(std::size_t transcript) const { return transcripts_[transcript].genetic_code; }
  // The number of bases from the first whole codon on.
  std::int64_t length(std::size_t transcript) const;
  // The end of the part that ends last.
  std::int64_t end(std::size_t transcript) const;
  // The genome's position of a base of the transcript; 0 <= offset < length().
  std::int64_t position(std::size_t transcript, std::int64_t offset) const;

  // The transcript positions of a genomic position, by transcript. A transcript has two where its
  // parts overlap, as at a ribosomal frameshift.
  std::vector<CodingPlace> at(std::int64_t position) const;

 private:
  struct IndexedPart {
    CodingPart part;
    std::size_t transcript;
    std::int64_t before;  // bases of the transcript in earlier parts
  };

  std::vector<Transcript> transcripts_;
  std::vector<std::vector<std::int64_t>> ends_;  // of each part: bases up to its end
  std::vector<IndexedPart> index_;               // by start
  std::vector<std::int64_t> reach_;              // the largest end in index_ up to here
};

}  // namespace ancify
