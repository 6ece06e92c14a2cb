// A fake device for tests: its memory is the host's, and it can be told to fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/device/kernels.h"
#include "core/exec/errors.h"

namespace ancify::test {

// Executes the work of a stream only when it is waited for, as late as a real device may. If
// `eager` is true, executes it at once.
class FakeDevice : public Device {
 public:
  explicit FakeDevice(std::size_t memory = std::size_t{1} << 30, std::string name = "fake:0")
      : memory_(memory), name_(std::move(name)) {}
  ~FakeDevice() override {
    for (const auto& stream : streams_) EXPECT_TRUE(stream.empty());
    EXPECT_EQ(taken(), 0U);
  }

  std::string name() const override { return name_; }
  std::size_t free_memory() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return memory_ - on_device_;
  }
  void* allocate(std::size_t n, MemoryKind kind) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (++allocations == failing_allocation) return nullptr;
    if (kind == fails_for && n > largest_allocation) return nullptr;
    if (kind == MemoryKind::kDevice && n > memory_ - on_device_) return nullptr;
    char* const data = new char[n];
    std::memset(data, '\xee', std::min(n, kMostMarked));
    sizes_[data] = n;
    if (kind == MemoryKind::kDevice) on_device_ += n;
    most_on_device = std::max(most_on_device, on_device_);
    return data;
  }
  void release(void* memory, MemoryKind kind) noexcept override {
    for (const auto& stream : streams_) EXPECT_TRUE(stream.empty());  // pending work may read it
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(static_cast<char*>(memory));
    if (kind == MemoryKind::kDevice) on_device_ -= found->second;
    sizes_.erase(found);
    delete[] static_cast<char*>(memory);
  }
  std::unique_ptr<Event> record(int stream) override {
    count_call("record");
    auto event = std::make_unique<FakeEvent>();
    event->stream = stream;
    begin(stream, [reached = event->reached] { *reached = true; });
    return event;
  }
  void wait_for(const Event& event, int stream) override {
    count_call("wait_for");
    const auto& fake = dynamic_cast<const FakeEvent&>(event);
    begin(stream, [this, from = fake.stream, reached = fake.reached] {
      do_steps(from, [&] { return *reached; });
    });
  }
  void wait(int stream) override {
    count_call("wait");
    finish(stream);
  }
  void drain() noexcept override {
    for (auto& stream : streams_) stream.clear();
  }

  // Begins a computation, after all earlier work of the stream.
  void begin(int stream, std::function<void()> step) {
    streams_.at(static_cast<std::size_t>(stream)).push_back(std::move(step));
    if (eager && eager()) finish(stream);
  }
  void count_call(const char* what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (++calls != failing_call) return;
    failed = true;
    throw DeviceError(name_ + " failed in " + what);
  }
  std::size_t taken() const { return sizes_.size(); }

  int allocations = 0;
  int calls = 0;
  int failing_call = 0;  // counted from 1
  std::atomic<bool> failed{false};
  std::size_t most_on_device = 0;
  std::size_t uploaded = 0;    // bytes
  int failing_allocation = 0;  // counted from 1
  // Allocations of this kind are refused if they are larger than largest_allocation.
  MemoryKind fails_for = MemoryKind::kDevice;
  std::size_t largest_allocation = ~std::size_t{0};
  std::function<bool()> eager;

 private:
  struct FakeEvent : Event {
    int stream = 0;
    std::shared_ptr<bool> reached = std::make_shared<bool>(false);
  };

  // Only the first part of a large piece of memory is touched, so the rest costs nothing.
  static constexpr std::size_t kMostMarked = std::size_t{1} << 24;

  void begin_copy_of_bytes(Copy way, void* to, const void* from, std::size_t n,
                           int stream) override {
    count_call(way == Copy::kUp ? "upload" : way == Copy::kDown ? "download" : "copy");
    EXPECT_GT(n, 0U);
    begin(stream, [=] { std::memcpy(to, from, n); });
    if (way != Copy::kUp) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    uploaded += n;
  }
  void begin_fill(void* to, unsigned char byte, std::size_t n, int stream) override {
    count_call("fill");
    EXPECT_GT(n, 0U);
    begin(stream, [=] { std::memset(to, byte, std::min(n, kMostMarked)); });
  }
  // Executes the work of a stream until none is left, or enough() is true.
  template <class Enough>
  void do_steps(int stream, Enough enough) {
    auto& steps = streams_.at(static_cast<std::size_t>(stream));
    while (!steps.empty() && !enough()) {
      const auto step = std::move(steps.front());
      steps.pop_front();
      step();
    }
  }
  void finish(int stream) {
    do_steps(stream, [] { return false; });
  }

  std::mutex mutex_;
  std::size_t memory_ = 0;
  std::string name_;
  std::size_t on_device_ = 0;
  std::map<char*, std::size_t> sizes_;
  std::array<std::deque<std::function<void()>>, kStreams> streams_;
};

// Executes the operations of a GPU's threads on the host, from the last part to the first.
template <class Operation>
class FakeKernelsOf : public Kernels<Operation> {
 public:
  explicit FakeKernelsOf(std::size_t memory = std::size_t{1} << 30,
                         const std::string& name = "fake:0")
      : fake(memory, name) {}
  Device& device() override { return fake; }
  void begin(const Operation& operation, int stream) override {
    fake.count_call(std::visit([](const auto& op) { return op.kName; }, operation));
    look_at(operation);
    fake.begin(stream, [this, operation] { do_on_host(operation); });
  }

  FakeDevice fake;

 protected:
  template <class Op>
  static void do_parts(const Op& op) {
    for (std::size_t i = op.n(); i-- > 0;) op(i);
  }

 private:
  // Called when an operation is begun, and when it is done.
  virtual void look_at(const Operation&) {}
  virtual void do_on_host(const Operation& operation) = 0;
};

}  // namespace ancify::test
