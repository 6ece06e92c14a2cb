// Runs tasks on TBB, or on std::thread where tests look for data races (ANCIFY_STD_THREADS).
#include "core/exec/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#ifndef ANCIFY_STD_THREADS
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace ancify {

namespace {

// The handler below sets this in a forked child. It is the core's only mutable global.
std::atomic<bool> forked{false};
const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked = true; });

// Keeps the failure with the smallest index.
class FirstFailure {
 public:
  void record(std::int64_t index, std::exception_ptr error) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (index < index_) {
      index_ = index;
      error_ = std::move(error);
    }
  }
  const std::atomic<std::int64_t>& index() const { return index_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<std::int64_t> index_{std::numeric_limits<std::int64_t>::max()};
  std::exception_ptr error_;
};

#ifdef ANCIFY_STD_THREADS

// Runs worker() on `count` of `threads` threads, including the caller's. worker() must not throw.
void run_workers(int /*threads*/, int count, const std::function<void()>& worker) {
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < count; ++i) others.emplace_back(worker);
  } catch (const std::system_error&) {
    // Some threads may not have started; the others do all the work.
  }
  worker();
  for (auto& other : others) other.join();
}

// Takes up to `most` of the idle threads.
int take_idle(std::atomic<int>& idle, std::int64_t most) {
  for (int now = idle; now > 0 && most > 0;) {
    const int taken = static_cast<int>(std::min<std::int64_t>(now, most));
    if (idle.compare_exchange_weak(now, now - taken)) return taken;
  }
  return 0;
}

// Without a pool no idle threads can be woken, so this starts a new thread for each idle one.
void share_with_idle(std::int64_t n, const std::function<void(std::int64_t)>& part,
                     std::atomic<int>& idle) {
  const int others = take_idle(idle, n - 1);
  std::atomic<std::int64_t> next{0};
  run_workers(others + 1, others + 1, [&] {
    for (std::int64_t i = next++; i < n; i = next++) part(i);
  });
  idle += others;
}

void share_with_helpers(std::int64_t n, int /*threads*/,
                        const std::function<void(std::int64_t)>& part, std::atomic<int>& idle) {
  share_with_idle(n, part, idle);
}

#else

void run_workers(int threads, int count, const std::function<void()>& worker) {
  threads = std::min(threads, kMostThreads);
  // By default TBB uses at most one thread per core.
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<std::size_t>(std::max(threads, hardware_threads())));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(
        0, count, [&](int) { worker(); }, tbb::simple_partitioner());
  });
}

// Isolation keeps a thread that waits for its parts from starting another task.
void share_with_idle(std::int64_t n, const std::function<void(std::int64_t)>& part,
                     std::atomic<int>& /*idle*/) {
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        std::int64_t{0}, n, [&](std::int64_t i) { part(i); }, tbb::simple_partitioner());
  });
}

// Needs no isolation: a waiting thread can only take other parts, or parts that these share.
void share_with_helpers(std::int64_t n, int threads, const std::function<void(std::int64_t)>& part,
                        std::atomic<int>& /*idle*/) {
  std::atomic<std::int64_t> next{0};
  tbb::parallel_for(
      std::int64_t{0}, std::min<std::int64_t>(n, threads),
      [&](std::int64_t) {
        for (std::int64_t i = next++; i < n; i = next++) part(i);
      },
      tbb::simple_partitioner());
}

#endif

std::thread start_thread(const std::function<void()>& run) {
  try {
    return std::thread(run);
  } catch (const std::system_error& error) {
    throw SystemError(std::string("cannot start a thread: ") + error.what() +
                      ". Raise the process limit, or end some processes");
  }
}

// Blocks signals in threads started inside this scope, so that R's main thread receives them.
// Faults, such as SIGSEGV, still reach the thread that caused them.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t set;
    sigfillset(&set);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&set, fault);
    pthread_sigmask(SIG_BLOCK, &set, &previous_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t previous_;
};

// Runs tasks 0 to n - 1 in rows. Row r consists of tasks r, r + rows, r + 2 * rows, ..., which run
// in this order on one thread.
void run_rows(JobControl& control, int threads, std::int64_t rows, std::int64_t n,
              const Task& task) {
  if (in_forked_child()) threads = 1;
  const int workers = static_cast<int>(std::min<std::int64_t>(threads, n));
  std::atomic<int> idle{threads - workers};
  FirstFailure failure;
  const auto run = [&](std::int64_t i) {
    try {
      const TaskContext context(control, failure.index(), i, threads, idle);
      context.throw_if_stopped();
      task(i, context);
    } catch (...) {
      failure.record(i, std::current_exception());
    }
  };
  std::atomic<std::int64_t> next{0};
  const auto worker = [&] {
    for (std::int64_t row = next++; row < std::min(rows, n); row = next++) {
      for (std::int64_t i = row; i < n; i += rows) run(i);
    }
    ++idle;
  };
  if (threads <= 1) {
    worker();
  } else {
    run_workers(threads, workers, worker);
  }
  failure.rethrow();
}

}  // namespace

void run_tasks(JobControl& control, int threads, std::int64_t n, const Task& task) {
  run_rows(control, threads, n, n, task);
}

void run_in_lanes(JobControl& control, int threads, int lanes, std::int64_t n, const Task& task) {
  run_rows(control, std::max(threads, lanes), lanes, n, task);
}

const InputIdentities& TaskContext::inputs() const {
  static const InputIdentities none;
  return control_ == nullptr ? none : control_->inputs();
}

namespace {

// Calls share(guarded), where guarded(i) calls part(i); rethrows the failure with the smallest
// index.
template <class Share>
void share_parts(const std::function<void(std::int64_t)>& part, Share share) {
  FirstFailure failure;
  share([&](std::int64_t i) {
    try {
      part(i);
    } catch (...) {
      failure.record(i, std::current_exception());
    }
  });
  failure.rethrow();
}

}  // namespace

void TaskContext::share(std::int64_t n, const std::function<void(std::int64_t)>& part) const {
  share_parts(part, [&](const std::function<void(std::int64_t)>& guarded) {
    if (threads_ > 1) return share_with_idle(n, guarded, *idle_);
    for (std::int64_t i = 0; i < n; ++i) guarded(i);
  });
}

void TaskContext::share_in_order(std::int64_t n,
                                 const std::function<void(std::int64_t)>& part) const {
  share_parts(part, [&](const std::function<void(std::int64_t)>& guarded) {
    if (threads_ > 1) return share_with_helpers(n, threads_, guarded, *idle_);
    for (std::int64_t i = 0; i < n; ++i) guarded(i);
  });
}

void run_beside(JobControl& control, const std::function<void()>& job,
                const std::function<void()>& poll) {
  if (in_forked_child()) {
    job();
    poll();
    return;
  }
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr job_error;
  std::exception_ptr poll_error;

  std::thread runner;
  {
    BlockSignals scope;
    runner = start_thread([&] {
      try {
        job();
      } catch (...) {
        job_error = std::current_exception();
      }
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
      ended.notify_one();
    });
  }
  auto guarded_poll = [&] {
    if (poll_error) return;
    try {
      poll();
    } catch (...) {
      poll_error = std::current_exception();
      control.request_stop();
    }
  };
  {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      lock.unlock();
      guarded_poll();
      lock.lock();
    }
  }
  runner.join();
  guarded_poll();
  if (poll_error) std::rethrow_exception(poll_error);
  if (job_error) std::rethrow_exception(job_error);
}

int hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

bool in_forked_child() { return forked; }

}  // namespace ancify
