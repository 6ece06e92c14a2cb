// Multiplies the kernel of dosages of 1,000 samples and 2,048 variants with sixteen columns.
#include "dosages.h"
#include "kernel.h"
#include "level.h"
#include "reml_case.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  constexpr int columns = 16;
  auto one = std::make_shared<RemlCase>(columns, [](JobControl& control) {
    return random_dosages(1000, 2048, {1, kernel_level(), 0}, control);
  });
  return [one] { one->times(columns); };
}

}  // namespace ancify::bench
