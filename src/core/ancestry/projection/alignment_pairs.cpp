#include "core/ancestry/projection/alignment_pairs.h"

#include <algorithm>
#include <utility>

#include "core/io/record_size.h"

namespace ancify {

AlignmentPairs::AlignmentPairs(const std::string& file, std::vector<std::string> maf_names,
                               const std::vector<Chromosome>& chromosomes,
                               const ProjectionOptions& options, BadBlocks& bad)
    : file_(file),
      maf_names_(std::move(maf_names)),
      chromosomes_(chromosomes),
      options_(options),
      bad_(bad) {}

bool AlignmentPairs::choose_parser(std::string_view& text, bool last) {
  if (axt_ || maf_) return true;
  const auto is_maf = is_maf_text(text, last, lines_before_);
  if (!is_maf) {
    check_record_size(text.size(), kLongestLine, file_, lines_before_ + 1);
    return false;
  }
  std::int64_t longest = 0;
  for (const Chromosome& chromosome : chromosomes_) longest = std::max(longest, chromosome.length);
  if (*is_maf) {
    maf_.emplace(bad_, lines_before_, longest_row(longest));
    pairs_.emplace(file_, maf_names_, chromosomes_, options_, bad_);
  } else {
    axt_.emplace(bad_, options_.simd, lines_before_, longest_row(longest));
  }
  return true;
}

std::size_t AlignmentPairs::consume(std::string_view text, bool last,
                                    const std::vector<PairSink*>& sinks) {
  std::string_view rest = text;
  const bool chosen = choose_parser(rest, last);
  const std::size_t before = text.size() - rest.size();
  return chosen ? before + parse(rest, last, sinks) : before;
}

std::size_t AlignmentPairs::parse(std::string_view text, bool last,
                                  const std::vector<PairSink*>& sinks) {
  if (maf_) {
    return maf_->consume(text, last, [&](const MafBlock& block) { pairs_->project(block, sinks); });
  }
  return axt_->consume(text, last, [&](const AlignedPair& pair) {
    for (PairSink* sink : sinks) sink->project(pair, 0);
  });
}

void AlignmentPairs::throw_if_never_seen(std::size_t outgroup) const {
  if (pairs_) pairs_->throw_if_never_seen(outgroup);
}

}  // namespace ancify
