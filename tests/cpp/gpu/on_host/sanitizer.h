// Tells AddressSanitizer about switched stacks; does nothing without it.
#pragma once

#include <csetjmp>
#include <cstddef>

#ifdef ANCIFY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ancify::on_host {

struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

#ifdef ANCIFY_ADDRESS_SANITIZER

constexpr bool kClosesMemory = true;
inline void close_to_access(void* from, std::size_t n) { __asan_poison_memory_region(from, n); }
inline void open_to_access(void* from, std::size_t n) { __asan_unpoison_memory_region(from, n); }
// Call before switching to another stack. `own` keeps the state of the stack that is left.
inline void leave_stack(void** own, const Stack& to) {
  __sanitizer_start_switch_fiber(own, to.bottom, to.size);
}
// Call on the new stack. Gives the stack that was left.
inline Stack enter_stack(void* own) {
  Stack left;
  __sanitizer_finish_switch_fiber(own, &left.bottom, &left.size);
  return left;
}

// Jumps of the compiler, as longjmp() opens the whole stack to access. On ARM clang has none.
#define ANCIFY_SWITCHES_STACKS [[gnu::noinline, gnu::no_sanitize_address]]
#define ANCIFY_NOTE_PLACE(place) __builtin_setjmp(reinterpret_cast<void**>(place))
#define ANCIFY_GO_TO(place) __builtin_longjmp(reinterpret_cast<void**>(place), 1)

#else

constexpr bool kClosesMemory = false;
inline void close_to_access(void*, std::size_t) {}
inline void open_to_access(void*, std::size_t) {}
inline void leave_stack(void**, const Stack&) {}
inline Stack enter_stack(void*) { return {}; }

// For functions that switch stacks. NOTE_PLACE gives 0 at first, and 1 when GO_TO leads there.
#define ANCIFY_SWITCHES_STACKS
#define ANCIFY_NOTE_PLACE(place) _setjmp(place)
#define ANCIFY_GO_TO(place) std::longjmp(place, 1)

#endif

}  // namespace ancify::on_host
