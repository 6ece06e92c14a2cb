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

  auto& [offsets, bases, before] = stores_[chromosome];
  // The pair before has left what it had at its end.
  const auto end = before.find(position);
  std::string inserted(1, kUnconnected);
  if (pair.continues && end != before.end() && end->second.back() == kUnconnected) {
    inserted = end->second.substr(0, end->second.size() - 1);
  }
  before.erase(before.lower_bound(position), before.upper_bound(pair.end));
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    if (pair.target[i] == '-') {
      if (pair.query[i] != '-') inserted += pair.query[i];
      continue;
    }
    while (next < regions.size() && regions[next].end <= position) ++next;
    if (next < regions.size() && regions[next].start <= position) {
      bases[offsets[next] + static_cast<std::size_t>(position - regions[next].start)] =
          pair.query[i];
      if (!inserted.empty()) before[position] = inserted;
    }
    inserted.clear();
    ++position;
  }
  const std::size_t last = region_after(chromosome, position);
  if (last < regions.size() && regions[last].start <= position) {
    before[position] = inserted + kUnconnected;
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
