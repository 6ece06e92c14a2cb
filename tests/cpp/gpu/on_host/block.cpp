// Runs a block of GPU threads on the host: fibers take turns, and switch at barriers.

// With fortified headers, which some distributions switch on, longjmp() ends the program at a jump
// to another stack.
#undef _FORTIFY_SOURCE

#include "block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "problems.h"
#include "sanitizer.h"

thread_local ancify::on_host::Index threadIdx, blockIdx, blockDim, gridDim;

namespace ancify::on_host {

namespace {

// A stack on which threads of a block run one after the other, until one waits. Stacks are switched
// by jumps, as swapcontext() calls the system each time.
class Fiber {
 public:
  explicit Fiber(void (*work)());
  ~Fiber() { munmap(memory_, kGuard + kStack); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From outside: runs work() until pause() or end(), and is true at end().
  bool resume();
  // From inside: return to resume(). After end(), work() does its work again.
  void pause();
  void end();
  // From inside, at the beginning of work()
  void enter() { outside_stack_ = enter_stack(nullptr); }

  unsigned thread = 0;            // the thread that waits
  const void* barrier = nullptr;  // the barrier where it waits
  bool in_warp = false;           // for its warp alone

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::size_t kStack = std::size_t{64} << 10;

  char* stack() const { return memory_ + kGuard; }

  char* memory_;
  bool begun_ = false;
  bool ended_ = false;
  ucontext_t first_ = {};
  std::jmp_buf inside_ = {};
  std::jmp_buf outside_ = {};
  void* inside_own_ = nullptr;
  void* outside_own_ = nullptr;
  Stack outside_stack_;
};

Fiber::Fiber(void (*work)())
    : memory_(static_cast<char*>(mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (memory_ == MAP_FAILED || mprotect(memory_, kGuard, PROT_NONE) != 0) {
    throw std::system_error(errno, std::generic_category(), "a stack");
  }
  open_to_access(stack(), kStack);  // an earlier stack may have been here
  getcontext(&first_);
  first_.uc_stack.ss_sp = stack();
  first_.uc_stack.ss_size = kStack;
  makecontext(&first_, work, 0);
}

ANCIFY_SWITCHES_STACKS bool Fiber::resume() {
  leave_stack(&outside_own_, {stack(), kStack});
  if (ANCIFY_NOTE_PLACE(outside_) == 0) {
    if (begun_) ANCIFY_GO_TO(inside_);
    begun_ = true;
    setcontext(&first_);
  }
  enter_stack(outside_own_);
  return std::exchange(ended_, false);
}

ANCIFY_SWITCHES_STACKS void Fiber::pause() {
  leave_stack(&inside_own_, outside_stack_);
  if (ANCIFY_NOTE_PLACE(inside_) == 0) ANCIFY_GO_TO(outside_);
  outside_stack_ = enter_stack(inside_own_);
}

void Fiber::end() {
  ended_ = true;
  pause();
}

constexpr unsigned kWarp = 32;
constexpr std::size_t kMostExchanged = 64;  // bytes of a thread

// The block that a thread of the host runs.
class Block {
 public:
  void run(const std::function<void()>& kernel) {
    kernel_ = &kernel;
    to_start_ = indices_in_order(static_cast<unsigned>(blockDim.size()));
    turns_.assign(to_start_.size(), 0);
    copies_.assign(to_start_.size(), {});
    for (auto& place : left_) place.resize((to_start_.size() + kWarp) * kMostExchanged);
    next_ = 0;
    while (next_ < to_start_.size()) {
      start();
      if (next_ % kWarp == 0) pass_barriers_of_warps();
    }
    while (!waiting_.empty()) {
      pass_barriers_of_warps();
      if (!waiting_.empty()) pass_barrier();
    }
  }

  // Called in a fiber.
  [[noreturn]] void work() {
    current_->enter();
    while (true) {
      while (next_ < to_start_.size()) {
        become(to_start_[next_++]);
        (*kernel_)();
      }
      current_->end();
    }
  }
  void wait_at(const void* barrier, bool in_warp) {
    current_->barrier = barrier;
    current_->in_warp = in_warp;
    current_->thread = thread_;
    current_->pause();
    become(current_->thread);
  }
  // Leaves n bytes for the thread's warp, and gives all that its lanes left. What was left before
  // may still be read, so that there are two places for it.
  const char* exchange(const char* own, std::size_t n) {
    if (n > kMostExchanged) problem("an exchange of " + std::to_string(n) + " bytes");
    std::vector<char>& place = left_[turns_[thread_]++ % 2];
    char* const of_warp = &place[thread_ / kWarp * kWarp * kMostExchanged];
    std::copy_n(own, n, of_warp + thread_ % kWarp * n);
    wait_at(nullptr, true);
    return of_warp;
  }
  void copy_later(std::function<void()> copy) { copies_[thread_].open.push_back(std::move(copy)); }
  void end_group_of_copies() {
    Copies& own = copies_[thread_];
    own.groups.push_back(std::exchange(own.open, {}));
  }
  void wait_for_copies(std::size_t left) {
    auto& groups = copies_[thread_].groups;
    for (; groups.size() > left; groups.pop_front()) {
      for (const auto& copy : groups.front()) copy();
    }
  }

 private:
  // The copies that a thread has begun.
  using Group = std::vector<std::function<void()>>;
  struct Copies {
    Group open;
    std::deque<Group> groups;
  };

  void become(unsigned thread) {
    thread_ = thread;
    threadIdx = Index::of(thread, blockDim);
  }
  // Runs threads in one fiber until one waits at a barrier.
  void start();
  void go_on(Fiber* fiber);
  bool pass_barrier_of_a_warp();
  // Warps go on alone as far as they can, before others begin.
  void pass_barriers_of_warps() {
    while (pass_barrier_of_a_warp()) continue;
  }
  void pass_barrier();

  const std::function<void()>* kernel_ = nullptr;
  std::vector<unsigned> to_start_;
  std::size_t next_ = 0;
  unsigned thread_ = 0;          // the thread that runs
  std::vector<unsigned> turns_;  // exchanges of each thread
  std::array<std::vector<char>, 2> left_;
  std::vector<Copies> copies_;  // of each thread
  Fiber* current_ = nullptr;
  std::vector<Fiber*> waiting_;
  std::vector<Fiber*> idle_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
};

thread_local Block block;

void Block::start() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>([] { block.work(); }));
    idle_.push_back(fibers_.back().get());
  }
  Fiber* const fiber = idle_.back();
  idle_.pop_back();
  go_on(fiber);
}

void Block::go_on(Fiber* fiber) {
  current_ = fiber;
  (fiber->resume() ? idle_ : waiting_).push_back(fiber);
}

// The first warp whose threads all wait for each other goes on, ahead of the others.
bool Block::pass_barrier_of_a_warp() {
  const auto threads = static_cast<unsigned>(to_start_.size());
  std::vector<Fiber*> of_thread(threads);
  for (Fiber* const fiber : waiting_) of_thread[fiber->thread] = fiber->in_warp ? fiber : nullptr;
  for (const unsigned warp : indices_in_order((threads + kWarp - 1) / kWarp)) {
    const unsigned first = warp * kWarp;
    const unsigned n = std::min(kWarp, threads - first);
    const auto begin = of_thread.begin() + first;
    if (std::count(begin, begin + n, nullptr) > 0) continue;
    waiting_.erase(
        std::remove_if(waiting_.begin(), waiting_.end(),
                       [&](const Fiber* fiber) { return fiber->thread / kWarp == warp; }),
        waiting_.end());
    for (const unsigned lane : indices_in_order(n)) go_on(of_thread[first + lane]);
    return true;
  }
  return false;
}

void Block::pass_barrier() {
  std::vector<Fiber*> of_thread(to_start_.size());
  for (Fiber* const fiber : waiting_) of_thread[fiber->thread] = fiber;
  const auto* const barrier = waiting_.front()->barrier;
  if (waiting_.size() < to_start_.size()) {
    problem("threads of a block have ended while others wait at a barrier");
  } else if (std::any_of(waiting_.begin(), waiting_.end(),
                         [&](const Fiber* fiber) { return fiber->barrier != barrier; })) {
    problem("threads of a block wait at different barriers");
  }
  waiting_.clear();
  unsigned gone_on = 0;
  for (const unsigned thread : indices_in_order(static_cast<unsigned>(of_thread.size()))) {
    if (of_thread[thread] != nullptr) go_on(of_thread[thread]);
    if (++gone_on % kWarp == 0) pass_barriers_of_warps();
  }
}

}  // namespace

std::vector<unsigned> indices_in_order(unsigned n) {
  const char* const chosen = std::getenv("ANCIFY_THREAD_ORDER");
  static thread_local std::mt19937 random;
  const std::string order = chosen == nullptr ? "forward" : chosen;
  std::vector<unsigned> indices(n);
  std::iota(indices.begin(), indices.end(), 0U);
  if (order == "reverse") std::reverse(indices.begin(), indices.end());
  if (order == "random") std::shuffle(indices.begin(), indices.end(), random);
  if (order != "forward" && order != "reverse" && order != "random") {
    problem("ANCIFY_THREAD_ORDER is '" + order + "'; it can be forward, reverse or random");
  }
  return indices;
}

void run_block(const std::function<void()>& kernel) { block.run(kernel); }

void barrier() { block.wait_at(__builtin_return_address(0), false); }

const char* exchange_bytes(const char* own, std::size_t n) { return block.exchange(own, n); }

void copy_later(std::function<void()> copy) { block.copy_later(std::move(copy)); }

void end_group_of_copies() { block.end_group_of_copies(); }

void wait_for_copies(std::size_t left) { block.wait_for_copies(left); }

}  // namespace ancify::on_host
