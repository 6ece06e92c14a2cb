// Cuts blocks where their rank among overlapping blocks changes.
#include "core/ancestry/projection/placed_blocks.h"

#include <algorithm>

namespace ancify {

namespace {

constexpr std::int64_t kPlacedPage = std::int64_t{1} << 16;  // positions

std::uint16_t in_page(std::int64_t position) { return static_cast<std::uint16_t>(position); }

}  // namespace

const std::vector<PlacedBlocks::Piece>& PlacedBlocks::place(std::size_t chromosome,
                                                            std::int64_t start, std::int64_t end,
                                                            double score) {
  pieces_.clear();
  for (std::int64_t from = start; from < end;) {
    const std::int64_t number = from / kPlacedPage;
    const std::int64_t page_start = number * kPlacedPage;
    const std::int64_t to = std::min(end, page_start + kPlacedPage);
    place_in_page(page(chromosome, number), page_start,
                  {in_page(from - page_start), in_page(to - 1 - page_start), false, score});
    from = to;
  }
  return pieces_;
}

PlacedBlocks::Page& PlacedBlocks::page(std::size_t chromosome, std::int64_t number) {
  if (page_ == nullptr || chromosome != chromosome_ || number != number_) {
    chromosome_ = chromosome;
    number_ = number;
    page_ = &pages_[chromosome][number];
  }
  return *page_;
}

void PlacedBlocks::place_in_page(Page& page, std::int64_t page_start, const Span& block) {
  const auto piece = [&](int first, int last, Standing standing) {
    add_piece(page_start + first, page_start + last + 1, standing);
  };
  // Blocks are nearly always in order.
  if (page.empty() || page.back().last < block.first) {
    add_span(page, block);
    return piece(block.first, block.last, Standing::kAlone);
  }
  const auto begin =
      std::lower_bound(page.begin(), page.end(), block.first,
                       [](const Span& span, int first) { return span.last < first; });
  replaced_.clear();
  int next = block.first;  // of the positions still to be placed
  const auto place_alone = [&](int end) {
    if (next == end) return;
    add_span(replaced_, {in_page(next), in_page(end - 1), false, block.score});
    piece(next, end - 1, Standing::kAlone);
  };
  auto old = begin;
  for (; old != page.end() && old->first <= block.last; ++old) {
    if (old->first < block.first) {
      add_span(replaced_, {old->first, in_page(block.first - 1), old->is_shared, old->score});
    }
    const int first = std::max(old->first, block.first);
    const int last = std::min(old->last, block.last);
    place_alone(first);
    const Standing standing = block.score > old->score   ? Standing::kWins
                              : block.score < old->score ? Standing::kLoses
                                                         : Standing::kTies;
    add_span(replaced_, {in_page(first), in_page(last), true, std::max(block.score, old->score)});
    piece(first, last, standing);
    if (!old->is_shared) shared_ += last - first + 1;
    if (old->last > block.last) {
      add_span(replaced_, {in_page(block.last + 1), old->last, old->is_shared, old->score});
    }
    next = last + 1;
  }
  place_alone(block.last + 1);
  // The new spans take the place of the old ones.
  const auto n_old = old - begin;
  const auto n_new = static_cast<std::ptrdiff_t>(replaced_.size());
  const auto n_same = std::min(n_old, n_new);
  auto at = std::copy_n(replaced_.begin(), n_same, begin);
  if (n_old > n_same) page.erase(at, old);
  page.insert(at, replaced_.begin() + n_same, replaced_.end());
}

// Spans that touch and are equal become one.
void PlacedBlocks::add_span(Page& page, const Span& span) {
  if (!page.empty()) {
    Span& last = page.back();
    if (last.last + 1 == span.first && last.score == span.score &&
        last.is_shared == span.is_shared) {
      last.last = span.last;
      return;
    }
  }
  page.push_back(span);
}

void PlacedBlocks::add_piece(std::int64_t start, std::int64_t end, Standing standing) {
  if (!pieces_.empty() && pieces_.back().end == start && pieces_.back().standing == standing) {
    pieces_.back().end = end;
  } else {
    pieces_.push_back({start, end, standing});
  }
}

}  // namespace ancify
