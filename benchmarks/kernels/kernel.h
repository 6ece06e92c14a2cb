// A kernel: a piece of the core's work on a small input, the same each time. Each file of this
// folder that defines make_kernel() is one, and main.cpp makes it a program.
#pragma once

#include <functional>
#include <string>

namespace ancify::bench {

// Makes the input, and returns the work; no function where the build lacks what it needs. `folder`
// is empty, and takes files.
std::function<void()> make_kernel(const std::string& folder);

}  // namespace ancify::bench
