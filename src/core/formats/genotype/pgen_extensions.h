// The extensions in the header of a PGEN file, which are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ancify {

struct PgenExtensions {
  std::int64_t size = 0;               // bytes in the header
  std::optional<std::int64_t> footer;  // the offset of the footer, which follows the records
};

// The most bytes that precede the contents of extensions: two sets of 256 flags, the offset of the
// footer, and 256 lengths.
constexpr std::int64_t kMostPgenExtensionBytes = 2 * 37 + 8 + 256 * 9;

// Reads what precedes the contents of extensions. Returns none if it is damaged.
std::optional<PgenExtensions> read_pgen_extensions(const std::vector<std::uint8_t>& header);

}  // namespace ancify
