// A file's calls, each with its heterozygosity, for codes that are not linear in copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// Bytes of calls: 1 for a heterozygote, 0 for a homozygote, missing as before.
inline std::uint8_t heterozygotes_of(std::uint8_t calls) {
  const unsigned low = calls & 0x55U;
  return static_cast<std::uint8_t>(low | ((calls >> 1U & low) << 1U));
}

// Each variant of a file twice: 2j has its calls, and 2j + 1 its heterozygosity. Dosages are
// read as calls.
class HeterozygoteCalls final : public GenotypeFile {
 public:
  explicit HeterozygoteCalls(std::unique_ptr<GenotypeFile> file) : file_(std::move(file)) {}
  const std::string& path() const override { return file_->path(); }
  std::int64_t samples() const override { return file_->samples(); }
  std::int64_t variants() const override { return 2 * file_->variants(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override {
    if (n == 0) return;
    const std::int64_t begin = first / 2;
    const std::int64_t end = (first + n - 1) / 2 + 1;
    std::vector<std::uint8_t> own(static_cast<std::size_t>((end - begin) * stride()));
    file_->read(begin, end - begin, own.data());
    for (std::int64_t j = first; j < first + n; ++j, calls += stride()) {
      const std::uint8_t* const of = own.data() + (j / 2 - begin) * stride();
      if (j % 2 == 0) {
        std::copy_n(of, stride(), calls);
      } else {
        std::transform(of, of + stride(), calls, heterozygotes_of);
      }
    }
  }
  void check_unchanged() const override { file_->check_unchanged(); }

 private:
  std::unique_ptr<GenotypeFile> file_;
};

}  // namespace ancify
