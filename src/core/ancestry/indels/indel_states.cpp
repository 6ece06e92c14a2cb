// Compares outgroups with the alleles of records.
#include "core/ancestry/indels/indel_states.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/ancestry/projection/alignment_formats.h"
#include "core/ancestry/variants/record_bases.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/exec/threads.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/record_reader.h"

namespace ancify {

namespace {

std::vector<std::string_view> alleles_of(const VariantReader& reader) {
  std::vector<std::string_view> alleles;
  alleles.reserve(static_cast<std::size_t>(reader.alleles()));
  for (int i = 0; i < reader.alleles(); ++i) alleles.push_back(reader.allele(i));
  return alleles;
}

// Sorts regions, and merges overlapping or adjacent ones.
void join(std::vector<Region>& regions) {
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.start < b.start; });
  std::vector<Region> joined;
  for (const auto& region : regions) {
    if (joined.empty() || joined.back().end < region.start) {
      joined.push_back(region);
    } else {
      joined.back().end = std::max(joined.back().end, region.end);
    }
  }
  regions = std::move(joined);
}

// The indices of the outgroups in each file.
std::vector<std::vector<std::size_t>> by_file(const std::vector<IndelAlignment>& outgroups) {
  std::vector<std::vector<std::size_t>> files;
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < outgroups.size(); ++i) {
    const auto [at, is_new] = index.emplace(outgroups[i].file, files.size());
    if (is_new) files.emplace_back();
    files[at->second].push_back(i);
  }
  return files;
}

// A call with the states as bases, the first of which is states[first].
AlleleState call_from(const Method& method, const std::vector<int>& alleles,
                      const std::vector<int>& states, std::size_t first) {
  const std::size_t n = states.size();
  std::vector<int> bases;
  for (const int allele : alleles) {
    const auto found = std::find(states.begin(), states.end(), allele);
    const auto state = static_cast<std::size_t>(found - states.begin());
    bases.push_back(state == n ? kMissing : static_cast<int>((state + n - first) % n));
  }
  const char call = method.call(bases.data()).call;
  if (call == 'N') return {AlleleCall::kMissing};
  const std::uint8_t base = base_code(call);
  // A method may choose a base that no outgroup has.
  if (base >= n) return {AlleleCall::kUnresolved};
  const int allele = states[(base + first) % n];
  if (allele == kOtherAllele) return {AlleleCall::kOther};
  return {call >= 'a' ? AlleleCall::kLow : AlleleCall::kHigh, allele};
}

}  // namespace

AlleleState call_allele(const Method& method, const std::vector<int>& alleles) {
  std::vector<int> states;
  for (const int allele : alleles) {
    const bool is_new = std::find(states.begin(), states.end(), allele) == states.end();
    if (allele != kUnknownAllele && is_new) states.push_back(allele);
  }
  if (states.empty()) return {AlleleCall::kMissing};
  if (states.size() > kBases) return {AlleleCall::kUnresolved};
  const AlleleState state = call_from(method, alleles, states, 0);
  for (std::size_t first = 1; first < states.size(); ++first) {
    const AlleleState other = call_from(method, alleles, states, first);
    if (other.call != state.call || other.allele != state.allele) return {AlleleCall::kUnresolved};
  }
  return state;
}

IndelStates::IndelStates(const IndelOptions& options, const Method& method, JobControl& control)
    : options_(options),
      method_(method),
      names_(options.chromosomes, options.projection.aliases),
      regions_(options.chromosomes.size()) {
  find_regions(control);
  read_alignments(control);
}

void IndelStates::find_regions(JobControl& control) {
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    RecordBases reference(options_.reference, options_.variant_chromosomes, "reference", context);
    VariantReader reader(options_.variants);
    std::string name;
    std::optional<std::size_t> chromosome;
    for_each_record(reader, control, [&] {
      if (reader.chromosome() != name) {
        name = reader.chromosome();
        reference.begin_chromosome(reader, context);
        chromosome = names_.find(name);
      }
      if (!chromosome || reference.sequence() == nullptr || !is_indel(reader)) return;
      const auto window =
          window_of(alleles_of(reader), reader.position() - 1, *reference.sequence());
      if (window.is_valid) regions_[*chromosome].push_back({window.start - 1, window.end + 1});
    });
  });
  for (auto& regions : regions_) join(regions);
}

void IndelStates::read_alignments(JobControl& control) {
  const auto files = by_file(options_.outgroups);
  for (const auto& numbers : files) {
    control.expect(InputFile(options_.outgroups[numbers.front()].file).size());
  }
  ProjectionOptions projection = options_.projection;
  projection.insertions = true;
  outgroups_.resize(options_.outgroups.size());
  run_tasks(control, options_.threads, static_cast<std::int64_t>(files.size()),
            [&](std::int64_t f, const TaskContext& context) {
              const auto& numbers = files[static_cast<std::size_t>(f)];
              const std::string& file = options_.outgroups[numbers.front()].file;
              const auto source = open_text(file, projection.chunk_size, context);
              BadBlocks bad(file, projection.on_bad_block);
              std::optional<FocalCheck> check;
              if (projection.open_focal) check.emplace(projection.open_focal, options_.chromosomes);
              std::vector<std::string> species;
              std::vector<PairSink*> sinks;
              for (const std::size_t i : numbers) {
                species.push_back(options_.outgroups[i].name_in_file);
                outgroups_[i] = std::make_unique<RegionColumns>(
                    file, options_.chromosomes, regions_, check ? &*check : nullptr, projection);
                sinks.push_back(outgroups_[i].get());
              }
              AlignmentPairs pairs(file, species, options_.chromosomes, projection,
                                   context.inputs(), bad);
              for_each_chunk(*source, projection.chunk_size, control, context,
                             [&](std::string_view text, bool last) {
                               return pairs.consume(text, last, sinks);
                             });
            });
}

AlleleState IndelStates::at(const VariantReader& reader, const std::string& reference) const {
  const auto chromosome = names_.find(reader.chromosome());
  if (!chromosome) return {};
  const IndelWindow window = window_of(alleles_of(reader), reader.position() - 1, reference);
  if (!window.is_valid) return {};
  std::vector<int> alleles;
  for (const auto& outgroup : outgroups_) {
    const Columns columns = outgroup->at(*chromosome, window.start - 1, window.end + 1);
    if (!columns.is_known) {
      alleles.push_back(kUnknownAllele);
    } else {
      alleles.push_back(columns.neighbours ? allele_like(window, columns.between) : kOtherAllele);
    }
  }
  return call_allele(method_, alleles);
}

}  // namespace ancify
