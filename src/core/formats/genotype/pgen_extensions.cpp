// Reads flags and lengths of extensions.
// Source: PLINK 2 File Format Specification Draft, section on header/footer extensions.
#include "core/formats/genotype/pgen_extensions.h"

#include <bitset>
#include <cstddef>

#include "core/io/little_endian.h"

namespace ancify {

namespace {

// Numbers of 7 bits a byte, lowest first; the last byte is below 128.
class Varints {
 public:
  explicit Varints(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  std::size_t place() const { return place_; }

  // The number of flags that are set among up to 256.
  std::int64_t count_flags() {
    std::size_t n = 0;
    for_each_group(37,
                   [&](std::uint64_t group, std::size_t) { n += std::bitset<7>(group).count(); });
    return static_cast<std::int64_t>(n);
  }
  std::int64_t number() {
    std::uint64_t value = 0;
    for_each_group(9, [&](std::uint64_t group, std::size_t i) { value |= group << 7 * i; });
    return static_cast<std::int64_t>(value);
  }
  std::int64_t offset() {
    constexpr std::size_t n = 8;
    good_ = good_ && bytes_.size() - place_ >= n;
    if (!good_) return 0;
    place_ += n;
    return little_endian(&bytes_[place_ - n], n);
  }

 private:
  template <class Use>
  void for_each_group(std::size_t most, const Use& use) {
    for (std::size_t i = 0; good_ && i < most; ++i) {
      good_ = place_ < bytes_.size();
      if (!good_) return;
      const std::uint8_t byte = bytes_[place_++];
      use(byte & 0x7fU, i);
      if (byte < 0x80) return;
    }
    good_ = false;
  }

  const std::vector<std::uint8_t>& bytes_;
  std::size_t place_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<PgenExtensions> read_pgen_extensions(const std::vector<std::uint8_t>& header) {
  Varints varints(header);
  const std::int64_t in_header = varints.count_flags();
  const std::int64_t in_footer = varints.count_flags();
  PgenExtensions extensions;
  if (in_footer > 0) extensions.footer = varints.offset();
  std::int64_t contents = 0;
  // A file is shorter than 2^40 bytes.
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (std::int64_t i = 0; i < in_header && varints.good(); ++i) {
    const std::int64_t size = varints.number();
    if (size > most) return std::nullopt;
    contents += size;
  }
  if (!varints.good()) return std::nullopt;
  extensions.size = static_cast<std::int64_t>(varints.place()) + contents;
  return extensions;
}

}  // namespace ancify
