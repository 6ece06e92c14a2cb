// Checks threads: the order of results, errors, stops, and shared parts.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"
#include "core/exec/threads.h"

namespace ancify {
namespace {

TEST(RunTasks, RunsEachTaskOnce) {
  for (const int threads : {1, 2, 8}) {
    JobControl control;
    std::vector<std::atomic<int>> runs(1000);
    run_tasks(control, threads, 1000, [&](std::int64_t i, const TaskContext&) { ++runs[i]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(JoinInOrder, GivesTheSameBytesAtAnyNumberOfThreads) {
  // Terms have very different sizes, so that another order gives another sum.
  const auto make = [](std::int64_t i, const TaskContext&) { return std::pow(-1.7, i % 97) / 3; };
  double expected = 0;
  for (std::int64_t i = 0; i < 1000; ++i) expected += make(i, TaskContext());
  double reversed = 0;
  for (std::int64_t i = 1000; i-- > 0;) reversed += make(i, TaskContext());
  EXPECT_NE(reversed, expected);
  for (const int threads : {1, 2, 8}) {
    for (const std::int64_t at_once : {1, 7, 5000}) {
      JobControl control;
      double sum = 0;
      std::int64_t next = 0;
      const auto join = [&](std::int64_t i, double part) {
        EXPECT_EQ(i, next++);
        sum += part;
      };
      join_in_order(control, threads, 1000, at_once, make, join);
      EXPECT_EQ(sum, expected) << threads;
      sum = 0;
      next = 0;
      run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
        join_in_order(context, 1000, at_once, make, join);
      });
      EXPECT_EQ(sum, expected) << threads;
    }
  }
}

TEST(RunTasks, UsesAsManyThreadsAsAskedAndNoMore) {
  for (const int threads : {1, 2, 5}) {
    JobControl control;
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    run_tasks(control, threads, 200, [&](std::int64_t, const TaskContext&) {
      const int here = ++now;
      for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
      }
      // A busy machine may start them slowly.
      for (int k = 0; k < 1000 && most < threads; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      --now;
    });
    EXPECT_EQ(most, threads);
  }
}

TEST(RunTasks, TakesAnyNumberOfThreads) {
  for (const int threads : {70000, std::numeric_limits<int>::max()}) {
    JobControl control;
    std::atomic<int> runs{0};
    run_beside(
        control,
        [&] {
          run_tasks(control, threads, 100, [&](std::int64_t, const TaskContext& context) {
            context.share(3, [&](std::int64_t) { ++runs; });
          });
        },
        [] {});
    EXPECT_EQ(runs, 300);
  }
}

TEST(RunTasks, OneThreadIsTheCallers) {
  JobControl control;
  run_tasks(control, 1, 10,
            [caller = std::this_thread::get_id()](std::int64_t, const TaskContext&) {
              EXPECT_EQ(std::this_thread::get_id(), caller);
            });
}

TEST(RunTasks, RethrowsTheFailureWithTheSmallestIndex) {
  for (const int threads : {1, 2, 8}) {
    JobControl control;
    try {
      run_tasks(control, threads, 100, [&](std::int64_t i, const TaskContext&) {
        // Let task 4 fail before task 3.
        if (i == 3) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (i == 3 || i == 4) throw InputError("task " + std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "task 3");
    }
  }
}

TEST(RunInLanes, ALaneIsInOrderAndUsedByOneTaskAtATime) {
  for (const int lanes : {1, 2, 3, 7}) {
    for (const std::int64_t n : {0, 1, 3, 50}) {
      JobControl control;
      std::vector<std::vector<std::int64_t>> done(static_cast<std::size_t>(lanes));
      std::vector<std::atomic<int>> now(static_cast<std::size_t>(lanes));
      run_in_lanes(control, 1, lanes, n, [&](std::int64_t i, const TaskContext&) {
        const auto lane = static_cast<std::size_t>(i % lanes);
        EXPECT_EQ(now[lane]++, 0);
        done[lane].push_back(i);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        --now[lane];
      });
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_EQ(done[static_cast<std::size_t>(i % lanes)].at(static_cast<std::size_t>(i / lanes)),
                  i);
      }
    }
  }
}

TEST(RunInLanes, TheFirstFailureStopsWhatComesAfter) {
  JobControl control;
  std::atomic<int> later{0};
  try {
    run_in_lanes(control, 5, 3, 300, [&](std::int64_t i, const TaskContext& context) {
      if (i == 5 || i == 7) throw DeviceError("task " + std::to_string(i));
      if (i < 5) return;
      ++later;
      // A busy machine may start the lane of task 5 slowly.
      for (int k = 0; k < 1000; ++k) {
        context.throw_if_stopped();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "task 5");
  }
  EXPECT_LE(later, 1);  // task 6
}

TEST(RunTasks, AFailureStopsLaterTasksOnly) {
  JobControl control;
  std::atomic<bool> earlier_ended{false};
  std::atomic<bool> later_stopped{false};
  std::atomic<int> others_started{0};
  EXPECT_THROW(run_tasks(control, 3, 3,
                         [&](std::int64_t i, const TaskContext& context) {
                           if (i == 1) {
                             for (int k = 0; k < 500 && others_started < 2; ++k) {
                               std::this_thread::sleep_for(std::chrono::milliseconds(10));
                             }
                             throw InputError("1");
                           }
                           ++others_started;
                           for (int k = 0; k < 600; ++k) {
                             if (i == 0 && later_stopped) break;
                             std::this_thread::sleep_for(std::chrono::milliseconds(10));
                             try {
                               context.throw_if_stopped();
                             } catch (const Interrupted&) {
                               if (i == 2) later_stopped = true;
                               throw;
                             }
                           }
                           if (i == 0) earlier_ended = true;
                         }),
               InputError);
  EXPECT_TRUE(earlier_ended);
  EXPECT_TRUE(later_stopped);
}

TEST(RunTasks, StopsWhenAsked) {
  JobControl control;
  std::atomic<int> started{0};
  EXPECT_THROW(run_tasks(control, 2, 1000,
                         [&](std::int64_t, const TaskContext&) {
                           const int number = ++started;
                           if (number == 10) control.request_stop();
                           // The other thread must not run on before the stop is requested.
                           while (number > 10 && !control.stop_requested()) {
                             std::this_thread::yield();
                           }
                         }),
               Interrupted);
  EXPECT_LE(started, 12);
}

TEST(TaskContext, SharesPartsWithIdleThreadsOnly) {
  for (const int threads : {1, 2, 4}) {
    JobControl control;
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    std::atomic<int> parts{0};
    run_tasks(control, threads, 3, [&](std::int64_t, const TaskContext& context) {
      context.share(10, [&](std::int64_t) {
        const int here = ++now;
        for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --now;
        ++parts;
      });
    });
    EXPECT_EQ(parts, 30);
    EXPECT_LE(most, threads);
  }
}

TEST(TaskContext, RethrowsTheFailureOfTheFirstPart) {
  for (const int threads : {1, 4}) {
    JobControl control;
    try {
      run_tasks(control, threads, 1, [&](std::int64_t, const TaskContext& context) {
        context.share(10, [&](std::int64_t part) {
          if (part == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
          if (part >= 2) throw InputError("part " + std::to_string(part));
        });
      });
      FAIL() << "no error";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "part 2");
    }
  }
}

TEST(RunBeside, PollsOnTheCallersThreadWhileTheJobRuns) {
  JobControl control;
  const auto caller = std::this_thread::get_id();
  std::atomic<int> polls{0};
  run_beside(
      control,
      [&] {
        EXPECT_NE(std::this_thread::get_id(), caller);
        // A busy machine may poll slowly.
        for (int k = 0; k < 1000 && polls < 3; ++k) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      },
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++polls;
      });
  EXPECT_GE(polls, 3);
}

TEST(RunBeside, RethrowsWhatTheJobThrows) {
  JobControl control;
  EXPECT_THROW(run_beside(
                   control, [] { throw FileError("f", "gone"); }, [] {}),
               FileError);
}

TEST(RunBeside, AFailingPollStopsTheJob) {
  JobControl control;
  bool stopped = false;
  EXPECT_THROW(run_beside(
                   control,
                   [&] {
                     while (!control.stop_requested()) {
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     }
                     stopped = true;
                     throw Interrupted();
                   },
                   [] { throw InputError("poll"); }),
               InputError);
  EXPECT_TRUE(stopped);
}

// A child of fork() has no worker threads, so its own thread must do everything.
TEST(ForkedChild, RunsEverythingOnTheCallersThread) {
  JobControl before;
  run_tasks(before, 2, 10, [](std::int64_t, const TaskContext&) {});
  EXPECT_FALSE(in_forked_child());
  const pid_t child = fork();
  if (child == 0) {
    const auto caller = std::this_thread::get_id();
    bool good = in_forked_child();
    int polls = 0;
    JobControl control;
    run_beside(
        control,
        [&] {
          run_tasks(control, 2, 10, [&](std::int64_t, const TaskContext&) {
            good = good && std::this_thread::get_id() == caller;
          });
        },
        [&] { ++polls; });
    _exit(good && polls == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(JobControl, GivesLogLinesOnceAndInOrder) {
  JobControl control;
  control.log("a");
  control.log("b");
  EXPECT_EQ(control.take_log(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(control.take_log().empty());
}

}  // namespace
}  // namespace ancify
