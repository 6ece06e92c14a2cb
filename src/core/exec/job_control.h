// State shared by a running job and the thread that watches it: stop request, progress, log lines.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ancify {

// The expected identity of each input file, by path. InputFile checks it when a job opens the file.
using InputIdentities = std::unordered_map<std::string, std::string>;

class JobControl {
 public:
  explicit JobControl(InputIdentities inputs = {}) : inputs_(std::move(inputs)) {}

  const InputIdentities& inputs() const { return inputs_; }

  void request_stop() { stop_ = true; }
  bool stop_requested() const { return stop_; }

  // Progress, in units that the job chooses. Only the progress bar uses it.
  void expect(std::int64_t units) { expected_ += units; }
  void advance(std::int64_t units) { done_ += units; }
  std::int64_t expected() const { return expected_; }
  std::int64_t done() const { return done_; }
  // The current place of the job, such as a chromosome.
  void set_place(std::string place) {
    std::lock_guard<std::mutex> lock(mutex_);
    place_ = std::move(place);
  }
  std::string place() {
    std::lock_guard<std::mutex> lock(mutex_);
    return place_;
  }

  void log(std::string line) {
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(std::move(line));
  }
  // The lines logged since the last call, in order.
  std::vector<std::string> take_log() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  const InputIdentities inputs_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> expected_{0};
  std::atomic<std::int64_t> done_{0};
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::string place_;
};

}  // namespace ancify
