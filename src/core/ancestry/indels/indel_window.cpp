// Trims alleles to their differing part, and extends this stretch by all equivalent placements.
#include "core/ancestry/indels/indel_window.h"

#include <algorithm>
#include <cstddef>

#include "core/genome/bases.h"

namespace ancify {

namespace {

char upper(char c) { return upper_base(base_code(c)); }

std::string in_upper_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), upper);
  return result;
}

// A change of the genome: the bases start, ..., end - 1 become `bases`.
struct Change {
  std::int64_t start;
  std::int64_t end;
  std::string bases;
};

// Trims the bases that both alleles begin or end with.
Change change_of(const std::string& ref, const std::string& alt, std::int64_t position) {
  const std::size_t shorter = std::min(ref.size(), alt.size());
  std::size_t after = 0;
  while (after < shorter && ref[ref.size() - 1 - after] == alt[alt.size() - 1 - after]) ++after;
  std::size_t before = 0;
  while (before < shorter - after && ref[before] == alt[before]) ++before;
  return {position + static_cast<std::int64_t>(before),
          position + static_cast<std::int64_t>(ref.size() - after),
          alt.substr(before, alt.size() - after - before)};
}

// Widens `window` by all placements of a change. An insertion or deletion of `unit` can move by a
// base as long as the genome beside it repeats the unit.
void extend(const Change& change, const std::string& genome, IndelWindow& window) {
  std::int64_t start = change.start;
  std::int64_t end = change.end;
  const bool is_insertion = start == end;
  if (is_insertion != change.bases.empty()) {
    const std::string unit =
        is_insertion ? change.bases
                     : in_upper_case(std::string_view(genome).substr(
                           static_cast<std::size_t>(start), static_cast<std::size_t>(end - start)));
    const auto size = static_cast<std::int64_t>(unit.size());
    const auto base = [&](std::int64_t at) { return upper(genome[static_cast<std::size_t>(at)]); };
    const auto of_unit = [&](std::int64_t i) { return unit[static_cast<std::size_t>(i % size)]; };
    const auto length = static_cast<std::int64_t>(genome.size());
    while (end < length && base(end) == of_unit(end - change.end)) ++end;
    while (start > 0 && base(start - 1) == of_unit(size - 1 - (change.start - start) % size)) {
      --start;
    }
  }
  window.start = std::min(window.start, start);
  window.end = std::max(window.end, end);
}

}  // namespace

IndelWindow window_of(const std::vector<std::string_view>& alleles, std::int64_t position,
                      const std::string& genome) {
  IndelWindow window;
  const auto length = static_cast<std::int64_t>(genome.size());
  const std::string ref = in_upper_case(alleles.front());
  const auto at = [&](std::int64_t from, std::int64_t to) {
    return in_upper_case(std::string_view(genome).substr(static_cast<std::size_t>(from),
                                                         static_cast<std::size_t>(to - from)));
  };
  const std::int64_t ref_end = position + static_cast<std::int64_t>(ref.size());
  if (position < 0 || ref_end > length || at(position, ref_end) != ref) return window;
  std::vector<Change> changes;
  window.start = length;
  for (std::size_t i = 1; i < alleles.size(); ++i) {
    changes.push_back(change_of(ref, in_upper_case(alleles[i]), position));
    extend(changes.back(), genome, window);
  }
  if (window.start < 1 || window.end >= length || window.start > window.end) return window;
  window.alleles.push_back(at(window.start, window.end));
  for (const auto& change : changes) {
    window.alleles.push_back(at(window.start, change.start) + change.bases +
                             at(change.end, window.end));
  }
  window.is_valid = true;
  return window;
}

int allele_like(const IndelWindow& window, std::string_view sequence) {
  int best = kOtherAllele;
  std::size_t fewest = sequence.size() / 2 + 1;
  for (std::size_t i = 0; i < window.alleles.size(); ++i) {
    const std::string& allele = window.alleles[i];
    if (allele.size() != sequence.size()) continue;
    std::size_t differ = 0;
    for (std::size_t k = 0; k < allele.size(); ++k) {
      differ += static_cast<std::size_t>(allele[k] != upper(sequence[k]));
    }
    if (differ > fewest) continue;
    best = differ < fewest ? static_cast<int>(i) : kOtherAllele;
    fewest = differ;
  }
  return best;
}

}  // namespace ancify
