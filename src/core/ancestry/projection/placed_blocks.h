// The positions of a genome that alignment blocks cover, and the winner of overlapping blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ancify {

// The rank of a block against the blocks placed before it.
enum class Standing : std::uint8_t { kAlone, kWins, kTies, kLoses };

// Keeps the score of each covered position, as spans of positions in pages. The largest score wins,
// so the order of blocks does not matter.
class PlacedBlocks {
 public:
  // A part of a block: the positions start, ..., end - 1, counted from 0.
  struct Piece {
    std::int64_t start;
    std::int64_t end;
    Standing standing;
  };

  explicit PlacedBlocks(std::size_t chromosomes) : pages_(chromosomes) {}

  // Places the block start, ..., end - 1, which must not be empty. Gives its pieces in order, valid
  // until the next call.
  const std::vector<Piece>& place(std::size_t chromosome, std::int64_t start, std::int64_t end,
                                  double score);
  // The number of positions that several blocks cover.
  std::int64_t shared() const { return shared_; }

 private:
  // Positions of a page that have one score.
  struct Span {
    std::uint16_t first;
    std::uint16_t last;
    bool is_shared;
    double score;
  };
  using Page = std::vector<Span>;

  void place_in_page(Page& page, std::int64_t page_start, const Span& block);
  void add_piece(std::int64_t start, std::int64_t end, Standing standing);
  static void add_span(Page& page, const Span& span);

  Page& page(std::size_t chromosome, std::int64_t number);

  std::vector<std::unordered_map<std::int64_t, Page>> pages_;  // by chromosome
  // The page used last.
  std::size_t chromosome_ = 0;
  std::int64_t number_ = -1;
  Page* page_ = nullptr;
  std::vector<Piece> pieces_;
  Page replaced_;
  std::int64_t shared_ = 0;
};

}  // namespace ancify
