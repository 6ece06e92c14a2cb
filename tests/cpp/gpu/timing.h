// Prints the speed of the kernels.
#pragma once

namespace ancify::test {

// Prints each operation's time on device 0, and the time of a copy that moves as many bytes.
void print_times();

}  // namespace ancify::test
