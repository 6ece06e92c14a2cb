// Reports faults that the stand-in for CUDA finds.
#pragma once

#include <string>

namespace ancify::on_host {

// Prints the fault on stderr, once, and lets the process end with 1 instead of 0.
void problem(const std::string& what);

}  // namespace ancify::on_host
