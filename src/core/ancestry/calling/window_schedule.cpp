// Schedules windows for work, cuts them into pieces for threads, and frees their memory.
#include "core/ancestry/calling/window_schedule.h"

#include <algorithm>

#include "core/ancestry/calling/device_calling.h"

namespace ancify {

WindowSchedule::WindowSchedule(WindowWork& work, const std::vector<Chromosome>& chromosomes,
                               std::int64_t window)
    : work_(work),
      chromosomes_(chromosomes),
      windows_(chromosomes, window, work.needs_neighbours()),
      memory_(windows_, work.sequences(), work.simd()),
      piece_(std::min(work.piece(), window)),
      is_scheduled_(windows_.size()) {
  for (std::size_t c = 0; c < chromosomes.size(); ++c) next_.push_back(windows_.first_of(c));
}

void WindowSchedule::schedule_passed(std::size_t chromosome, std::int64_t passed) {
  std::size_t& next = next_[chromosome];
  for (; next < windows_.end_of(chromosome) && windows_.needs(next) <= passed; ++next) {
    schedule(next);
  }
}

void WindowSchedule::schedule_waiting() {
  for (std::size_t w = 0; w < windows_.size(); ++w) schedule(w);
}

void WindowSchedule::schedule(std::size_t window) {
  if (windows_.state(window) != WindowState::kWaiting || is_scheduled_[window]) return;
  is_scheduled_[window] = true;
  scheduled_.push_back(window);
}

void WindowSchedule::note_late(std::size_t window) {
  windows_.put_off(window);
  drop(window);
}

bool WindowSchedule::keep_to(std::int64_t limit) {
  std::int64_t staying = memory_.used();
  for (const std::size_t w : to_drop_) staying -= memory_.used(w);
  for (const std::size_t w : scheduled_) staying -= memory_.used(w);
  bool gave_up = false;
  while (staying > limit && !with_bases_.empty()) {
    const std::size_t oldest = with_bases_.front();
    with_bases_.pop_front();
    if (!windows_.is_kept(oldest) || is_scheduled_beside(oldest)) continue;
    windows_.give_up(oldest);
    drop(oldest);
    staying -= memory_.used(oldest);
    gave_up = true;
  }
  return gave_up;
}

bool WindowSchedule::is_scheduled_beside(std::size_t window) const {
  const auto [first, last] = windows_.beside(window);
  const auto begin = is_scheduled_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(last) + 1;
  return std::find(begin + static_cast<std::ptrdiff_t>(first), end, true) != end;
}

// Drops bases near a window after the round, unless work waits for them. If the window or its
// neighbours were put off, the bases of their neighbours are no longer needed either.
void WindowSchedule::drop(std::size_t window) {
  const std::size_t first = window - std::min<std::size_t>(window, 2);
  for (std::size_t w = first; w <= std::min(window + 2, windows_.size() - 1); ++w) {
    if (!windows_.is_kept(w)) to_drop_.insert(w);
  }
}

std::vector<std::size_t> WindowSchedule::choose(const std::vector<std::size_t>& left,
                                                std::int64_t limit) {
  return windows_.choose(left, limit,
                         [&](std::size_t window) { return memory_.most_bytes(window); });
}

const std::string& WindowSchedule::place() const {
  return chromosomes_[windows_.chromosome_of(scheduled_.front())].name;
}

// Completes the bases that a window's work depends on.
void WindowSchedule::complete(std::size_t window) {
  const auto [first, last] = windows_.beside(window);
  for (std::size_t w = first; w <= last; ++w) memory_.complete(w);
}

// On the CPU each piece is a part. Each device has a part with all its pieces.
void WindowSchedule::begin_round() {
  constexpr std::size_t most = 128;
  parts_.resize(work_.devices());
  for (std::size_t k = 0; k < most && !scheduled_.empty(); ++k) {
    const std::size_t window = scheduled_.front();
    scheduled_.pop_front();
    is_scheduled_[window] = false;
    // The window may have been put off since it was scheduled.
    if (windows_.state(window) == WindowState::kWaiting) add_parts(window);
  }
}

void WindowSchedule::add_parts(std::size_t window) {
  windows_.call(window);
  drop(window);
  complete(window);
  const std::size_t chromosome = windows_.chromosome_of(window);
  const std::int64_t end = windows_.end(window);
  open_.insert(chromosome);
  for (std::int64_t start = windows_.start(window); start < end; start += piece_) {
    const auto number = static_cast<std::size_t>(start / piece_);
    const WindowPiece piece = {chromosome, number, start, std::min(start + piece_, end)};
    if (work_.devices() == 0) {
      parts_.push_back({piece});
    } else {
      parts_[device_of(n_done_++, work_.devices())].push_back(piece);
    }
  }
}

void WindowSchedule::do_part(std::size_t part, const TaskContext& context) {
  for (const WindowPiece& piece : parts_[part]) {
    work_.do_piece(piece, memory_.sources(piece.chromosome), part, context);
  }
}

void WindowSchedule::end_round() {
  work_.end_round(open_);
  open_.clear();
  parts_.clear();
  release_dropped();
}

std::vector<std::size_t> WindowSchedule::end_reading() {
  release_dropped();
  return windows_.end_reading();
}

void WindowSchedule::release_dropped() {
  for (const std::size_t window : to_drop_) memory_.release(window);
  to_drop_.clear();
}

}  // namespace ancify
