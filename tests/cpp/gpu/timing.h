// How fast the kernels are.
#pragma once

namespace ancify::test {

// Prints each operation's time on device 0 beside that of a copy which moves as many bytes.
void print_times();

}  // namespace ancify::test
