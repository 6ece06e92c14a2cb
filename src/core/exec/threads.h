// The one seam for threads. Nothing else in the core starts a thread or names TBB.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/exec/errors.h"
#include "core/exec/job_control.h"

namespace ancify {

// Far beyond any machine: a larger number is a mistake.
constexpr int kMostThreads = 4096;

// What one task of run_tasks() may ask of the job it belongs to.
class TaskContext {
 public:
  // The context of work that is part of no job: one thread, never stopped.
  TaskContext() = default;
  // The same, but of a job that has inputs and may be stopped.
  explicit TaskContext(const JobControl& control) : control_(&control) {}
  // `idle`: how many of the job's threads have no task, for where no pool knows.
  TaskContext(const JobControl& control, const std::atomic<std::int64_t>& first_failed,
              std::int64_t index, int threads, std::atomic<int>& idle)
      : control_(&control),
        first_failed_(&first_failed),
        index_(index),
        threads_(threads),
        idle_(&idle) {}

  // Interrupted when the task is no longer wanted: the user stops the job, or a task with a
  // smaller index has failed.
  void throw_if_stopped() const {
    if (control_ == nullptr) return;
    const bool failed_before = first_failed_ != nullptr && *first_failed_ < index_;
    if (failed_before || control_->stop_requested()) throw Interrupted();
  }

  // The identities that the job's inputs must have; none where the work is part of no job.
  const InputIdentities& inputs() const;

  // Calls part(0), ..., part(n - 1), on threads of the job that are idle besides this one. Returns
  // when all have ended and rethrows the failure with the smallest index.
  void share(std::int64_t n, const std::function<void(std::int64_t)>& part) const;

 private:
  const JobControl* control_ = nullptr;
  const std::atomic<std::int64_t>* first_failed_ = nullptr;
  std::int64_t index_ = 0;
  int threads_ = 1;
  std::atomic<int>* idle_ = nullptr;
};

using Task = std::function<void(std::int64_t index, const TaskContext& context)>;

// Runs task(0), ..., task(n - 1) on at most `threads` threads, the caller's among them, starting
// them in the order of their index. Returns when all have ended. If some failed, rethrows the
// error of the one with the smallest index, which is the same at any number of threads: a failure
// stops only tasks that come after it.
void run_tasks(JobControl& control, int threads, std::int64_t n, const Task& task);

// The same, but with tasks i, i + lanes, i + 2 * lanes, ... one after the other on one thread: what
// belongs to a lane is used by no two tasks at once. Threads beyond the lanes take shared parts.
void run_in_lanes(JobControl& control, int threads, int lanes, std::int64_t n, const Task& task);

// Runs `job` on a thread of its own while the caller's thread calls poll() 20 times a second, and
// once at the end. What poll() throws stops the job and is rethrown once the job has ended.
// In a forked child, where no worker thread survives, both run on the caller's thread.
void run_beside(JobControl& control, const std::function<void()>& job,
                const std::function<void()>& poll);

// Threads the machine runs at once (at least 1).
int hardware_threads();

// Whether this process was forked from one that had loaded the package.
bool in_forked_child();

}  // namespace ancify
