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

struct Transcript {
  bool forward = true;
  int phase = 0;                  // bases before the first whole codon: 0 to 2
  std::vector<CodingPart> parts;  // in the direction of translation; none is empty
};

// A place in a transcript: bases after the start of its first whole codon; negative before it.
struct CodingPlace {
  std::size_t transcript;
  std::int64_t offset;
};

class GeneModels {
 public:
  explicit GeneModels(std::vector<Transcript> transcripts);

  std::size_t size() const { return transcripts_.size(); }
  bool forward(std::size_t transcript) const { return transcripts_[transcript].forward; }
  // Whether the first codon is known; otherwise the coding sequence begins within the gene.
  bool has_start(std::size_t transcript) const { return transcripts_[transcript].phase == 0; }
  // The number of bases from the first whole codon on.
  std::int64_t length(std::size_t transcript) const;
  // The end of the part that ends last.
  std::int64_t end(std::size_t transcript) const;
  // The genome's position of a base of the transcript; 0 <= offset < length().
  std::int64_t position(std::size_t transcript, std::int64_t offset) const;

  // The places of a genome's position, by transcript. Where parts of a transcript overlap, as at a
  // frameshift by the ribosome, it has two.
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
