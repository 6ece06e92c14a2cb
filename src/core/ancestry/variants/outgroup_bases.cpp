// Looks the outgroups' bases up at records.
#include "core/ancestry/variants/outgroup_bases.h"

#include <utility>
#include <vector>

#include "core/ancestry/patterns/neighbours.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/genome/bases.h"
#include "core/genome/sequence_file.h"

namespace ancify {

OutgroupBases::OutgroupBases(const OutgroupFiles& files, VariantReader& reader)
    : files_(files), reader_(reader) {}

void OutgroupBases::begin_chromosome(const std::string& name) {
  outgroups_.clear();
  const auto files = files_.find(name);
  if (files == files_.end()) return;
  for (const auto& [chromosome, path] : files->second) {
    const std::int64_t length = SequenceReader(path, chromosome).length();
    auto source = file_source(path, chromosome, length);
    SequenceWindow bases(*source, length);
    outgroups_.push_back({path, std::move(source), std::move(bases)});
  }
}

std::optional<std::int64_t> OutgroupBases::pattern() {
  const std::int64_t position = reader_.position() - 1;
  if (position < 0 || outgroups_.empty()) return {};
  std::int64_t number = 0;
  bool has_base = false;
  for (std::size_t i = outgroups_.size(); i-- > 0;) {
    auto& [path, source, bases] = outgroups_[i];
    if (position >= bases.length()) {
      reader_.fail("position " + std::to_string(position + 1) + " of '" +
                   std::string(reader_.chromosome()) + "' is beyond the end of '" + path +
                   "', which has " + std::to_string(bases.length()) + " bases");
    }
    const int base = base_code(bases.at(position));
    has_base = has_base || base != kMissing;
    number = number * kStates + base;
  }
  if (!has_base) return {};
  return number;
}

int OutgroupBases::neighbours() {
  const auto state_at = [&](std::size_t species, std::int64_t position) {
    auto& bases = outgroups_[species].bases;
    const bool is_inside = position >= 0 && position < bases.length();
    return is_inside ? base_code(bases.at(position)) : kMissing;
  };
  return neighbour_class_at(outgroups_.size(), reader_.position() - 1, state_at);
}

}  // namespace ancify
