// Works on windows in rounds, and keeps their bases as long as the work needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "core/ancestry/calling/reading_order.h"
#include "core/ancestry/calling/window_memory.h"
#include "core/ancestry/calling/window_work.h"
#include "core/ancestry/calling/windows.h"
#include "core/exec/threads.h"
#include "core/genome/lengths.h"

namespace ancify {

class WindowSchedule {
 public:
  // `work` and `chromosomes` must outlive this. `window` is in positions, a multiple of
  // kPackedGroup.
  WindowSchedule(WindowWork& work, const std::vector<Chromosome>& chromosomes, std::int64_t window);

  const Windows& windows() const { return windows_; }
  WindowMemory& memory() { return memory_; }

  // ---- Between rounds ----
  // Schedules waiting windows: either those passed by all readers on a chromosome, or all.
  void schedule_passed(std::size_t chromosome, std::int64_t passed);
  void schedule_waiting();
  // The window has its first bases of a species, or has received bases too late.
  void note_begun(std::size_t window) { with_bases_.push_back(window); }
  void note_late(std::size_t window);
  // Drops the oldest unscheduled bases until `limit` bytes suffice. True if it dropped any.
  bool keep_to(std::int64_t limit);
  // Ends a reading. Returns the windows that need another one.
  std::vector<std::size_t> end_reading();
  // Chooses from `left` the windows for the next reading.
  std::vector<std::size_t> choose(const std::vector<std::size_t>& left, std::int64_t limit);

  // ---- A round ----
  bool has_work() const { return !scheduled_.empty(); }
  // The next chromosome to be worked on.
  const std::string& place() const;
  // Takes up scheduled windows, but not too many, as each chromosome may have an open file. Their
  // work is done in this many parts, on any threads.
  void begin_round();
  std::size_t parts() const { return parts_.size(); }
  void do_part(std::size_t part, const TaskContext& context);
  void end_round();

 private:
  void schedule(std::size_t window);
  bool is_scheduled_beside(std::size_t window) const;
  void add_parts(std::size_t window);
  void complete(std::size_t window);
  void drop(std::size_t window);
  void release_dropped();

  WindowWork& work_;
  const std::vector<Chromosome>& chromosomes_;
  Windows windows_;
  WindowMemory memory_;
  std::int64_t piece_;             // positions
  std::vector<std::size_t> next_;  // by chromosome: the first window not passed yet
  std::deque<std::size_t> scheduled_;
  std::vector<bool> is_scheduled_;               // by window
  std::vector<std::vector<WindowPiece>> parts_;  // of this round
  std::set<std::size_t> open_;                   // chromosomes of this round
  std::size_t n_done_ = 0;                       // windows, in all rounds
  std::set<std::size_t> to_drop_;                // windows whose bases are dropped after this round
  std::deque<std::size_t> with_bases_;           // windows, the oldest first
};

}  // namespace ancify
