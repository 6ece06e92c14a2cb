// Reads PLINK 1 BED: three bytes, then each variant's codes.
#include "core/formats/genotype/bed_genotypes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/call_codes.h"
#include "core/io/read_ahead.h"

namespace ancify {

namespace {

constexpr std::int64_t kHeader = kBedHeader.size();
// Bytes read and converted at a time, few enough to stay in a core's cache.
constexpr std::int64_t kPiece = 1 << 18;

}  // namespace

BedGenotypes::BedGenotypes(InputFile file, std::int64_t samples, std::int64_t variants)
    : file_(std::move(file)), samples_(samples), variants_(variants) {
  const std::int64_t right = kHeader + variants_ * stride();
  if (file_.size() == right) return;
  throw FormatError(file_.path(), 0,
                    std::string("the file is too ") + (file_.size() < right ? "short" : "long") +
                        ": " + std::to_string(samples_) + " samples and " +
                        std::to_string(variants_) + " variants make " + std::to_string(right) +
                        " bytes, but it has " + std::to_string(file_.size()) +
                        ". Are the files beside it its own?");
}

void BedGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  const std::int64_t at_once = std::max<std::int64_t>(1, kPiece / stride());
  for (std::int64_t from = 0; from < n; from += at_once) {
    std::uint8_t* const piece = calls + from * stride();
    const std::int64_t variants = std::min(at_once, n - from);
    const auto bytes = static_cast<std::size_t>(variants * stride());
    file_.read_at(reinterpret_cast<char*>(piece), bytes, kHeader + (first + from) * stride());
    convert_codes(piece, bytes, bed_as_calls);
    for (std::int64_t i = 0; i < variants; ++i) clear_padding(piece + i * stride(), samples_);
  }
}

void BedGenotypes::will_read(std::int64_t first, std::int64_t n) const {
  read_ahead(file_, n * stride(), kHeader + first * stride());
}

}  // namespace ancify
