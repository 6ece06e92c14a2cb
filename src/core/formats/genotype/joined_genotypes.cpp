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

template <class Use>
void JoinedGenotypes::for_each_part(std::int64_t first, std::int64_t n, const Use& use) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), first);
  auto at = static_cast<std::size_t>(after - begins_.begin()) - 1;
  for (std::int64_t place = 0; place < n; ++at) {
    const std::int64_t here = std::min(n - place, begins_[at + 1] - first - place);
    use(parts_[at], first + place - begins_[at], here, place);
    place += here;
  }
}

void JoinedGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  for_each_part(first, n,
                [&](const GenotypePart& part, std::int64_t from, std::int64_t here,
                    std::int64_t place) { read_part(part, from, here, calls + place * stride()); });
}

void JoinedGenotypes::will_read(std::int64_t first, std::int64_t n) const {
  for_each_part(first, n,
                [](const GenotypePart& part, std::int64_t from, std::int64_t here,
                   std::int64_t /*place*/) { part.file->will_read(from, here); });
}

void JoinedGenotypes::read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                   int* units) const {
  for_each_part(
      first, n,
      [&](const GenotypePart& part, std::int64_t from, std::int64_t here, std::int64_t place) {
        Dosage* const out = dosages + place * samples_;
        if (part.samples.empty()) {
          part.file->read_dosages(from, here, out, units + place);
          return;
        }
        std::vector<Dosage> of_file(static_cast<std::size_t>(part.file->samples()));
        for (std::int64_t j = 0; j < here; ++j) {
          part.file->read_dosages(from + j, 1, of_file.data(), units + place + j);
          std::transform(part.samples.begin(), part.samples.end(), out + j * samples_,
                         [&](std::int64_t i) { return of_file[static_cast<std::size_t>(i)]; });
        }
      });
}

bool JoinedGenotypes::gives_dosages() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const GenotypePart& part) { return part.file->gives_dosages(); });
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
