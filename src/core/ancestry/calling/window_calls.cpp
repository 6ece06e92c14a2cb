// Schedules windows for calls, cuts them into pieces for threads, and frees their memory.
#include "core/ancestry/calling/window_calls.h"

#include <algorithm>
#include <utility>

namespace ancify {

WindowCalls::WindowCalls(const PieceCaller& by, const std::vector<Chromosome>& chromosomes,
                         const std::string& folder, std::int64_t window)
    : by_(by),
      chromosomes_(chromosomes),
      folder_(folder),
      outer_(folder),
      inner_(by.caller().with_phred() ? posterior_folder(folder) : folder),
      windows_(chromosomes, window, by.caller().reach() > 0),
      memory_(windows_, static_cast<std::size_t>(by.caller().species()), by.caller().simd()),
      piece_(std::min(by.piece(window, false), window)),
      is_scheduled_(windows_.size()) {
  for (std::size_t c = 0; c < chromosomes.size(); ++c) {
    const std::int64_t n = (chromosomes[c].length + piece_ - 1) / piece_;
    files_.emplace_back(folder_, chromosomes[c], static_cast<std::size_t>(n),
                        by.caller().known_sites());
    next_.push_back(windows_.first_of(c));
  }
}

void WindowCalls::schedule_passed(std::size_t chromosome, std::int64_t passed) {
  std::size_t& next = next_[chromosome];
  for (; next < windows_.end_of(chromosome) && windows_.needs(next) <= passed; ++next) {
    schedule(next);
  }
}

void WindowCalls::schedule_waiting() {
  for (std::size_t w = 0; w < windows_.size(); ++w) schedule(w);
}

void WindowCalls::schedule(std::size_t window) {
  if (windows_.state(window) != WindowState::kWaiting || is_scheduled_[window]) return;
  is_scheduled_[window] = true;
  scheduled_.push_back(window);
}

void WindowCalls::note_late(std::size_t window) {
  windows_.put_off(window);
  drop(window);
}

bool WindowCalls::keep_to(std::int64_t limit) {
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

bool WindowCalls::is_scheduled_beside(std::size_t window) const {
  const auto [first, last] = windows_.beside(window);
  const auto begin = is_scheduled_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(last) + 1;
  return std::find(begin + static_cast<std::ptrdiff_t>(first), end, true) != end;
}

// Drops bases near a window after the round, unless calls wait for them. If the window or its
// neighbours were put off, the bases of their neighbours are no longer needed either.
void WindowCalls::drop(std::size_t window) {
  const std::size_t first = window - std::min<std::size_t>(window, 2);
  for (std::size_t w = first; w <= std::min(window + 2, windows_.size() - 1); ++w) {
    if (!windows_.is_kept(w)) to_drop_.insert(w);
  }
}

std::vector<std::size_t> WindowCalls::choose(const std::vector<std::size_t>& left,
                                             std::int64_t limit) {
  return windows_.choose(left, limit,
                         [&](std::size_t window) { return memory_.most_bytes(window); });
}

const std::string& WindowCalls::place() const {
  return chromosomes_[windows_.chromosome_of(scheduled_.front())].name;
}

// Completes the bases that a window's calls depend on.
void WindowCalls::complete(std::size_t window) {
  const auto [first, last] = windows_.beside(window);
  for (std::size_t w = first; w <= last; ++w) memory_.complete(w);
}

// On the CPU each piece is a part. Each device has a part with all its pieces.
void WindowCalls::begin_round() {
  constexpr std::size_t most = 128;
  parts_.resize(by_.devices());
  for (std::size_t k = 0; k < most && !scheduled_.empty(); ++k) {
    const std::size_t window = scheduled_.front();
    scheduled_.pop_front();
    is_scheduled_[window] = false;
    // The window may have been put off since it was scheduled.
    if (windows_.state(window) == WindowState::kWaiting) add_parts(window);
  }
}

void WindowCalls::add_parts(std::size_t window) {
  windows_.call(window);
  drop(window);
  complete(window);
  const std::size_t chromosome = windows_.chromosome_of(window);
  const std::int64_t end = windows_.end(window);
  open_.insert(chromosome);
  for (std::int64_t start = windows_.start(window); start < end; start += piece_) {
    const auto number = static_cast<std::size_t>(start / piece_);
    const Piece piece = {chromosome, number, start, std::min(start + piece_, end)};
    if (by_.devices() == 0) {
      parts_.push_back({piece});
    } else {
      parts_[device_of(n_called_++, by_.devices())].push_back(piece);
    }
  }
}

void WindowCalls::do_part(std::size_t part, const TaskContext& context) {
  for (const Piece& piece : parts_[part]) call(piece, part, context);
}

void WindowCalls::call(const Piece& piece, std::size_t device, const TaskContext& context) {
  const auto& [chromosome, number, start, end] = piece;
  CallFiles& files = files_[chromosome];
  files.open(by_.caller().with_phred());
  files.begin_piece(number);
  const SequenceSources sources = memory_.sources(chromosome);
  by_.call(
      device, {sources, chromosomes_[chromosome].length, start, end}, context,
      [&, number = number](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
        files.write(number, stretch, calls, phred, by_.caller().simd());
      });
}

void WindowCalls::end_round() {
  for (const std::size_t c : open_) files_[c].close();
  open_.clear();
  parts_.clear();
  release_dropped();
}

std::vector<std::size_t> WindowCalls::end_reading() {
  release_dropped();
  return windows_.end_reading();
}

void WindowCalls::release_dropped() {
  for (const std::size_t window : to_drop_) memory_.release(window);
  to_drop_.clear();
}

std::vector<CallCounts> WindowCalls::finish(const ChromosomeCalled& called, JobControl& control,
                                            const TaskContext& context) {
  std::vector<CallCounts> counts(files_.size());
  context.share(static_cast<std::int64_t>(files_.size()), [&](std::int64_t i) {
    const auto c = static_cast<std::size_t>(i);
    const CalledChromosome finished = files_[c].finish(context);
    counts[c] = finished.counts;
    control.log("Called " + chromosomes_[c].name);
    if (called) called(c, finished);
  });
  return counts;
}

}  // namespace ancify
