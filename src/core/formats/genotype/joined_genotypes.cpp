// Reads variants across the files of a set, and brings their samples into one order.
#include "core/formats/genotype/joined_genotypes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/selected_calls.h"

namespace ancify {

namespace {

// Bytes of calls, in the order of a file, that wait to be rearranged.
constexpr std::int64_t kBytesAtOnce = 1 << 20;

std::int64_t samples_of(const GenotypePart& part) {
  return part.samples.empty() ? part.file->samples()
                              : static_cast<std::int64_t>(part.samples.size());
}

}  // namespace

JoinedGenotypes::JoinedGenotypes(std::vector<GenotypePart> parts)
    : parts_(std::move(parts)), begins_({0}) {
  if (parts_.empty()) throw InputError("a set of genotypes must have at least one file");
  samples_ = samples_of(parts_.front());
  for (const GenotypePart& part : parts_) {
    const auto is_beyond = [&](std::int64_t i) { return i < 0 || i >= part.file->samples(); };
    if (samples_of(part) != samples_ ||
        std::any_of(part.samples.begin(), part.samples.end(), is_beyond)) {
      throw InputError("the files of a set of genotypes do not have the same samples");
    }
    begins_.push_back(begins_.back() + part.file->variants());
  }
}

void JoinedGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), first);
  auto at = static_cast<std::size_t>(after - begins_.begin()) - 1;
  for (; n > 0; ++at) {
    const std::int64_t here = std::min(n, begins_[at + 1] - first);
    read_part(parts_[at], first - begins_[at], here, calls);
    calls += here * stride();
    first += here;
    n -= here;
  }
}

void JoinedGenotypes::read_part(const GenotypePart& part, std::int64_t first, std::int64_t n,
                                std::uint8_t* calls) const {
  if (part.samples.empty()) {
    part.file->read(first, n, calls);
    return;
  }
  const std::int64_t width = part.file->stride();
  const std::int64_t at_once = std::clamp<std::int64_t>(kBytesAtOnce / width, 1, n);
  std::vector<std::uint8_t> of_file(static_cast<std::size_t>(at_once * width));
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % at_once == 0) part.file->read(first + i, std::min(at_once, n - i), of_file.data());
    pick_samples(of_file.data() + i % at_once * width, part.samples, calls + i * stride());
  }
}

std::int64_t JoinedGenotypes::with_dosages() const {
  std::int64_t all = 0;
  for (const GenotypePart& part : parts_) all += part.file->with_dosages();
  return all;
}

void JoinedGenotypes::check_unchanged() const {
  for (const GenotypePart& part : parts_) part.file->check_unchanged();
}

}  // namespace ancify
