// The columns of an outgroup's alignment in some regions of the focal genome: its bases, its gaps,
// and its insertions between focal bases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/placed_blocks.h"
#include "core/ancestry/projection/projector.h"
#include "core/formats/interval/bed.h"
#include "core/genome/lengths.h"

namespace ancify {

// The regions of each chromosome, in order; they neither overlap nor touch.
using Regions = std::vector<std::vector<Region>>;

// A genome's bases at the positions start, ..., end - 1 and between them.
struct Columns {
  bool is_known = false;    // one row, or rows that continue each other, cover the whole range
  bool neighbours = false;  // whether it has bases, and no gaps, at the first and last position
  std::string between;      // the bases between these two, without gaps
};

// Overlapping pairs follow the rule of a projection. Bases of two pairs are never connected.
class RegionColumns : public PairChecker {
 public:
  // `file` is for messages. All arguments but `file` must outlive this.
  RegionColumns(const std::string& file, const std::vector<Chromosome>& chromosomes,
                const Regions& regions, FocalCheck* check, const ProjectionOptions& options);

  // The range must have two positions or more. InputError if it is in no region, as for a
  // variant added after the regions were found.
  Columns at(std::size_t chromosome, std::int64_t start, std::int64_t end) const;

 private:
  // The columns of a chromosome.
  struct Store {
    std::vector<std::size_t> offsets;  // of the regions in `bases`
    std::string bases;                 // of all regions; N where there is none
    // The outgroup's insertion before a position; no entry if it has none. A question mark marks
    // unknown bases, between rows that do not continue each other.
    std::map<std::int64_t, std::string> before;
  };

  void write(const AlignedPair& pair, std::size_t chromosome) override;
  // Takes the base at a position, and the inserted bases between it and the last one.
  void take(Store& store, std::size_t at, std::int64_t position, char base,
            const std::string& inserted, Standing standing);
  // The index of the first region that ends behind a position.
  std::size_t region_after(std::size_t chromosome, std::int64_t position) const;

  const Regions& regions_;
  Overlaps overlaps_;
  PlacedBlocks placed_;
  bool won_end_ = false;  // whether the last base of the pair before was taken
  std::vector<Store> stores_;
};

}  // namespace ancify
