// Scans the rows of 200 blocks of 5,000 columns, copies their columns without gaps, and packs them.
#include <memory>
#include <random>
#include <vector>

#include "core/formats/alignment/row_scan.h"
#include "inputs.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string&) {
  struct Case {
    std::vector<std::string> rows;
    std::string copied = std::string(5000, '\0');
    std::string packed = std::string(packed_size(5000), '\0');
  };
  const auto one = std::make_shared<Case>();
  std::mt19937 random(5);
  for (int row = 0; row < 400; ++row) {
    std::string bases;
    for (int column = 0; column < 5000; ++column) {
      const auto drawn = random() >> 8;
      bases += drawn % 50 == 0 ? '-' : "ACGTacgt"[drawn / 50 % 8];
    }
    one->rows.push_back(std::move(bases));
  }
  return [one, level = kernel_level()] {
    for (std::size_t row = 0; row + 1 < one->rows.size(); row += 2) {
      scan_row(one->rows[row], level);
      scan_row(one->rows[row + 1], level);
      const std::size_t n =
          copy_columns(one->rows[row], one->rows[row + 1].data(), &one->copied[0], level);
      pack_bases(one->copied.data(), n, 0, &one->packed[0], level);
    }
  };
}

}  // namespace ancify::bench
