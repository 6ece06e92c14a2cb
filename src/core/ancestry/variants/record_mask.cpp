// Finds whether positions lie in masked regions.
#include "core/ancestry/variants/record_mask.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/genome/lengths.h"

namespace ancify {

RecordMask::RecordMask(const std::string& path, const TaskContext& context) : path_(path) {
  if (path.empty()) return;
  const auto read = read_bed(path, context);
  all_ = read;
  // A file may have a chromosome by several names, as after joining files.
  for (auto& [name, regions] : all_) {
    for (const std::string& other : other_spellings(name)) {
      const auto found = read.find(other);
      if (found != read.end()) add_regions(found->second, regions);
    }
  }
}

void RecordMask::require_any(const std::vector<std::string>& chromosomes,
                             const std::string& of) const {
  const auto has = [&](const std::string& name) { return regions(name) != nullptr; };
  if (path_.empty() || std::any_of(chromosomes.begin(), chromosomes.end(), has)) return;
  throw InputError("'" + path_ + "' has no region on a chromosome of '" + of +
                   "', with or without a leading chr");
}

const std::vector<Region>* RecordMask::regions(const std::string& chromosome) const {
  const auto found = find_chromosome(all_, chromosome);
  return found == all_.end() ? nullptr : &found->second;
}

void RecordMask::begin_chromosome(const std::string& chromosome) {
  current_ = regions(chromosome);
  next_ = 0;
}

bool RecordMask::covers_any(std::int64_t position, std::int64_t n) {
  if (current_ == nullptr) return false;
  while (next_ < current_->size() && (*current_)[next_].end <= position) ++next_;
  return next_ < current_->size() && (*current_)[next_].start < position + n;
}

}  // namespace ancify
