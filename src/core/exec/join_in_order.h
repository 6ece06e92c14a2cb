// Joins parts in a fixed order, so that the rounding of sums does not depend on the number of
// threads. Any thread may make a part; one thread joins the parts, from the first to the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// Calls join(i, part) for i = 0 to n - 1, in this order and on the caller's thread. make(i,
// context) makes part i. At most `at_once` parts are in memory. on_threads(k, task) must run
// task(0, context) to task(k - 1, context).
template <class OnThreads, class Make, class Join>
void join_in_order(OnThreads on_threads, std::int64_t n, std::int64_t at_once, Make make,
                   Join join) {
  using Part = std::invoke_result_t<Make, std::int64_t, const TaskContext&>;
  for (std::int64_t from = 0; from < n; from += at_once) {
    std::vector<std::optional<Part>> parts(static_cast<std::size_t>(std::min(at_once, n - from)));
    on_threads(static_cast<std::int64_t>(parts.size()),
               [&](std::int64_t i, const TaskContext& context) {
                 parts[static_cast<std::size_t>(i)].emplace(make(from + i, context));
               });
    for (std::size_t i = 0; i < parts.size(); ++i) {
      join(from + static_cast<std::int64_t>(i), *parts[i]);
    }
  }
}

// Makes the parts on a job's threads.
template <class Make, class Join>
void join_in_order(JobControl& control, int threads, std::int64_t n, std::int64_t at_once,
                   Make make, Join join) {
  join_in_order([&](std::int64_t k, const Task& task) { run_tasks(control, threads, k, task); }, n,
                at_once, make, join);
}

// Makes the parts on a task's own thread and on idle threads.
template <class Make, class Join>
void join_in_order(const TaskContext& context, std::int64_t n, std::int64_t at_once, Make make,
                   Join join) {
  join_in_order(
      [&](std::int64_t k, const Task& task) {
        context.throw_if_stopped();
        context.share(k, [&](std::int64_t i) {
          context.throw_if_stopped();
          task(i, context);
        });
      },
      n, at_once, make, join);
}

}  // namespace ancify
