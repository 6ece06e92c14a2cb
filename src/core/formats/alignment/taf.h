// Parses TAF, the transposed alignment format of taffy: a line per column, with changes of rows and
// coordinates behind its bases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/simd.h"
#include "core/formats/alignment/block_parser.h"
#include "core/formats/alignment/maf.h"

namespace ancify {

// True if a text begins a TAF file, with `#taf`. Empty if more text is needed to decide; with
// `last` no more follows. Takes empty lines off the start of the text, and adds their number to
// `lines`.
std::optional<bool> is_taf_text(std::string_view& text, bool last, std::int64_t& lines);

// The rows of a column, in order. Changes at nearby rows take constant time.
template <class Row>
class RowList {
 public:
  std::size_t size() const { return before_.size() + after_.size(); }
  Row& operator[](std::size_t i) {
    return i < before_.size() ? *before_[i] : *after_[size() - 1 - i];
  }
  // `i` is at most size().
  Row& insert(std::size_t i) {
    go_to(i);
    if (spare_.empty()) spare_.push_back(std::make_unique<Row>());
    before_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    return *before_.back();
  }
  void remove(std::size_t i) {
    go_to(i);
    spare_.push_back(std::move(after_.back()));
    after_.pop_back();
  }

 private:
  using Rows = std::vector<std::unique_ptr<Row>>;
  static void move_last(Rows& from, Rows& to) {
    to.push_back(std::move(from.back()));
    from.pop_back();
  }
  void go_to(std::size_t i) {
    while (before_.size() > i) move_last(before_, after_);
    while (before_.size() < i) move_last(after_, before_);
  }

  Rows before_;
  Rows after_;  // the last row first
  Rows spare_;  // removed rows, whose memory is used again
};

// Makes MAF blocks of the columns between two lines with coordinates. Long stretches of columns
// become several blocks, so that memory is bounded. Only the rows of wanted sources are gathered.
//
// A line states changes since the line before. After a bad column, no position of a row is known
// until a line states the coordinates of all wanted rows again. All stretches up to there are bad.
// If a change itself cannot be read, the rows are unknown: this is always an error.
class TafParser final : public BlockParser<MafBlock> {
 public:
  // True if any row of a source will be used.
  using IsWanted = std::function<bool(std::string_view source)>;

  TafParser(BadBlocks& bad, IsWanted is_wanted, SimdLevel simd, std::int64_t lines = 0)
      : BlockParser(bad, lines, longest_record()), is_wanted_(std::move(is_wanted)), simd_(simd) {}

  // Columns of a block with few rows; with very many rows fewer.
  static constexpr std::size_t kMostColumns = std::size_t{1} << 16;

 private:
  struct Row {
    std::string source;
    MafRow now;  // the row at the start of the next block
    bool wanted = false;
    bool known = false;   // whether its position is
    std::string columns;  // of the block so far, with space for more; wanted rows only
  };

  Found next() override;
  std::size_t longest_line() const override;
  void take_header(std::string_view line);
  // Adds a column to the block. True if a block is complete: the one before it, or its own.
  bool take_column(std::string_view line, std::string_view before);
  // Appends a column's bases to tile_. Returns the problem; empty if there is none.
  std::string add_bases(std::string_view bases);
  std::string expand_runs(std::string_view runs, char* column);
  void change_rows(std::string_view changes);
  void change_row(char operation, std::string_view& changes);
  void set_coordinates(Row& row, std::string_view& changes);
  void advance(Row& row, std::int64_t bases);
  // The next field of a line's changes.
  std::string_view next_change(std::string_view& changes, const char* what);
  [[noreturn]] void bad_change(const std::string& problem) const;
  void bad_column(const std::string& problem, std::int64_t line);
  // True if the positions of all wanted rows are known after a bad column.
  bool knows_positions();
  void prepare_rows();
  // Moves tile_ to the ends of the wanted rows.
  void gather_tile();
  // Makes block_ of the columns so far, with the wanted rows and some others. False if a wanted row
  // has a bad character, which makes its position unknown.
  bool make_block();
  // Adds a row to block_; false for a row with a bad character.
  bool add_row(Row& row);
  // Call it for a row with a bad character.
  void bad_row(const std::string& source, std::string_view columns);

  IsWanted is_wanted_;
  SimdLevel simd_;
  bool has_header_ = false;
  bool has_runs_ = false;  // bases are run-length encoded
  RowList<Row> rows_;
  std::vector<std::size_t> wanted_;  // their indices
  bool rows_changed_ = true;         // since wanted_ was made
  std::vector<MafRow> parsed_;       // of block_
  std::size_t most_columns_ = kMostColumns;
  std::size_t columns_ = 0;      // of the block, without those in tile_
  std::size_t in_tile_ = 0;      // columns in tile_
  std::string tile_;             // a few columns, one after the other
  std::int64_t bad_line_ = 0;    // of the last bad column
  std::int64_t first_line_ = 0;  // of the block's first column
};

}  // namespace ancify
