// Multiplies the kernel of 2,000 samples and 4,096 variants with one column, and with sixteen.
#include "genotypes.h"
#include "kernel.h"
#include "level.h"
#include "reml_case.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr int columns = 16;
  auto one = std::make_shared<RemlCase>(columns, [](JobControl& control) {
    return random_matrix(2000, 4096, {1, kernel_level(), 0}, control);
  });
  return [one] {
    one->times(1);
    one->times(columns);
  };
}

}  // namespace ancify::bench
