// Tests memory of every size.
#include "core/io/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ancify {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;

TEST(Memory, IsZeroAndWritable) {
  std::vector<Memory> pieces;
  for (const std::size_t size : {std::size_t{1}, std::size_t{200'000}, kHugePage - 1, kHugePage,
                                 kHugePage + 1, 3 * kHugePage + 5000}) {
    Memory memory(size);
    EXPECT_EQ(std::count(memory.data(), memory.data() + size, '\0'),
              static_cast<std::ptrdiff_t>(size));
    std::fill_n(memory.data(), size, 'x');
    pieces.push_back(std::move(memory));
    EXPECT_EQ(pieces.back().data()[size - 1], 'x');
  }
  pieces[0] = std::move(pieces[4]);  // a mapped piece in place of a small one
  EXPECT_EQ(pieces[0].data()[kHugePage], 'x');
}

TEST(Memory, BeginsWhereHugePagesDo) {
  for (int i = 0; i < 5; ++i) {
    const Memory memory(kHugePage + static_cast<std::size_t>(i));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % kHugePage, 0U);
  }
}

TEST(Memory, OfNothingIsNull) {
  EXPECT_EQ(Memory().data(), nullptr);
  EXPECT_EQ(Memory(0).data(), nullptr);
}

}  // namespace
}  // namespace ancify
