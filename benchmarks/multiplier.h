// The library that multiplies matrices, for the output of benchmarks.
#pragma once

namespace ancify::bench {

#ifdef ANCIFY_HAVE_EIGEN
constexpr const char* kMultiplier = "Eigen";
#else
constexpr const char* kMultiplier = "a plain loop";
#endif

}  // namespace ancify::bench
