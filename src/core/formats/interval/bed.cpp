// Reads BED, and joins regions that overlap or touch.
#include "core/formats/interval/bed.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Joins regions that overlap or touch.
void join(std::vector<Region>& regions) {
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.start < b.start; });
  std::size_t kept = 0;
  for (const Region& region : regions) {
    if (kept > 0 && region.start <= regions[kept - 1].end) {
      regions[kept - 1].end = std::max(regions[kept - 1].end, region.end);
    } else {
      regions[kept++] = region;
    }
  }
  regions.resize(kept);
}

// Collects the regions of a chromosome. It joins them whenever their number has doubled, so that
// repeated regions take no memory.
class RegionsOfChromosome {
 public:
  void add(const Region& region) {
    regions_.push_back(region);
    if (regions_.size() < most_) return;
    join(regions_);
    most_ = std::max(most_, 2 * regions_.size());
  }
  std::vector<Region> take() {
    join(regions_);
    return std::move(regions_);
  }

 private:
  std::vector<Region> regions_;
  std::size_t most_ = 1 << 12;
};

}  // namespace

void add_regions(const std::vector<Region>& more, std::vector<Region>& regions) {
  regions.insert(regions.end(), more.begin(), more.end());
  join(regions);
}

std::unordered_map<std::string, std::vector<Region>> read_bed(const std::string& path,
                                                              const TaskContext& context) {
  std::unordered_map<std::string, RegionsOfChromosome> found;
  for_each_line(path, context, [&](std::string_view line, std::int64_t number) {
    const std::string_view whole = line;
    const std::string_view name = next_field(line);
    if (name.empty() || name.front() == '#' || name == "track" || name == "browser") return;
    const auto start = parse_whole_number(next_field(line));
    const auto end = parse_whole_number(next_field(line));
    if (!start || !end || *end < *start || name.size() > kLongestName) {
      throw FormatError(path, number, "not a BED line (chromosome, start, end): " + excerpt(whole));
    }
    found[std::string(name)].add({*start, *end});
  });
  std::unordered_map<std::string, std::vector<Region>> regions;
  for (auto& [name, of_chromosome] : found) regions.emplace(name, of_chromosome.take());
  return regions;
}

}  // namespace ancify
