// A device that is not one: its memory is the host's, and it can be told to fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/device/device.h"
#include "core/exec/errors.h"

namespace ancify::test {

// What is begun in a stream is done when it is waited for, as late as a real device may do it.
class FakeDevice : public Device {
 public:
  explicit FakeDevice(std::size_t memory = std::size_t{1} << 30, std::string name = "fake:0")
      : memory_(memory), name_(std::move(name)) {}
  ~FakeDevice() override { EXPECT_EQ(taken(), 0U); }

  std::string name() const override { return name_; }
  std::size_t free_memory() override { return memory_ - on_device_; }
  void* allocate(std::size_t n, MemoryKind kind) override {
    ++allocations;
    if (kind == fails_for && n > largest_allocation) return nullptr;
    if (kind == MemoryKind::kDevice && n > free_memory()) return nullptr;
    char* const data = new char[n];
    std::memset(data, '\xee', n);
    sizes_[data] = n;
    if (kind == MemoryKind::kDevice) on_device_ += n;
    most_on_device = std::max(most_on_device, on_device_);
    return data;
  }
  void release(void* memory, MemoryKind kind) noexcept override {
    for (const auto& stream : streams_) EXPECT_TRUE(stream.empty());  // it may be copied from
    const auto found = sizes_.find(static_cast<char*>(memory));
    if (kind == MemoryKind::kDevice) on_device_ -= found->second;
    sizes_.erase(found);
    delete[] static_cast<char*>(memory);
  }
  void upload(void* to, const void* from, std::size_t n, int stream) override {
    count_call("upload");
    begin(stream, [=] { std::memcpy(to, from, n); });
  }
  void download(void* to, const void* from, std::size_t n, int stream) override {
    upload(to, from, n, stream);
  }
  void wait(int stream) override {
    count_call("wait");
    const auto work = std::exchange(streams_.at(static_cast<std::size_t>(stream)), {});
    for (const auto& step : work) step();
  }
  void drain() noexcept override {
    for (auto& stream : streams_) stream.clear();
  }

  // Something to compute, after what the stream has been given before.
  void begin(int stream, std::function<void()> step) {
    streams_.at(static_cast<std::size_t>(stream)).push_back(std::move(step));
  }
  void count_call(const char* what) {
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
  // Allocations of this kind are refused if they are larger.
  MemoryKind fails_for = MemoryKind::kDevice;
  std::size_t largest_allocation = ~std::size_t{0};

 private:
  std::size_t memory_;
  std::string name_;
  std::size_t on_device_ = 0;
  std::map<char*, std::size_t> sizes_;
  std::array<std::vector<std::function<void()>>, kStreams> streams_;
};

}  // namespace ancify::test
