// Compares the focal rows of blocks with the focal genome, window by window.
#include "core/ancestry/projection/focal_check.h"

#include <algorithm>
#include <string_view>

#include "core/formats/alignment/row_scan.h"
#include "core/genome/bases.h"
#include "core/genome/packed.h"

namespace ancify {

namespace {

constexpr std::size_t kWindow = std::size_t{1} << 14;  // whole groups of packed bases
constexpr std::size_t kStretch = 256;

bool same_letters(const char* a, const char* b, std::size_t n) {
  std::uint8_t different = 0;
  for (std::size_t i = 0; i < n; ++i) {
    different |= static_cast<std::uint8_t>((a[i] ^ b[i]) & ~0x20);
  }
  return different == 0;
}

bool other_base(char a, char b) {
  const std::uint8_t code = base_code(a);
  const std::uint8_t other = base_code(b);
  return code != other && code != kMissing && other != kMissing;
}

// The first index at which `a` and `b` have different bases, or n.
std::size_t first_difference(const char* a, const char* b, std::size_t n) {
  for (std::size_t at = 0; at < n; at += kStretch) {
    const std::size_t here = std::min(kStretch, n - at);
    if (same_letters(a + at, b + at, here)) continue;
    for (std::size_t i = at; i < at + here; ++i) {
      if (other_base(a[i], b[i])) return i;
    }
  }
  return n;
}

// Unpacks n positions, which are whole groups, to letters.
void unpack_letters(const char* packed, std::size_t n, char* letters) {
  const auto letter = [](int code) {
    return static_cast<char>('A' + (code == 1 ? 'C' - 'A' : 0) + (code == 2 ? 'G' - 'A' : 0) +
                             (code == 3 ? 'T' - 'A' : 0) + (code == kMissing ? 'N' - 'A' : 0));
  };
  for (std::size_t at = 0; at < n; at += kPackedGroup) {
    const char* const group = packed + at / 2;
    for (std::size_t i = 0; i < kPackedHalf; ++i) {
      letters[at + i] = letter(group[i] & 15);
      letters[at + kPackedHalf + i] = letter(group[i] >> 4 & 15);
    }
  }
}

}  // namespace

FocalCheck::FocalCheck(const OpenFocal& open, const std::vector<Chromosome>& chromosomes)
    : open_(open), chromosomes_(chromosomes), window_(kWindow), buffer_(kWindow), row_(kWindow) {}

std::string FocalCheck::difference(const AlignedPair& pair, std::size_t chromosome) {
  const bool is_shared = pair.target_line > 0;
  if (is_shared && pair.target_line == last_line_) return last_difference_;
  std::string found = compare(pair, chromosome);
  if (is_shared) {
    last_line_ = pair.target_line;
    last_difference_ = found;
  }
  return found;
}

std::string FocalCheck::compare(const AlignedPair& pair, std::size_t chromosome) {
  std::int64_t position = pair.start - 1;
  for (std::size_t column = 0; column < pair.target.size();) {
    const std::size_t columns = std::min(kWindow, pair.target.size() - column);
    const char* row = &pair.target[column];
    std::size_t letters = columns;
    if (pair.target_gaps > 0) {
      letters =
          copy_columns(pair.target.substr(column, columns), row, row_.data(), SimdLevel::kScalar);
      row = row_.data();
    }
    column += columns;
    for (std::size_t done = 0; done < letters;) {
      go_to(chromosome, position);
      const std::size_t n = std::min(letters - done, static_cast<std::size_t>(end_ - position));
      const char* const genome = &window_[static_cast<std::size_t>(position - start_)];
      const std::size_t at = first_difference(row + done, genome, n);
      if (at < n) {
        return std::string("the block's focal row has ") + row[done + at] + " at " +
               std::string(pair.chromosome) + ":" +
               std::to_string(position + static_cast<std::int64_t>(at) + 1) +
               ", where the focal genome (focal_fasta) has " + genome[at];
      }
      done += n;
      position += static_cast<std::int64_t>(n);
    }
  }
  return {};
}

void FocalCheck::go_to(std::size_t chromosome, std::int64_t position) {
  const bool is_open = source_ != nullptr && chromosome == chromosome_;
  if (is_open && position >= start_ && position < end_) return;
  if (!is_open) {
    source_ = open_(chromosome);
    chromosome_ = chromosome;
  }
  constexpr auto group = static_cast<std::int64_t>(kPackedGroup);
  start_ = position / group * group;
  end_ = std::min(start_ + static_cast<std::int64_t>(kWindow), chromosomes_[chromosome].length);
  const auto n = static_cast<std::size_t>(end_ - start_);
  const char* const bases = source_->bases(start_, n, buffer_.data());
  if (source_->form() == SequenceForm::kPacked) {
    unpack_letters(bases, (n + kPackedGroup - 1) / kPackedGroup * kPackedGroup, window_.data());
  } else {
    std::copy_n(bases, n, window_.data());
  }
}

}  // namespace ancify
