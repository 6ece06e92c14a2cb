// Makes a race between two tasks, or two parts of a task, that ThreadSanitizer must report.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "core/exec/threads.h"

int main(int, char** argv) {
  volatile int sum = 0;
  std::atomic<int> there{0};
  const auto race = [&] {
    // Wait until both are here. Relaxed order, as any other would remove the race.
    there.fetch_add(1, std::memory_order_relaxed);
    while (there.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
    // Many times, as ThreadSanitizer may miss two simultaneous writes.
    for (int i = 0; i < 10000; ++i) sum = sum + 1;
  };
  ancify::JobControl control;
  if (std::string(argv[1]) == "tasks") {
    ancify::run_tasks(control, 2, 2, [&](std::int64_t, const ancify::TaskContext&) { race(); });
  } else {
    ancify::run_tasks(control, 2, 1, [&](std::int64_t, const ancify::TaskContext& context) {
      context.share(2, [&](std::int64_t) { race(); });
    });
  }
  std::printf("%d\n", static_cast<int>(sum));
}
