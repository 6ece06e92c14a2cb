// Computes the features of a stretch's positions, column by column.
#include "core/ancestry/trained/site_features.h"

#include <algorithm>
#include <array>

#include "core/genome/packed.h"

namespace ancify {

namespace {

using Codes = std::vector<std::uint8_t>;

// The base codes of positions [from, to) of one species.
Codes read_codes(const Stretch& stretch, int species, std::int64_t from, std::int64_t to) {
  Codes codes(static_cast<std::size_t>(to - from));
  const char* bases = stretch.species[species];
  const auto offset = static_cast<std::size_t>(from - stretch.first);
  if (stretch.form == SequenceForm::kPacked) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<std::uint8_t>(packed_code(bases, offset + i));
    }
  } else {
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = base_code(bases[offset + i]);
  }
  return codes;
}

// Counts of the bases of some species at each position.
class Tally {
 public:
  explicit Tally(std::size_t n) {
    for (auto& votes : votes_) votes.resize(n);
  }
  void add(const Codes& codes) {
    for (int base = 0; base < kBases; ++base) {
      auto& votes = votes_[static_cast<std::size_t>(base)];
      for (std::size_t i = 0; i < codes.size(); ++i) {
        votes[i] = static_cast<std::uint16_t>(votes[i] + (codes[i] == base ? 1 : 0));
      }
    }
  }
  int with_data(std::size_t i) const {
    return votes_[0][i] + votes_[1][i] + votes_[2][i] + votes_[3][i];
  }
  int most_votes(std::size_t i) const {
    return std::max(std::max(votes_[0][i], votes_[1][i]), std::max(votes_[2][i], votes_[3][i]));
  }
  // The most frequent base, ties to the first; kMissing without data.
  int consensus(std::size_t i) const {
    const int most = most_votes(i);
    if (most == 0) return kMissing;
    int base = 0;
    while (votes_[static_cast<std::size_t>(base)][i] < most) ++base;
    return base;
  }

 private:
  std::array<std::vector<std::uint16_t>, kBases> votes_;
};

}  // namespace

void SiteFeatures::compute(const Stretch& stretch, float* out) const {
  const std::size_t n = stretch.size();
  const std::int64_t from = std::max<std::int64_t>(stretch.start - kFeatureReach, 0);
  const std::int64_t to = std::min(stretch.end + kFeatureReach, stretch.chromosome_length);
  const auto around = static_cast<std::size_t>(to - from);
  const auto first = static_cast<std::size_t>(stretch.start - from);

  Tally inner(around);
  Tally outer(around);
  Tally all(around);
  for (int s = 0; s < species(); ++s) {
    const Codes codes = read_codes(stretch, s, from, to);
    (s < n_inner_ ? inner : outer).add(codes);
    all.add(codes);
    for (std::size_t i = 0; i < n; ++i) {
      const int code = codes[first + i];
      *out++ = static_cast<float>(code == kMissing ? -1 : code);
    }
  }

  const auto feature = [&](auto value) {
    for (std::size_t i = 0; i < n; ++i) *out++ = static_cast<float>(value(first + i));
  };
  feature([&](std::size_t i) { return all.with_data(i); });
  feature([&](std::size_t i) { return share(all.most_votes(i), all.with_data(i)); });
  feature([&](std::size_t i) { return inner.consensus(i); });
  feature([&](std::size_t i) { return outer.consensus(i); });
  feature([&](std::size_t i) {
    const int base = inner.consensus(i);
    return base != kMissing && base == outer.consensus(i) ? 1 : 0;
  });

  Codes consensus(around);
  std::vector<int> gc_before = {0};
  std::vector<int> data_before = {0};
  for (std::size_t i = 0; i < around; ++i) {
    consensus[i] = static_cast<std::uint8_t>(all.consensus(i));
    gc_before.push_back(gc_before.back() + (is_gc(consensus[i]) ? 1 : 0));
    data_before.push_back(data_before.back() + (consensus[i] == kMissing ? 0 : 1));
  }
  const auto half = static_cast<std::size_t>(gc_reach(stretch.chromosome_length));
  feature([&](std::size_t i) {
    const std::size_t low = i - std::min(i, half);
    const std::size_t high = std::min(i + half + 1, around);
    return share(gc_before[high] - gc_before[low], data_before[high] - data_before[low]);
  });
  // `from` and `to` are chromosome ends or too far away to matter here.
  const auto before = [&](std::size_t i) { return i == 0 ? kMissing : int{consensus[i - 1]}; };
  const auto after = [&](std::size_t i) {
    return i + 1 == around ? kMissing : int{consensus[i + 1]};
  };
  feature([&](std::size_t i) { return is_in_cpg(before(i), consensus[i], after(i)) ? 1 : 0; });
  feature(before);
  feature(after);
}

}  // namespace ancify
