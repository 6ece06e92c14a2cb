// Reads and inflates the blocks of a BGEN file.
#include "core/formats/genotype/bgen_genotypes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/bgen_block.h"
#include "core/io/inflate.h"
#include "core/io/little_endian.h"
#include "core/io/read_ahead.h"
#include "core/io/zstd_source.h"

namespace ancify {

namespace {

// Bytes of blocks to read at a time, unless a single block is larger.
constexpr std::int64_t kBlocksAtOnce = 1 << 18;
constexpr std::size_t kLengthBytes = 4;

std::size_t length_at(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) throw InputError("has a block that ends too soon");
  return static_cast<std::size_t>(
      little_endian(reinterpret_cast<const std::uint8_t*>(bytes.data()), kLengthBytes));
}

// Inflates one block after the other into the same memory.
class BlockInflater {
 public:
  BlockInflater(BgenCompression compression, std::int64_t samples)
      : compression_(compression), most_(static_cast<std::size_t>(largest_bgen_block(samples))) {}

  // `bytes` begin with the block's length, and may have more after the block.
  std::string_view inflate(std::string_view bytes) {
    const std::size_t length = length_at(bytes);
    bytes.remove_prefix(kLengthBytes);
    if (length > bytes.size()) throw InputError("has a block that reaches into the next variant");
    const std::string_view block = bytes.substr(0, length);
    if (compression_ == BgenCompression::kNone) return block;
    const std::size_t size = length_at(block);
    if (size > most_) {
      throw InputError("has " + std::to_string(size) +
                       " bytes of probabilities, too many for samples of one or two copies");
    }
    inflated_.resize(size);
    inflate_into(block.substr(kLengthBytes));
    return inflated_;
  }

 private:
  void inflate_into(std::string_view compressed) {
    try {
      if (compression_ == BgenCompression::kZlib) {
        inflate_zlib(compressed, inflated_.data(), inflated_.size());
      } else {
        if (!zstd_) zstd_.emplace();
        zstd_->inflate(compressed, inflated_.data(), inflated_.size());
      }
    } catch (const InputError& error) {
      throw InputError(std::string("has probabilities that cannot be inflated: ") + error.what());
    }
  }

  BgenCompression compression_;
  std::size_t most_;
  std::optional<ZstdInflater> zstd_;
  std::string inflated_;
};

}  // namespace

BgenGenotypes::BgenGenotypes(InputFile file, std::int64_t samples, std::vector<std::int64_t> begins,
                             const BgenRule& rule)
    : file_(std::move(file)),
      header_(read_bgen_header(file_)),
      begins_(std::move(begins)),
      rule_(rule) {
  const bool fits = samples == header_.samples &&
                    static_cast<std::int64_t>(begins_.size()) == header_.variants + 1 &&
                    begins_.front() >= header_.variants_begin &&
                    std::is_sorted(begins_.begin(), begins_.end()) &&
                    begins_.back() == file_.size();
  if (!fits) {
    throw FormatError(file_.path(), 0, "it has other samples or variants than when it was opened");
  }
}

void BgenGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  for_each_block(first, n, [&](std::int64_t i, std::string_view block) {
    call_bgen_block(block, samples(), rule_.hard_call_threshold, calls + i * stride());
  });
}

void BgenGenotypes::read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                 int* units) const {
  for_each_block(first, n, [&](std::int64_t i, std::string_view block) {
    units[i] = dose_bgen_block(block, samples(), dosages + i * samples());
  });
}

void BgenGenotypes::for_each_block(std::int64_t first, std::int64_t n, const UseBlock& use) const {
  BlockInflater inflater(header_.compression, header_.samples);
  std::string bytes;
  const auto* const begin = begins_.data() + first;
  std::int64_t next = 0;
  for (std::int64_t from = 0; from < n; from = next) {
    next = from + 1;
    while (next < n && begin[next + 1] - begin[from] <= kBlocksAtOnce) ++next;
    bytes.resize(static_cast<std::size_t>(begin[next] - begin[from]));
    file_.read_at(bytes.data(), bytes.size(), begin[from]);
    for (std::int64_t i = from; i < next; ++i) {
      const std::string_view own =
          std::string_view(bytes).substr(static_cast<std::size_t>(begin[i] - begin[from]),
                                         static_cast<std::size_t>(begin[i + 1] - begin[i]));
      try {
        use(i, inflater.inflate(own));
      } catch (const InputError& error) {
        throw FormatError(file_.path(), 0,
                          "variant " + std::to_string(first + i + 1) + " " + error.what());
      }
    }
  }
}

void BgenGenotypes::will_read(std::int64_t first, std::int64_t n) const {
  const auto* const begin = &begins_[static_cast<std::size_t>(first)];
  read_ahead(file_, begin[n] - begin[0], begin[0]);
}

}  // namespace ancify
