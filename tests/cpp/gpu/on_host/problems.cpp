// Collects faults of kernels, and makes the process fail at its end.
#include "problems.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "memory.h"

namespace ancify::on_host {

namespace {

class Problems {
 public:
  // Runs at the process's end.
  ~Problems() {
    report_memory_left();
    if (said_.empty()) return;
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
  void add(const std::string& what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (said_.insert(what).second) std::fprintf(stderr, "CUDA on the host: %s\n", what.c_str());
  }

 private:
  std::mutex mutex_;
  std::set<std::string> said_;
} problems;

}  // namespace

void problem(const std::string& what) { problems.add(what); }

}  // namespace ancify::on_host
