// The base class of alignment parsers: takes text in pieces, and passes on whole blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/formats/alignment/bad_blocks.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

// Blocks with a broken structure go to `bad`; reading continues at the next block.
template <class Block>
class BlockParser {
 public:
  // Calls sink(const Block&) for each whole block at the start of `text`, and returns the bytes
  // used. With `last` no more text follows, and all of it is used.
  template <class Sink>
  std::size_t consume(std::string_view text, bool last, Sink&& sink) {
    rest_ = text;
    last_ = last;
    for (;;) {
      skip_empty_lines();
      const std::string_view before = rest_;
      const std::int64_t line_before = lines_;
      const Found found = next();
      if (found == Found::kBlock) {
        sink(block_);
      } else if (found == Found::kNeedsMoreText) {
        lines_ = line_before;
        check_record_size(rest_.size(), longest_line(), bad_.file(), lines_ + 1);
        check_record_size(before.size(), longest_record(), bad_.file(), lines_ + 1);
        return text.size() - before.size();
      } else if (found == Found::kEnd) {
        return text.size();
      }
    }
  }

 protected:
  enum class Found { kBlock, kNothing, kNeedsMoreText, kEnd };

  // `lines` counts the lines before the text. `longest` is the longest allowed row, in bytes.
  BlockParser(BadBlocks& bad, std::int64_t lines, std::size_t longest)
      : bad_(bad), lines_(lines), longest_row_(longest) {}
  BlockParser(const BlockParser&) = default;
  ~BlockParser() = default;

  // Takes a line, without trailing blanks, off rest_; false if the line is still incomplete.
  bool take_line(std::string_view& line) {
    const std::size_t newline = std::min(rest_.find('\n'), rest_.size());
    ended_ = newline < rest_.size();
    if (!ended_ && (!last_ || rest_.empty())) return false;
    line = trim_end(rest_.substr(0, newline));
    rest_.remove_prefix(newline + (ended_ ? 1 : 0));
    ++lines_;
    return true;
  }
  // Puts back the line taken last; `rest` is rest_ before it.
  void put_back(std::string_view rest) {
    rest_ = rest;
    --lines_;
  }

  // Skips empty lines together, as a small file may inflate to billions of them.
  void skip_empty_lines() {
    const std::size_t n = std::min(rest_.find_first_not_of('\n'), rest_.size());
    rest_.remove_prefix(n);
    lines_ += static_cast<std::int64_t>(n);
  }

  // Takes lines off rest_, and stores a block that it finds in block_.
  virtual Found next() = 0;
  // The longest allowed line, in bytes, for the unfinished line at the start of rest_.
  virtual std::size_t longest_line() const = 0;

  BadBlocks& bad_;
  std::string_view rest_;
  bool last_ = false;
  bool ended_ = true;   // whether the line taken last had a newline
  std::int64_t lines_;  // lines taken so far
  std::size_t longest_row_;
  bool looking_for_block_ = false;  // after a bad block
  Block block_;
};

}  // namespace ancify
