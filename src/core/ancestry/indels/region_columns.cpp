// Keeps the columns of pairs of rows that lie in regions.
#include "core/ancestry/indels/region_columns.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/genome/bases.h"

namespace ancify {

namespace {

constexpr char kUnknown = 'N';
constexpr char kUnconnected = '?';

bool has_unknown(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return c != '-' && base_code(c) == kMissing; });
}

}  // namespace

RegionColumns::RegionColumns(const std::string& file, const std::vector<Chromosome>& chromosomes,
                             const Regions& regions, FocalCheck* check,
                             const ProjectionOptions& options)
    : PairChecker(file, chromosomes, check, options),
      regions_(regions),
      overlaps_(options.overlaps),
      placed_(chromosomes.size()),
      stores_(chromosomes.size()) {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    std::size_t n = 0;
    for (const auto& region : regions_[i]) {
      stores_[i].offsets.push_back(n);
      n += static_cast<std::size_t>(region.end - region.start);
    }
    stores_[i].bases.assign(n, kUnknown);
  }
}

std::size_t RegionColumns::region_after(std::size_t chromosome, std::int64_t position) const {
  const auto& regions = regions_[chromosome];
  const auto found =
      std::upper_bound(regions.begin(), regions.end(), position,
                       [](std::int64_t value, const Region& region) { return value < region.end; });
  return static_cast<std::size_t>(found - regions.begin());
}

void RegionColumns::write(const AlignedPair& pair, std::size_t chromosome) {
  const auto& regions = regions_[chromosome];
  std::int64_t position = pair.start - 1;
  std::size_t next = region_after(chromosome, position);
  if (next == regions.size() || regions[next].start >= pair.end) return;

  auto& store = stores_[chromosome];
  auto& before = store.before;
  // The preceding pair has left the inserted bases at its end.
  const auto end = before.find(position);
  std::string inserted(1, kUnconnected);
  if (pair.continues && won_end_ && end != before.end() && end->second.back() == kUnconnected) {
    inserted = end->second.substr(0, end->second.size() - 1);
  }
  const auto& pieces = placed_.place(chromosome, position, pair.end, score_in(overlaps_, pair));
  auto piece = pieces.begin();
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    if (pair.target[i] == '-') {
      if (pair.query[i] != '-') inserted += pair.query[i];
      continue;
    }
    if (position == piece->end) ++piece;
    const bool loses = piece->standing == Standing::kLoses;
    while (next < regions.size() && regions[next].end <= position) ++next;
    if (!loses && next < regions.size() && regions[next].start <= position) {
      const auto at =
          store.offsets[next] + static_cast<std::size_t>(position - regions[next].start);
      take(store, at, position, pair.query[i], inserted, piece->standing);
    }
    // If this pair loses a position, another pair has the base before its next.
    inserted.assign(loses ? 1 : 0, kUnconnected);
    ++position;
  }
  won_end_ = piece->standing != Standing::kLoses;
  const std::size_t last = region_after(chromosome, position);
  if (won_end_ && last < regions.size() && regions[last].start <= position) {
    before[position] = inserted + kUnconnected;
  }
}

void RegionColumns::take(Store& store, std::size_t at, std::int64_t position, char base,
                         const std::string& inserted, Standing standing) {
  char& kept = store.bases[at];
  if (standing == Standing::kTies && overlaps_ != Overlaps::kLast) {
    const auto found = store.before.find(position);
    const std::string known = found == store.before.end() ? std::string() : found->second;
    kept = agreed_letter(kept, base);
    if (known != inserted) store.before[position] = kUnconnected;
    return;
  }
  kept = base;
  if (inserted.empty()) {
    store.before.erase(position);
  } else {
    store.before[position] = inserted;
  }
}

Columns RegionColumns::at(std::size_t chromosome, std::int64_t start, std::int64_t end) const {
  const auto& regions = regions_[chromosome];
  const std::size_t number = region_after(chromosome, start);
  if (number == regions.size() || start < regions[number].start || end > regions[number].end) {
    throw InputError("the variants were changed while they were read: start again");
  }
  const auto& [offsets, bases, before] = stores_[chromosome];
  const std::size_t offset =
      offsets[number] + static_cast<std::size_t>(start - regions[number].start);
  const std::string_view row =
      std::string_view(bases).substr(offset, static_cast<std::size_t>(end - start));
  Columns columns;
  auto inserted = before.upper_bound(start);
  for (std::int64_t position = start + 1; position < end; ++position) {
    if (inserted != before.end() && inserted->first == position) {
      columns.between += inserted->second;
      ++inserted;
    }
    const char base = row[static_cast<std::size_t>(position - start)];
    if (position + 1 < end && base != '-') columns.between += base;
  }
  columns.is_known = !has_unknown(row) && !has_unknown(columns.between);
  columns.neighbours = row.front() != '-' && row.back() != '-';
  return columns;
}

}  // namespace ancify
