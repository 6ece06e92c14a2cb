// Runs work on threads. Only this folder starts threads or names TBB.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/exec/errors.h"
#include "core/exec/job_control.h"

namespace ancify {

// The most threads that a job may use, far more than any machine runs. TBB numbers threads in 16
// bits.
constexpr int kMostThreads = 4096;

// A task's view of its job: stop request, inputs, idle threads.
class TaskContext {
 public:
  // For work outside a job: one thread, never stopped.
  TaskContext() = default;
  // A task outside the threads of a job, with the job's inputs and stop request.
  explicit TaskContext(const JobControl& control) : control_(&control) {}
  // `idle` counts the job's threads without a task. Only builds without TBB use it.
  TaskContext(const JobControl& control, const std::atomic<std::int64_t>& first_failed,
              std::int64_t index, int threads, std::atomic<int>& idle)
      : control_(&control),
        first_failed_(&first_failed),
        index_(index),
        threads_(threads),
        idle_(&idle) {}

  // Throws Interrupted if the user stopped the job, or if a task with a smaller index has failed.
  void throw_if_stopped() const {
    if (control_ == nullptr) return;
    const bool failed_before = first_failed_ != nullptr && *first_failed_ < index_;
    if (failed_before || control_->stop_requested()) throw Interrupted();
  }

  // The expected identities of the job's inputs; empty outside a job.
  const InputIdentities& inputs() const;

  // Calls part(0), ..., part(n - 1) on this thread and on idle threads of the job. When all have
  // ended, rethrows the failure with the smallest index, if any.
  void share(std::int64_t n, const std::function<void(std::int64_t)>& part) const;

  // Like share(), for the only task of a job, whose parts may share work themselves. Parts start in
  // the order of their index, and a thread without a part helps the others.
  void share_in_order(std::int64_t n, const std::function<void(std::int64_t)>& part) const;

 private:
  const JobControl* control_ = nullptr;
  const std::atomic<std::int64_t>* first_failed_ = nullptr;
  std::int64_t index_ = 0;
  int threads_ = 1;
  std::atomic<int>* idle_ = nullptr;
};

using Task = std::function<void(std::int64_t index, const TaskContext& context)>;

// Runs task(0), ..., task(n - 1) on at most `threads` threads, including the caller's. Tasks start
// in the order of their index. When all have ended, rethrows the failure with the smallest index,
// if any. A failure stops only tasks with a larger index, so the number of threads does not change
// which failure is thrown.
void run_tasks(JobControl& control, int threads, std::int64_t n, const Task& task);

// Like run_tasks(), but tasks i, i + lanes, i + 2 * lanes, ... run one after the other on one
// thread. All tasks of a lane can therefore use one resource, such as a device. Threads beyond the
// lanes take shared parts.
void run_in_lanes(JobControl& control, int threads, int lanes, std::int64_t n, const Task& task);

// Runs `job` on a thread of its own. Meanwhile the caller's thread calls poll() 20 times a second,
// and once at the end. If poll() throws, the job is stopped and the exception is rethrown once the
// job has ended. In a forked child both run on the caller's thread, as worker threads do not
// survive a fork.
void run_beside(JobControl& control, const std::function<void()>& job,
                const std::function<void()>& poll);

// The number of hardware threads of the machine, at least 1.
int hardware_threads();

// True if this process was forked from one that had already loaded the package.
bool in_forked_child();

}  // namespace ancify
